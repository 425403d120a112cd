"""What the user should know of pod groups beside what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.scheduling import PodGroup
from dra_plan.releases import Target
from dra_plan.scheduler.cluster import SimulatedCluster

_GENERIC = "GenericWorkload"


def group_notices(inventory: Inventory, cluster: SimulatedCluster, target: Target) -> list[Notice]:
    """Gates that the input shows to be on and that are off here, gangs that run in part."""
    return [*_gates(inventory, target), *_in_part(cluster)]


def _gates(inventory: Inventory, target: Target) -> Iterator[Notice]:
    """The API server keeps fields only where their gate is on, so an input that has them tells of its cluster."""
    on = target.gates
    named = [pod for pod in inventory.pods if pod.spec.scheduling_group is not None]
    signs: dict[str, str] = {}
    if named or inventory.pod_groups:
        signs[_GENERIC] = f"pods that name a PodGroup: {len(named)}, PodGroups: {len(inventory.pod_groups)}"
    signs |= _of_groups(inventory.pod_groups)
    if any(map(_of_a_group, inventory.claims)):
        signs["DRAWorkloadResourceClaims"] = "claims belong to PodGroups"
    off = [gate for gate in signs if gate in on and not on[gate]]
    if off:
        text = f"{'; '.join(signs[gate] for gate in off)}, so gates may be on in the cluster that are off here"
        yield Notice("gate-seems-on", f"{text}: --feature-gates {','.join(f'{gate}=true' for gate in off)}")
    elif signs and not target.rules.pod_groups:
        text = f"{'; '.join(signs.values())}; in {target.version} they count for nothing here: pods are scheduled alone"
        yield Notice("gate-seems-on", text)


def _of_groups(groups: Iterable[PodGroup]) -> dict[str, str]:
    """Gate to the field of PodGroups that needs it."""
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


def _of_a_group(claim: ResourceClaim) -> bool:
    owner = claim.metadata.controller
    users = claim.status.reserved_for if claim.status is not None else []
    return (owner is not None and owner.kind == "PodGroup") or any(user.resource == "podgroups" for user in users)


def _in_part(cluster: SimulatedCluster) -> Iterator[Notice]:
    """Gangs of which fewer pods have a node than need one at the same time."""
    for group in cluster.groups.all():
        bound = cluster.groups.bound((group.metadata.namespace, group.metadata.name))
        if 0 < bound < group.min_count:
            text = f"{bound} pods of the gang have a node, fewer than its minCount {group.min_count}; nobody mends that"
            yield Notice("gang-in-part", text, f"PodGroup {group.key}", defects=("G10",))
