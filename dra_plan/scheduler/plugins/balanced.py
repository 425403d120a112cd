"""NodeResourcesBalancedAllocation: prefers nodes whose resources the pod brings into balance."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from dra_plan.api.core import Pod
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.dra.devicetotals import Totals
from dra_plan.scheduler.framework import MAX_NODE_SCORE, PreScorePlugin, ScorePlugin
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.podrequest import pod_requests
from dra_plan.scheduler.status import SKIP, Status

from .allocation import Strategy, Usage, usage

_NEUTRAL = 50


def balance(used: Usage) -> int:
    """100 when all resources are used to the same share, less the further apart they are."""
    shares = [min(amount / capacity, 1.0) for amount, capacity, _, _ in used]
    if len(shares) == 2:
        apart = abs(shares[0] - shares[1]) / 2
    elif len(shares) > 2:
        mean = sum(shares) / len(shares)
        apart = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    else:
        apart = 0.0
    return int((1 - apart) * MAX_NODE_SCORE)


class BalancedAllocation(PreScorePlugin, ScorePlugin):
    """Compares the balance with and without the pod; 75 means that nothing changes."""

    name = pluginnames.BALANCED_ALLOCATION

    def __init__(self, strategy: Strategy, devices: Totals | None = None) -> None:
        self._strategy = strategy
        self._devices = devices

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip pods that ask for none of the resources."""
        requests = pod_requests(pod)
        wanted = tuple(requests.get(name, 0) for name in self._strategy.names)
        if not any(wanted):
            return SKIP
        state.write(self.name, wanted)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """50 and half of 50 plus the gain in balance."""
        with_pod = usage(node, self._strategy, state.read(self.name), scored=False, devices=self._devices)
        without = [(used - own, capacity, weight, 0) for used, capacity, weight, own in with_pod]
        gain = _NEUTRAL + balance(with_pod) - balance(without)
        return _NEUTRAL + (gain // 2 if gain >= 0 else -(-gain // 2))

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The request."""
        wanted: Hashable = state.read(self.name)
        return wanted
