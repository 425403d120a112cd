"""The scale-up of one loop of the Cluster Autoscaler: which pods need a node, which groups grow, and by how much.

The steps are in the order of the loop: pods that fit on existing nodes, groups of equal pods, the filters on a template
node, the estimator, the options, the expanders and the plan. Where the real loop is random (it iterates over Go maps),
this one uses input order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.well_known import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from dra_plan.questions.autoscale.document import FILTERED_OUT, SKIPPED
from dra_plan.questions.autoscale.groups import AutoscalerOptions, ScalingGroup
from dra_plan.questions.autoscale.snapshot import FITS, Added, ClusterSnapshot, TooManyUsersError
from dra_plan.questions.autoscale.templates import Templates
from dra_plan.releases import AutoscalerQuirks
from dra_plan.scheduler.cluster.pod_requests import amounts

CUTOFF = -10
"""The priority below which pods are ignored (--expendable-pods-priority-cutoff)."""
MOST_GROUPS = 10
"""The maximum number of groups of equal pods per controller. Each further pod is a group of its own."""
AT_ONCE = 16
"""The number of new nodes that are created together at first. It then doubles."""
NOT_READY = f"{SKIPPED}not ready for scale-up"
AT_MAX = f"{SKIPPED}max node group size reached"


@dataclass(frozen=True, slots=True)
class EqualPods:
    """Pods of one controller that the autoscaler considers equal. The first pod represents all of them."""

    pods: tuple[Pod, ...]

    @property
    def first(self) -> Pod:
        """The first pod, which represents the others."""
        return self.pods[0]


@dataclass(frozen=True, slots=True)
class ScaleOption:
    """A group that could grow: the number of new nodes, and the pods that would run on them.

    With balancing, the new nodes are spread over this group and the `similar` groups.
    """

    group: ScalingGroup
    nodes: int
    pods: tuple[Pod, ...]
    similar: tuple[ScalingGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class Resize:
    """A group's size before and after scaling up."""

    group: str
    before: int
    after: int


@dataclass(slots=True)
class ScaleUp:
    """The result of scaling up in one loop. Pods are given as NAMESPACE/NAME."""

    result: str = ""
    error: str = ""
    unready: list[str] = field(default_factory=list)
    fit_existing: dict[str, str] = field(default_factory=dict)
    considered: list[str] = field(default_factory=list)
    fits: dict[str, dict[str, str]] = field(default_factory=dict)
    options: list[ScaleOption] = field(default_factory=list)
    chosen: ScaleOption | None = None
    plan: list[Resize] = field(default_factory=list)
    triggered: list[str] = field(default_factory=list)
    awaiting: list[str] = field(default_factory=list)
    not_triggered: dict[str, dict[str, str]] = field(default_factory=dict)
    least_waste: list[str] = field(default_factory=list)
    most_pods: list[str] = field(default_factory=list)
    least_nodes: list[str] = field(default_factory=list)


class ScaleUpLoop:
    """The scale-up of one loop. After `run`, the pods that fit on existing nodes are part of the snapshot."""

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        groups: Sequence[ScalingGroup],
        options: AutoscalerOptions,
        templates: Templates,
    ) -> None:
        self._snapshot, self._groups, self._options, self._templates = snapshot, groups, options, templates
        self.found = ScaleUp()

    def run(self, upcoming: Sequence[str]) -> ScaleUp:
        """Return the result for the pending pods. `upcoming` are the nodes in the snapshot that do not exist yet."""
        found = self.found
        pending = self._placed(self._pending(), upcoming)
        if not pending:
            found.result = "ScaleUpNotNeeded"
            return found
        total = len(self._snapshot.nodes)
        if self._options.most_nodes and total >= self._options.most_nodes:
            found.result = "ScaleUpLimitedByMaxNodesTotal"
            return found
        equal = equal_pods(pending)
        self._filter(equal)
        found.options = [option for group in self._valid() if (option := self._option(group, equal)) is not None]
        if not found.options:
            found.result = "ScaleUpNoOptionsAvailable"
            self._tell(pending, ())
            return found
        self._expanders()
        found.chosen = self._chosen()
        self._execute(found.chosen, total)
        self._tell(pending, found.chosen.pods)
        return found

    # Pods that fit on existing nodes

    def _pending(self) -> list[Pod]:
        found = [pod for pod in self._snapshot.inventory.pods if is_unschedulable(pod)]
        for pod in found:
            if self._snapshot.priority(pod) < CUTOFF:
                self.found.fit_existing[pod.key] = FILTERED_OUT
        found = [pod for pod in found if self._snapshot.priority(pod) >= CUTOFF]
        return sorted(found, key=lambda pod: -self._snapshot.priority(pod))

    def _placed(self, pods: Sequence[Pod], upcoming: Sequence[str]) -> list[Pod]:
        """Place the pods on existing nodes and return the others. An internal error drops all of them."""
        nodes = [name for name in self._snapshot.nodes if name not in upcoming]
        start, left = 0, []
        refused = EqualRefused()
        try:
            for pod in pods:
                if refused.has(pod):
                    left.append(pod)
                    continue
                node = self._snapshot.put_on_any(pod, [*nodes[start:], *nodes[:start]])
                if node is not None:
                    start = (nodes.index(node) + 1) % len(nodes)
                    self.found.fit_existing[pod.key] = node
                elif not self._placed_after_freeing(pod, nodes) and self._snapshot.put_on_any(pod, upcoming) is None:
                    left.append(pod)
                    refused.add(pod)
        except TooManyUsersError as error:
            self.found.error = f"pod list processor: {error} (RunOnce logs it and goes on with no pending pod)"
            for pod in pods:
                self.found.fit_existing.setdefault(pod.key, FILTERED_OUT)
            return []
        return left

    def _placed_after_freeing(self, pod: Pod, nodes: Sequence[str]) -> bool:
        """Return whether the pod is placed after its claims have released unused devices."""
        if self._snapshot.quirks.idle_claims_stay or not self._snapshot.free_idle_claims(pod):
            return False
        node = self._snapshot.put_on_any(pod, nodes)
        if node is not None:
            self.found.fit_existing[pod.key] = node
        return node is not None

    # Groups

    def _filter(self, equal: Sequence[EqualPods]) -> None:
        """Record which groups' templates fit which pods, and the reasons if not."""
        for group in self._groups:
            added = self._templates.of(group, 0)
            if added is None:
                continue
            self.found.considered.append(group.name)
            trial = self._snapshot.forked()
            trial.add(added)
            for one in equal:
                said = trial.why_not(one.first, added.node.metadata.name)
                for pod in one.pods:
                    self.found.fits.setdefault(pod.key, {})[group.name] = said

    def _valid(self) -> list[ScalingGroup]:
        return [group for group in self._groups if group.name in self.found.considered and group.current < group.most]

    def _fitting(self, group: ScalingGroup, equal: Sequence[EqualPods]) -> list[EqualPods]:
        return [one for one in equal if self.found.fits.get(one.first.key, {}).get(group.name) == FITS]

    def _similar(self, group: ScalingGroup, equal: Sequence[EqualPods]) -> list[ScalingGroup]:
        if not self._options.balance:
            return []
        own = self._templates.of(group, 0)
        mine = {one.first.key for one in self._fitting(group, equal)}
        found = []
        for other in self._groups:
            added = self._templates.of(other, 0)
            if (
                other.name == group.name
                or own is None
                or added is None
                or not are_similar(own, added, self._snapshot.quirks)
            ):
                continue
            if mine <= {one.first.key for one in self._fitting(other, equal)}:
                found.append(other)
        return found

    def _option(self, group: ScalingGroup, equal: Sequence[EqualPods]) -> ScaleOption | None:
        fitting = self._fitting(group, equal)
        if not fitting:
            return None
        similar = self._similar(group, equal)
        room = sum(each.most - each.current for each in (group, *similar))
        if self._options.most_nodes:
            room = min(room, self._options.most_nodes - len(self._snapshot.nodes))
        room = min(room, self._options.most_per_scale_up)
        estimator = Estimator(self._snapshot.forked(), group, self._templates, room)
        try:
            nodes, pods = estimator.estimate(fitting)
        except TooManyUsersError:
            return None
        if not nodes or not pods:
            return None
        return ScaleOption(group, nodes, tuple(sorted(pods, key=lambda pod: pod.key)), tuple(similar))

    # The plan

    def _execute(self, option: ScaleOption, total: int) -> None:
        nodes = option.nodes
        if self._options.most_nodes:
            nodes = min(nodes, self._options.most_nodes - total)
        groups = [option.group, *option.similar] if self._options.balance else [option.group]
        self.found.plan = balanced(groups, nodes)
        self.found.result = "ScaleUpSuccessful"
        self.found.triggered = sorted(pod.key for pod in option.pods)

    def _chosen(self) -> ScaleOption:
        """Return the first option that the expander may choose; in a tie it may choose any."""
        found = self.found
        by_name = {"least-waste": found.least_waste, "most-pods": found.most_pods, "least-nodes": found.least_nodes}
        best = by_name.get(self._options.expander, [])
        return next((option for option in found.options if option.group.name in best), found.options[0])

    def _expanders(self) -> None:
        """Record the groups among which each expander would choose; several are a tie, decided at random."""
        options = self.found.options
        waste = {option.group.name: self._waste(option) for option in options}
        least = min(waste.values())
        self.found.least_waste = sorted(name for name, value in waste.items() if abs(value - least) < 1e-12)
        most, fewest = max(len(option.pods) for option in options), min(option.nodes for option in options)
        self.found.most_pods = sorted(option.group.name for option in options if len(option.pods) == most)
        self.found.least_nodes = sorted(option.group.name for option in options if option.nodes == fewest)

    def _waste(self, option: ScaleOption) -> float:
        """Return the idle fraction of cpu plus that of memory on the new nodes; devices have no weight."""
        added = self._templates.of(option.group, 0)
        assert added is not None
        wasted = 0.0
        for resource in ("cpu", "memory"):
            have = _amount(added.node.status.capacity or added.node.status.allocatable or {}, resource) * option.nodes
            asked = sum(self._snapshot.requested(pod, resource) for pod in option.pods)
            wasted += (have - asked) / have if have else 0.0
        return wasted

    def _tell(self, pending: Sequence[Pod], helped: Sequence[Pod]) -> None:
        """Record which other pods wait for the next loop, and why no group was tried for the rest."""
        valid = {group.name for group in self._valid()}
        done = {pod.key for pod in helped}
        for pod in pending:
            if pod.key in done:
                continue
            fits = self.found.fits.get(pod.key, {})
            reasons = {group.name: self._reason(group, fits) for group in self._groups}
            if any(fits.get(name) == FITS for name in valid):
                # Pods of the chosen group that do not fit are left for the next loop silently.
                if self.found.chosen is not None and fits.get(self.found.chosen.group.name) != FITS:
                    self.found.awaiting.append(pod.key)
                continue
            self.found.not_triggered[pod.key] = {name: said for name, said in reasons.items() if said != FITS}
        self.found.awaiting.sort()

    def _reason(self, group: ScalingGroup, fits: Mapping[str, str]) -> str:
        if group.name not in self.found.considered:
            return NOT_READY
        return AT_MAX if group.current >= group.most else fits.get(group.name, "")


def is_unschedulable(pod: Pod) -> bool:
    """Return whether the scheduler has marked the pod unschedulable. The autoscaler ignores other pods."""
    if pod.spec.node_name or pod.status.nominated_node_name or pod.metadata.deletion_timestamp:
        return False
    return any(
        each.type == "PodScheduled" and each.status == "False" and each.reason == "Unschedulable"
        for each in pod.status.conditions
    )


# -- equal pods --------------------------------------------------------------------------------------------------------


class EqualRefused:
    """Pods that fit on no node, by controller. Pods that are equal to one of them need not be tried."""

    def __init__(self) -> None:
        self._known: dict[str, list[Pod]] = {}

    def has(self, pod: Pod) -> bool:
        """Return whether an equal pod of the same controller has been recorded."""
        controller = pod.metadata.controller
        return controller is not None and any(_are_equal(each, pod) for each in self._known.get(controller.uid, ()))

    def add(self, pod: Pod) -> None:
        """Record that the pod fits on no node."""
        controller = pod.metadata.controller
        if controller is not None:
            self._known.setdefault(controller.uid, []).append(pod)


def equal_pods(pods: Sequence[Pod]) -> list[EqualPods]:
    """Group the pods that have the same controller, labels and spec.

    Each bare pod and each DaemonSet pod is a group of its own.
    """
    found: list[list[Pod]] = []
    by_controller: dict[str, list[list[Pod]]] = {}
    for pod in pods:
        controller = pod.metadata.controller
        if controller is None or controller.kind == "DaemonSet":
            found.append([pod])
            continue
        own = by_controller.setdefault(controller.uid or f"{controller.kind}/{controller.name}", [])
        group = next((each for each in own if _are_equal(each[0], pod)), None)
        if group is not None:
            group.append(pod)
            continue
        group = [pod]
        found.append(group)
        if len(own) < MOST_GROUPS:
            own.append(group)
    return [EqualPods(tuple(group)) for group in found]


def _are_equal(one: Pod, other: Pod) -> bool:
    return (
        one.metadata.namespace == other.metadata.namespace
        and (one.metadata.labels or {}) == (other.metadata.labels or {})
        and one.spec == other.spec
    )


# -- how many nodes ----------------------------------------------------------------------------------------------------


class Estimator:
    """Packs pods onto new nodes of one group, in the order of their cpu and memory requests.

    Devices matter only for whether a pod fits.
    """

    def __init__(self, snapshot: ClusterSnapshot, group: ScalingGroup, templates: Templates, room: int) -> None:
        self._snapshot, self._group, self._templates, self._room = snapshot, group, templates, room
        self._new: list[str] = []
        self._ahead: list[Added] = []
        """Nodes already announced to the snapshot, the next one last."""
        self._used: set[str] = set()

    def estimate(self, equal: Sequence[EqualPods]) -> tuple[int, list[Pod]]:
        """Return how many new nodes get a pod, and the pods on these nodes. Raises TooManyUsersError."""
        placed: list[Pod] = []
        for one in sorted(equal, key=lambda each: (-self._devices(each.first), -self._score(each.first))):
            self._pack(one, placed)
        return len(self._used), placed

    def _devices(self, pod: Pod) -> int:
        """Return the number of devices that the pod requests, which only the fixed autoscaler uses."""
        return 0 if self._snapshot.quirks.packs_without_devices else self._snapshot.devices(pod)

    def _score(self, pod: Pod) -> float:
        """Return the pod's fraction of a node, as the sum for cpu and memory."""
        added = self._templates.of(self._group, 0)
        assert added is not None
        amounts = added.node.status.allocatable or added.node.status.capacity or {}
        score = 0.0
        for resource in ("cpu", "memory"):
            have = _amount(amounts, resource)
            score += self._snapshot.requested(pod, resource) / have if have else 0.0
        return score

    def _pack(self, one: EqualPods, placed: list[Pod]) -> None:
        """Pack equal pods: from the first one that does not fit on a new node, only the newest node is tried."""
        waiting = list(one.pods)
        while waiting and (node := self._snapshot.put_on_any(waiting[0], self._new)) is not None:
            self._take(waiting.pop(0), node, placed)
        while waiting:
            newest = self._new[-1] if self._new else None
            if newest is None or not self._snapshot.put(waiting[0], newest):
                if newest is not None and newest not in self._used:
                    return  # it does not fit on an empty new node, so more nodes do not help
                newest = self._add()
                if newest is None or not self._snapshot.put(waiting[0], newest):
                    return
            self._take(waiting.pop(0), newest, placed)

    def _take(self, pod: Pod, node: str, placed: list[Pod]) -> None:
        self._used.add(node)
        placed.append(pod)

    def _add(self) -> str | None:
        """Add a node, if the limits allow it."""
        begun = len(self._new)
        if begun >= self._room:
            return None
        if not self._ahead:
            numbers = range(begun + 1, min(self._room, begun + max(begun, AT_ONCE)) + 1)
            made = [added for number in numbers if (added := self._templates.of(self._group, number)) is not None]
            self._snapshot.announce(made)
            self._ahead = made[::-1]
        added = self._ahead.pop()
        self._snapshot.add(added)
        self._new.append(added.node.metadata.name)
        return added.node.metadata.name


def _amount(of: Mapping[str, Any], resource: str) -> int:
    return amounts(of).get(resource, 0)


# -- similar groups ----------------------------------------------------------------------------------------------------

_OF_A_PLACE = frozenset((HOSTNAME, ZONE, REGION, BETA_ZONE, BETA_REGION, "beta.kubernetes.io/fluentd-ds-ready"))
"""Labels that may differ between similar groups."""
_MEMORY_TOLERANCE, _FREE_TOLERANCE = 0.015, 0.05


def are_similar(one: Added, other: Added, quirks: AutoscalerQuirks) -> bool:
    """Return whether the autoscaler considers two groups similar, judged by their new nodes. Devices are ignored."""
    if not quirks.similar_without_devices and _devices(one) != _devices(other):
        return False
    mine, theirs = one.node, other.node
    if _labels(mine.metadata.labels) != _labels(theirs.metadata.labels):
        return False
    if not _alike(mine.status.capacity or {}, theirs.status.capacity or {}, exact=True):
        return False
    return _alike(mine.status.allocatable or {}, theirs.status.allocatable or {}, exact=False)


def _devices(added: Added) -> list[tuple[str, object]]:
    """Return the devices of a new node by driver, without their names."""
    found = [
        (piece.spec.driver, structs.replace(each, name="")) for piece in added.slices for each in piece.spec.devices
    ]
    return sorted(found, key=repr)


def _labels(labels: Mapping[str, str] | None) -> dict[str, str]:
    return {key: value for key, value in (labels or {}).items() if key not in _OF_A_PLACE}


def _alike(one: Mapping[str, Any], other: Mapping[str, Any], *, exact: bool) -> bool:
    if set(one) != set(other):
        return False
    for resource in one:
        a, b = _amount(one, resource), _amount(other, resource)
        tolerance = _FREE_TOLERANCE if not exact else _MEMORY_TOLERANCE if resource == "memory" else 0.0
        if abs(a - b) > max(a, b) * tolerance:
            return False
    return True


def balanced(groups: Iterable[ScalingGroup], nodes: int) -> list[Resize]:
    """Return the new sizes of the groups if `nodes` new nodes are spread over them as evenly as their limits allow.

    Groups that do not grow are omitted.
    """
    sizes: list[list[Any]] = [[group, group.current] for group in groups if group.most > group.current]
    nodes = min(nodes, sum(group.most - size for group, size in sizes))
    sizes.sort(key=lambda each: each[0].current)
    start = at = 0
    while nodes > 0:
        group, size = sizes[at]
        if size < group.most:
            sizes[at][1] += 1
            nodes -= 1
        else:
            sizes[start], sizes[at] = sizes[at], sizes[start]
            start += 1
        at = at + 1 if at < len(sizes) - 1 and sizes[at][1] > sizes[at + 1][1] else start
    return [Resize(group.name, group.current, size) for group, size in sizes if size != group.current]
