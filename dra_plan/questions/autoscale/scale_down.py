"""The nodes that the Cluster Autoscaler would remove: their utilization, and pods that block the removal.

If a node has its own slices, its utilization is that of its fullest pool, and cpu and memory are ignored. Pods are
evictable by the rules of the autoscaler's drainability checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.inventory import Inventory
from dra_plan.api.quantity import parse
from dra_plan.api.resource import ResourceSlice
from dra_plan.api.well_known import MIRROR_POD, SYSTEM_NAMESPACE
from dra_plan.claims.index import Index
from dra_plan.questions.autoscale.groups import AutoscalerOptions, ScalingGroup
from dra_plan.questions.autoscale.snapshot import ClusterSnapshot, TooManyUsersError
from dra_plan.scheduler.cluster.pod_requests import amounts

_SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_LISTED = ("ReplicaSet", "Job", "StatefulSet", "ReplicationController")
"""The kinds of controllers that are looked up."""
NOT_UNDERUTILIZED, NO_PLACE, UNEXPECTED = "NotUnderutilized", "NoPlaceToMovePods", "UnexpectedError"


@dataclass(frozen=True, slots=True)
class Utilization:
    """The utilization of a node, from 0 to 1, and the fullest resource: DRIVER/POOL, cpu or memory."""

    share: float
    resource: str


class UnknownUtilizationError(Exception):
    """The error raised if the utilization of a node cannot be determined."""


@dataclass(slots=True)
class ScaleDown:
    """The nodes that could be removed, in order, where their pods would go, and why the other nodes stay.

    Pods are given as NAMESPACE/NAME.
    """

    error: str = ""
    removable: list[str] = field(default_factory=list)
    unremovable: dict[str, str] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    utilization: dict[str, Utilization] = field(default_factory=dict)


def scale_down(
    snapshot: ClusterSnapshot,
    groups: Sequence[ScalingGroup],
    options: AutoscalerOptions,
    upcoming: Sequence[str] = (),
) -> ScaleDown:
    """Return which nodes of the groups could be removed, one after another. Modifies the snapshot."""
    found = ScaleDown()
    candidates = [name for group in groups for name in group.nodes if name in snapshot.nodes]
    for name in candidates:
        try:
            used = found.utilization[name] = utilization(snapshot, name)
        except UnknownUtilizationError:
            found.unremovable[name] = UNEXPECTED
            continue
        if used.share > options.threshold + 1e-12:
            found.unremovable[name] = NOT_UNDERUTILIZED
    rules = EvictionRules(snapshot.inventory)
    for name in candidates:
        if name in found.unremovable:
            continue
        pods = snapshot.pods_on(name)
        if blocked := rules.blocks(pods):
            found.unremovable[name] = blocked
            continue
        targets = [each for each in snapshot.nodes if each not in (name, *found.removable, *upcoming)]
        moves = _moved(snapshot, [pod for pod in pods if rules.moves(pod)], targets)
        if moves is None:
            found.unremovable[name] = NO_PLACE
            continue
        found.removable.append(name)
        found.moves.update(moves)
    return found


def _moved(snapshot: ClusterSnapshot, pods: Sequence[Pod], targets: Sequence[str]) -> dict[str, str] | None:
    """Move the pods and return their new nodes; return None, without any change, if a pod fits nowhere."""
    trial = snapshot.forked()
    if _moves(trial, pods, targets) is None:
        return None
    return _moves(snapshot, pods, targets)


def _moves(snapshot: ClusterSnapshot, pods: Sequence[Pod], targets: Sequence[str]) -> dict[str, str] | None:
    waiting = [snapshot.take_off(pod) for pod in pods]
    found: dict[str, str] = {}
    start = 0
    for pod in waiting:
        try:
            node = snapshot.put_on_any(pod, [*targets[start:], *targets[:start]])
        except TooManyUsersError:
            return None
        if node is None:
            return None
        found[pod.key] = node
        start = (targets.index(node) + 1) % len(targets)
    return found


# -- utilization -------------------------------------------------------------------------------------------------------


def utilization(snapshot: ClusterSnapshot, name: str) -> Utilization:
    """Return the utilization of a node. Raises UnknownUtilizationError if it cannot be determined."""
    slices = [piece for piece in snapshot.inventory.slices if piece.spec.node_name == name]
    if slices and snapshot.quirks.devices_hide_requests:
        return _of_devices(snapshot, name, slices)
    shares = [_of_devices(snapshot, name, slices)] if slices else []
    return max([*shares, _of_requests(snapshot, name)], key=lambda each: each.share)


def _of_requests(snapshot: ClusterSnapshot, name: str) -> Utilization:
    """Return the higher fraction of cpu and memory."""
    node = next(each for each in snapshot.inventory.nodes if each.metadata.name == name)
    room = amounts(node.status.allocatable or {})
    shares = []
    for resource in ("cpu", "memory"):
        have = room.get(resource, 0)
        asked = sum(snapshot.requested(pod, resource) for pod in snapshot.pods_on(name) if not _is_over(pod))
        shares.append(Utilization(asked / have if have else 0.0, resource))
    cpu, memory = shares
    return cpu if cpu.share > memory.share else memory


def _of_devices(snapshot: ClusterSnapshot, name: str, slices: Sequence[ResourceSlice]) -> Utilization:
    allocated = set(_allocated(snapshot, name))
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for piece in slices:
        pools.setdefault((piece.spec.driver, piece.spec.pool.name), []).append(piece)
    found = []
    for (driver, pool), pieces in pools.items():
        newest = max(piece.spec.pool.generation for piece in pieces)
        whole = [piece for piece in pieces if piece.spec.pool.generation == newest]
        if any(piece.spec.pool.resource_slice_count != len(whole) for piece in whole):
            raise UnknownUtilizationError(f"{driver}/{pool} is incomplete")
        if not snapshot.quirks.devices_hide_requests:
            share = _of_pool([_without_counters(piece) for piece in whole], driver, pool, allocated)
            share = max(share, _of_pool(whole, driver, pool, allocated))
        else:
            share = _of_pool(whole, driver, pool, allocated)
        found.append(Utilization(share, f"{driver}/{pool}"))
    if not snapshot.quirks.any_full_pool_is_full_node:
        return _of_all(slices, allocated)
    return max(found, key=lambda each: each.share)


def _without_counters(piece: ResourceSlice) -> ResourceSlice:
    """Return the slice with its devices changed to plain ones."""
    return structs.replace(piece, spec=structs.replace(piece.spec, shared_counters=[]))


def _of_all(slices: Sequence[ResourceSlice], allocated: set[tuple[str, str, str]]) -> Utilization:
    """Return the fraction of all devices of the node that are in use."""
    devices = [(one.spec.driver, one.spec.pool.name, each.name) for one in slices for each in one.spec.devices]
    return Utilization(sum(each in allocated for each in devices) / len(devices) if devices else 0.0, "devices")


def _allocated(snapshot: ClusterSnapshot, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield driver, pool and device of all devices allocated to pods on the node; admin access does not count."""
    for pod in snapshot.pods_on(name):
        made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
        for entry in pod.spec.resource_claims:
            claim_name = entry.resource_claim_name or made.get(entry.name)
            if not claim_name:
                continue
            claim = snapshot.claim(pod.metadata.namespace, claim_name)
            if claim is None or claim.allocation is None:
                raise UnknownUtilizationError(f"claim {claim_name} of {pod.key} has no devices")
            for result in claim.allocation.devices.results:
                if not result.admin_access:
                    yield result.driver, result.pool, result.device


def _of_pool(pieces: Sequence[ResourceSlice], driver: str, pool: str, allocated: set[tuple[str, str, str]]) -> float:
    devices = [device for piece in pieces for device in piece.spec.devices or ()]
    sets = {each.name: each for piece in pieces for each in piece.spec.shared_counters or ()}
    taken = [device for device in devices if (driver, pool, device.name) in allocated]
    if not sets:
        return len(taken) / len(devices) if devices else 0.0
    shares = []
    for name, counters in sets.items():
        used = dict.fromkeys(counters.counters, 0)
        for device in taken:
            for each in device.consumes_counters or ():
                for counter, amount in each.counters.items() if each.counter_set == name else ():
                    if counter in used:
                        used[counter] += parse(amount.value).nano
        have = {counter: parse(amount.value).nano for counter, amount in counters.counters.items()}
        shares.append(max((used[counter] / have[counter] for counter in have if have[counter]), default=0.0))
    return sum(shares) / len(shares)


# -- what may be evicted -----------------------------------------------------------------------------------------------


class EvictionRules:
    """The autoscaler's drainability rules: which pods keep a node from being removed."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory, self._index = inventory, Index(inventory)
        self._workloads = {(one.kind, one.metadata.namespace, one.metadata.name) for one in inventory.workloads}

    def moves(self, pod: Pod) -> bool:
        """Return whether the pod needs another node if its node is removed."""
        return not (_is_mirror(pod) or _is_daemon(pod) or _is_over(pod) or pod.metadata.deletion_timestamp)

    def blocks(self, pods: Sequence[Pod]) -> str:
        """Return why the pods block the removal of their node, in the autoscaler's words, or "" if they do not."""
        for pod in pods:
            if self.moves(pod) and (why := self._why(pod)):
                return f"BlockedByPod: {pod.key} ({why})"
        leaving = [pod for pod in pods if self.moves(pod)]
        for budget in self._inventory.disruption_budgets:
            own = [pod for pod in leaving if _is_of(budget, pod)]
            if own and (budget.status.disruptions_allowed or 0) < len(own):
                return f"BlockedByPod: {own[0].key} (NotEnoughPdb)"
        return ""

    def _why(self, pod: Pod) -> str:
        said = (pod.metadata.annotations or {}).get(_SAFE)
        if said == "true":
            return ""
        controller = pod.metadata.controller
        if controller is None:
            return "NotReplicated"
        key = (controller.kind, pod.metadata.namespace, controller.name)
        if (
            controller.kind in ("ReplicaSet", "Job", "StatefulSet", "ReplicationController")
            and key not in self._workloads
        ):
            return "ControllerNotFound"
        if pod.metadata.namespace == SYSTEM_NAMESPACE and not any(
            _is_of(one, pod) for one in self._inventory.disruption_budgets
        ):
            return "UnmovableKubeSystemPod"
        if said == "false":
            return "NotSafeToEvictAnnotation"
        return "LocalStorageRequested" if any(map(_is_local, pod.spec.volumes)) else ""


def _is_of(budget: PodDisruptionBudget, pod: Pod) -> bool:
    from dra_plan.api.selectors import labels_match

    spec, metadata = budget.spec, budget.metadata
    return (
        metadata.namespace == pod.metadata.namespace
        and spec.selector is not None
        and labels_match(spec.selector, pod.metadata.labels)
    )


def _is_local(volume: Mapping[str, object]) -> bool:
    empty = volume.get("emptyDir")
    in_memory = isinstance(empty, Mapping) and empty.get("medium") == "Memory"
    return "hostPath" in volume or ("emptyDir" in volume and not in_memory)


def _is_mirror(pod: Pod) -> bool:
    return MIRROR_POD in (pod.metadata.annotations or {})


def _is_daemon(pod: Pod) -> bool:
    controller = pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"


def _is_over(pod: Pod) -> bool:
    return pod.status.phase in ("Succeeded", "Failed")
