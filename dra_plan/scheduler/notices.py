"""What users should know about a simulation besides the bindings, and a summary of each pod group.

Contents: notices about pod groups and their feature gates; all notices, in a fixed order (`collect`); and the final
state of each group. Notices about claim sets are in `claims/index.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.scheduling import PodGroup, PodGroupCondition
from dra_plan.api.well_known import SPECIAL_ANNOTATION
from dra_plan.claims.owners import ended
from dra_plan.documents.scheduling import PodGroupOutcome
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.framework.types import QueuedPod
from dra_plan.scheduler.groups.record import SCHEDULED, MemberAnswer, PodGroupRecord, PodGroupRecords
from dra_plan.scheduler.plugins.default_preemption import DefaultPreemption

from .attempts import PodRecord
from .simulation import Simulation

# -- notices about pod groups ------------------------------------------------------------------------------------------

_GENERIC = "GenericWorkload"


def group_notices(inventory: Inventory, cluster: SimulatedCluster, target: Target) -> list[Notice]:
    """Return notices about incomplete gangs, and about gates that are on in the cluster but off in the simulation."""
    return [*gate_notices(inventory, target), *_in_part(cluster)]


def gate_notices(inventory: Inventory, target: Target) -> Iterator[Notice]:
    """Yield notices about gates that are on in the cluster but off in the simulation.

    Some fields show this, because the API server stores them only if their gate is on.
    """
    on = target.gates
    signs = gates_of_groups(inventory)
    off = [gate for gate in signs if gate in on and not on[gate]]
    if off:
        text = f"{'; '.join(signs[gate] for gate in off)}, so gates may be on in the cluster that are off here"
        yield Notice("gate-seems-on", f"{text}: --feature-gates {','.join(f'{gate}=true' for gate in off)}")
    elif signs and not target.rules.pod_groups:
        text = f"{'; '.join(signs.values())}; in {target.version} these have no effect: pods are scheduled one by one"
        yield Notice("gate-seems-on", text)


def gates_of_groups(inventory: Inventory) -> dict[str, str]:
    """Return the pod group gates that must be on, each with a description of the objects that show this."""
    named = [pod for pod in inventory.pods if pod.spec.scheduling_group is not None]
    signs: dict[str, str] = {}
    if named or inventory.pod_groups:
        signs[_GENERIC] = f"pods that name a PodGroup: {len(named)}, PodGroups: {len(inventory.pod_groups)}"
    signs |= _of_groups(inventory.pod_groups)
    if any(map(_is_of_a_group, inventory.claims)):
        signs["DRAWorkloadResourceClaims"] = "claims belong to PodGroups"
    return signs


def _of_groups(groups: Iterable[PodGroup]) -> dict[str, str]:
    """Return a map from each gate to the PodGroup field that needs it."""
    found = {}
    for group in groups:
        spec = group.spec
        if spec.scheduling_policy.gang is not None:
            found["GangScheduling"] = "PodGroups have the policy gang"
        if spec.scheduling_constraints is not None and spec.scheduling_constraints.topology:
            found["TopologyAwareWorkloadScheduling"] = "PodGroups have schedulingConstraints"
        if spec.disruption_mode == "PodGroup" or spec.priority is not None or spec.priority_class_name:
            found["WorkloadAwarePreemption"] = "PodGroups have a priority or a disruptionMode"
        if spec.resource_claims:
            found["DRAWorkloadResourceClaims"] = "PodGroups have resourceClaims"
    return found


def _is_of_a_group(claim: ResourceClaim) -> bool:
    if claim.metadata.owner_references:
        owner = claim.metadata.controller
        if owner is not None and owner.kind == "PodGroup":
            return True
    status = claim.status
    return (
        status is not None
        and bool(status.reserved_for)
        and any(user.resource == "podgroups" for user in status.reserved_for)
    )


def _in_part(cluster: SimulatedCluster) -> Iterator[Notice]:
    """Yield notices about gangs in which fewer pods have a node than must run at the same time."""
    for group in cluster.groups.all():
        bound = cluster.groups.bound((group.metadata.namespace, group.metadata.name))
        if 0 < bound < group.min_count:
            short = f"fewer than its minCount {group.min_count}"
            text = f"{bound} pods in the gang have a node, {short}: nothing corrects that"
            yield Notice("gang-in-part", text, f"PodGroup {group.key}", defects=("G10",))


# -- notices about pods, claims and devices ----------------------------------------------------------------------------

SEVERAL_BEST = "several-best-nodes"
"""The code of the notice that a pod could just as well have been scheduled to another node."""
_MOST_TIES = 3
"""The maximum number of pods whose alternative nodes are listed one by one."""


def collect(simulation: Simulation, records: Sequence[PodRecord], evicted: Sequence[str]) -> list[Notice]:
    """Return all notices of the simulation, in a fixed order. `evicted` are the keys of the evicted pods."""
    found = group_notices(simulation.inventory, simulation.cluster, simulation.target)
    found += _finished(simulation)
    found += _choices(simulation.inventory, records)
    found += _fatal(records)
    found += _devices(simulation)
    found += _kept_claims(simulation, evicted)
    found += _too_late(simulation, records)
    found += _cut_short(records)
    found += _uncontrolled(simulation, records)
    return found


def _some(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _finished(simulation: Simulation) -> list[Notice]:
    cluster = simulation.cluster
    counted = [p.key for p in cluster.pods.values() if ended(p) and p.spec.node_name in cluster.nodes]
    if not counted or not cluster.shows_finished:
        return []
    text = (
        f"{len(counted)} finished pods ({_some(counted, 3)}) count on their nodes, "
        "as in the recorded outcomes, whose API shows them to the scheduler; a real API server does not"
    )
    return [Notice("finished-pods-count", text)]


def _choices(inventory: Inventory, records: Sequence[PodRecord]) -> list[Notice]:
    """Return the pods that could equally well have been scheduled to a different node; many pods share one text."""
    tied = [record for record in records if record.node and len(record.best) > 1]
    if len(tied) > _MOST_TIES:
        text = "several nodes have the highest score (bestNodes in -o json); in a cluster, timing decides between them"
        return [Notice(SEVERAL_BEST, text, f"Pod {record.pod.key}", _source(inventory, record.pod)) for record in tied]
    return [
        Notice(
            SEVERAL_BEST,
            f"{len(record.best)} nodes have the highest score ({_some(record.best, 5)}); dra-plan takes the first in "
            f"node order, {record.node}; in a cluster, timing decides",
            f"Pod {record.pod.key}",
            _source(inventory, record.pod),
        )
        for record in tied
    ]


def _source(inventory: Inventory, pod: Pod) -> str:
    """Return the position in the input of the pod, or of an object that owns it; "" if neither is in the input."""
    namespace = pod.metadata.namespace
    keys = [("Pod", namespace, pod.metadata.name)]
    keys += [(owner.kind, namespace, owner.name) for owner in pod.metadata.owner_references or ()]
    return next(filter(None, map(inventory.source, keys)), "")


def _fatal(records: Sequence[PodRecord]) -> list[Notice]:
    return [
        Notice(
            "error-on-some-nodes",
            f"an error on {', '.join(sorted(record.fatal))} ends the attempt; "
            f"without it {', '.join(sorted(record.best))} would fit",
            f"Pod {record.pod.key}",
        )
        for record in records
        if record.fatal and record.best and not record.node
    ]


def _devices(simulation: Simulation) -> list[Notice]:
    found = []
    for plugin in simulation.dynamic_resources:
        for claim, user in plugin.lost_reservations:
            text = (
                f"the reservation of {user} is overwritten: the scheduler was recorded with an API that keeps the last "
                "write; a real API server detects the conflict and keeps both"
            )
            found.append(Notice("lost-reservation", text, f"ResourceClaim {claim}"))
        for pod, claims in plugin.deallocations:
            if len(claims) > 1:
                text = f"one of {', '.join(claims)} is deallocated at random; dra-plan takes the first"
                found.append(Notice("random-deallocation", text, f"Pod {pod}"))
        for pod, nodes in plugin.undecided.items():
            what = "the step budget" if simulation.handle.deadline is None else "the step budget or the time limit"
            text = f"{what} was used up on {', '.join(dict.fromkeys(nodes))}, so the result is undecided"
            found.append(Notice("undecided", text, f"Pod {pod}"))
    return found


def _kept_claims(simulation: Simulation, evicted: Sequence[str]) -> list[Notice]:
    """Return evicted pods' claims, because the scheduler releases no devices, and no controllers are simulated here."""
    kept: dict[str, list[str]] = {}
    for claim in simulation.cluster.claims if evicted else ():
        reserved = claim.reserved_for
        users = {f"{claim.metadata.namespace}/{user.name}" for user in reserved}
        if claim.allocation is not None and users and users <= {*evicted}:
            kept.setdefault(min(users), []).append(claim.key)
    if not kept:
        return []
    claims = [claim for each in kept.values() for claim in each]
    text = (
        f"claims of evicted pods ({_some(claims, 3)}) keep their devices here, because "
        "kube-scheduler does not release them. In a cluster the claim controller releases them when "
        "the pods have ended, and pending pods are retried (plan that with "
        f"{' '.join(f'--without pod/{pod}' for pod in [*kept][:3])}{' ...' if len(kept) > 3 else ''})"
    )
    return [Notice("evicted-claims-kept", text)]


def _too_late(simulation: Simulation, records: Sequence[PodRecord]) -> list[Notice]:
    """Return pods that wait until a victim that another pod has already evicted has terminated."""
    waiting = {record.pod.key for record in records if not record.node}
    return [
        Notice(
            "evicted-for-another",
            (
                f"it is waiting for the end of {victim.key}, which another pod has already evicted, and "
                "is not tried again. This was recorded with pods that end at once; in a cluster pods "
                "take longer to end, and that wakes both"
            ),
            f"Pod {preemptor.key}",
        )
        for plugin in simulation.plugins_of(DefaultPreemption)
        for preemptor, victim in plugin.too_late
        if preemptor.key in waiting
    ]


def _cut_short(records: Sequence[PodRecord]) -> list[Notice]:
    """Return a notice that time ran out, with the number of affected pods."""
    keys = [record.pod.key for record in records if record.outcome == "Undecided"]
    if not keys:
        return []
    are = "1 pod was" if len(keys) == 1 else f"{len(keys)} pods were"
    text = f"the time (--timeout) ran out: {are} not tried to the end ({_some(keys, 3)})"
    return [Notice("timed-out", text)]


def _uncontrolled(simulation: Simulation, records: Sequence[PodRecord]) -> list[Notice]:
    """Return claims that disturb upstream's search for a pod's special claim (P10)."""
    mapped = simulation.cluster.extended_names()
    asking = {
        record.pod.key
        for record in records
        if record.attempts and any(name in mapped for name in simulation.cluster.info(record.pod).requests)
    }
    if not asking:
        return []
    text = "an owner reference without controller field crashes kube-scheduler when it looks for the pod's own claim"
    return [
        Notice("upstream-defect", f"P10: {text}", f"ResourceClaim {claim.key}", defects=("P10",))
        for claim in simulation.inventory.claims
        if (claim.metadata.annotations or {}).get(SPECIAL_ANNOTATION) == "true"
        for owner in claim.metadata.owner_references or ()
        if owner.controller is None and any(key.partition("/")[2] == owner.name for key in asking)
    ]


# -- summary of each pod group -----------------------------------------------------------------------------------------


class GroupSummary(Struct, frozen=True):
    """A group with the number of its pods and the status that the scheduler would have written."""

    namespace: str
    name: str
    policy: str
    min_count: int
    pods: int
    bound: int
    conditions: tuple[PodGroupCondition, ...]
    attempts: int
    last: tuple[MemberAnswer, ...] = ()
    """The results for the pods in the last cycle, in the order in which they were tried."""
    waiting: str = ""
    """Why the group's first gated pod is not queued, if nothing was tried."""

    @property
    def outcome(self) -> PodGroupOutcome:
        """The outcome as a single word."""
        condition = next((each for each in self.conditions if each.type == SCHEDULED), None)
        if condition is not None and condition.status == "True":
            return "Scheduled"
        if condition is not None:
            return "Error" if condition.reason == "SchedulerError" else "Unschedulable"
        if self.pods and self.bound == self.pods:
            return "Scheduled"
        return "Gated" if self.pods else "Empty"


def summaries(
    cluster: SimulatedCluster, records: PodGroupRecords, gated: Mapping[str, QueuedPod]
) -> list[GroupSummary]:
    """Return all groups in order of arrival. `gated` are the pods kept out of the queue, by UID."""
    return [_summary(cluster, records.of(group), gated) for group in cluster.groups.all()]


def _summary(cluster: SimulatedCluster, record: PodGroupRecord, gated: Mapping[str, QueuedPod]) -> GroupSummary:
    metadata, policy = record.group.metadata, record.group.spec.scheduling_policy
    key = (metadata.namespace, metadata.name)
    refused = [gated[uid].gate_message for uid in cluster.groups.seen(key) if uid in gated]
    return GroupSummary(
        namespace=metadata.namespace,
        name=metadata.name,
        policy="gang" if policy.gang is not None else "basic" if policy.basic is not None else "",
        min_count=record.group.min_count,
        pods=cluster.groups.count(key),
        bound=len(cluster.groups.on_nodes(key)),
        conditions=tuple(record.conditions.values()),
        attempts=record.attempts,
        last=record.last,
        waiting=refused[0] if refused and not record.attempts else "",
    )
