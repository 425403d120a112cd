"""Whether a change loses no pod only by chance, because recreated pods are scheduled in a random order.

Pods are evicted one after another, but their controllers recreate them concurrently, so the scheduler may see the new
pods in any order. The second state is therefore scheduled a second time, with the recreated pods in reverse order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.documents.base import AppliedEdit
from dra_plan.planner.waves import PodKey, pod_key
from dra_plan.questions.schedule.answer import SchedulePlan

LUCKY = "only-in-this-order"
"""The code of the warning about a pod that gets a node only if it is recreated before other pods."""

MOST_NAMED = 3
"""The maximum number of pods that get their own warning."""


def lost_in_reverse(
    after: Inventory,
    edits: Iterable[AppliedEdit],
    plan: SchedulePlan,
    scheduled: Callable[[Inventory], SchedulePlan],
) -> Iterator[Notice]:
    """Yield a warning for each pod that would have no node if the recreated pods were scheduled in reverse order.

    `after` is the state after the `edits`, and `scheduled` returns the plan for a state. There are no warnings if fewer
    than two pods are recreated, or if one of them gets no node in the usual order either.
    """
    left = {(pod.namespace, pod.name) for edit in edits for pod in edit.pending}
    returning = [at for at, pod in enumerate(after.pods) if pod_key(pod) in left]
    placed = _placed(plan)
    if len(returning) < 2 or any(pod_key(after.pods[at]) not in placed for at in returning):
        return
    there = _placed(scheduled(replace(after, pods=_reversed(after.pods, returning))))
    known = set(map(pod_key, after.pods))  # names of pods that are yet to be created may differ
    lost = [key for key in placed if key in known and key not in there]
    for namespace, name in lost[:MOST_NAMED]:
        more = f" (and {len(lost) - MOST_NAMED} more pods)" if len(lost) > MOST_NAMED else ""
        text = (
            "in a cluster, the order in which evicted pods are recreated is random: if the "
            f"{len(returning)} pods are scheduled in reverse order, this pod cannot be scheduled{more}"
        )
        yield Notice(LUCKY, text, f"Pod {namespace}/{name}")


def _placed(plan: SchedulePlan) -> dict[PodKey, None]:
    """Return the pods that have a node, in the order of the plan."""
    return {pod_key(record.pod): None for record in plan.outcome.pods if record.node}


def _reversed(pods: Sequence[Pod], returning: Sequence[int]) -> list[Pod]:
    """Return the pods with those at these positions in reverse order."""
    made = list(pods)
    for at, other in zip(returning, reversed(returning), strict=True):
        made[at] = pods[other]
    return made
