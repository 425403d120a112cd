"""What the input lacks, as far as it can be told from the rest of it; each with the command that brings it.

A missing object is no error: but what is not in the input counts as not there, and so an answer may be too good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaimSpec
from dra_plan.api.workloads import pod_template
from dra_plan.claims.index import Index, missing_templates, pod_owner, workload_owner
from dra_plan.claims.owners import ended
from dra_plan.claims.sets import Owner
from dra_plan.manifests import kinds


def of_devices(inventory: Inventory) -> list[Notice]:
    """Claims of running pods, slices and classes that are not in the input, while something there needs them."""
    return [*_claims(inventory), *_slices(inventory), *_classes(inventory)]


def of_preemption(inventory: Inventory, *, evicts: bool) -> list[Notice]:
    """PriorityClasses that pods name and that are not in the input, and disruption budgets where pods are evicted."""
    found = []
    unknown = sorted(_unknown_priorities(inventory, all_pods=evicts))
    if unknown:
        found.append(
            Notice(
                "priority-classes-missing",
                f"{_listed(unknown)}: no such PriorityClass is in the input, so pods that name it and say no priority"
                " themselves have 0: add the output of `kubectl get priorityclasses -o yaml`",
            )
        )
    if evicts and not inventory.disruption_budgets:
        found.append(
            Notice(
                "disruption-budgets-missing",
                "pods are evicted here, and no PodDisruptionBudget is in the input that might protect them: if there"
                " are any, add the output of `kubectl get poddisruptionbudgets -A -o yaml`",
            )
        )
    return found


def of_leaving(index: Index, event: str, nodes: Iterable[Node] | None = None) -> list[Notice]:
    """Pods that claims are reserved for and that the input lacks, where pods leave these nodes, or any node."""
    from dra_plan.whatif.edits import absent_pods_notice

    absent = index.absent_pods
    found = absent.all if nodes is None else dict.fromkeys(name for node in nodes for name in absent.on(node))
    return [absent_pods_notice(list(found), event)] if found else []


def of_templates(inventory: Inventory, pods: Iterable[Pod]) -> list[Notice]:
    """Claim templates that pods without a node need and that are not in the input; for a workload's pods told once."""
    asked = [pod for pod in pods if not pod.spec.node_name and not ended(pod) and pod.spec.resource_claims]
    if not asked:
        return []
    workloads = {workload_owner(workload) for workload in inventory.workloads}
    controllers = {pod.key: controller for pod in asked if (controller := _controller(pod)) in workloads}
    pairs = ((controllers.get(pod.key) or pod_owner(pod), pod) for pod in asked)
    return list(dict.fromkeys(missing_templates(pairs, Index(inventory))))


def _controller(pod: Pod) -> Owner | None:
    owner = pod.metadata.controller
    return Owner(owner.kind, pod.metadata.namespace, owner.name) if owner is not None else None


def of_volumes(inventory: Inventory, pods: Iterable[Pod]) -> list[Notice]:
    """Storage objects that the claims on volumes of these pods need, and of which not one is in the input."""
    from dra_plan.scheduler.cluster.volumes import Claim, pod_volumes

    wanted = sorted({(pod.metadata.namespace, use.name) for pod in pods for use in pod_volumes(pod).claims})
    known = {(claim.metadata.namespace, claim.metadata.name): Claim(claim) for claim in inventory.volume_claims}
    claims = [known[key] for key in wanted if key in known]
    drivers = any(volume.spec.csi is not None for volume in inventory.volumes)
    lacking = {
        "PersistentVolumeClaim": bool(wanted) and not known,
        "PersistentVolume": bool(claims) and not inventory.volumes,
        "StorageClass": any(claim.class_name for claim in claims) and not inventory.storage_classes,
        "CSINode": bool(claims) and drivers and not inventory.csi_nodes,
    }
    names = [name for name, lacks in lacking.items() if lacks]
    if not names:
        return []
    uses = "1 claim on a volume is" if len(wanted) == 1 else f"{len(wanted)} claims on volumes are"
    plurals = ",".join(kind.plural for name in names if (kind := kinds.named(name)) is not None)
    return [
        Notice(
            "volumes-missing",
            f"{uses} used by pods that are to be scheduled ({_listed('/'.join(key) for key in wanted)}), and no"
            f" {' and no '.join(names)} is in the input: add the output of `kubectl get {plurals} -A -o yaml`",
        )
    ]


def _claims(inventory: Inventory) -> Iterator[Notice]:
    index = Index(inventory)
    running = (pod for pod in inventory.pods if pod.spec.node_name and not ended(pod))
    lacking = [pod.key for pod in running if _lacks_claims(pod, index)]
    if lacking:
        uses = "1 running pod uses claims" if len(lacking) == 1 else f"{len(lacking)} running pods use claims"
        yield Notice(
            "claims-missing",
            f"{uses} that are not in the input ({_listed(lacking)}), so their devices count as free: add the output of"
            " `kubectl get resourceclaims -A -o yaml`",
        )


def _lacks_claims(pod: Pod, index: Index) -> bool:
    namespace = pod.metadata.namespace
    made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    special = pod.status.extended_resource_claim_status
    named = special.resource_claim_name if special is not None else ""
    if named and index.claim(namespace, named) is None:
        return True
    for entry in pod.spec.resource_claims:
        name = entry.resource_claim_name or made.get(entry.name)
        if name is not None and index.claim(namespace, name) is None:
            return True
        if name is None and entry.name not in made and index.generated_claims.of(pod, entry.name) is None:
            return True
    return False


def _slices(inventory: Inventory) -> Iterator[Notice]:
    unseen = _unseen_pools(inventory) if inventory.slices else []
    if unseen:
        yield Notice(
            "slices-missing",
            f"claims have devices of pools of which there is no ResourceSlice ({_listed(unseen)}), so what else these"
            " pools have is not known: add the output of `kubectl get resourceslices -o yaml`",
        )
    if not inventory.slices and (inventory.classes or any(True for _ in _claim_specs(inventory)) or _uses(inventory)):
        yield Notice(
            "slices-missing",
            "no ResourceSlice is in the input, so no device is known: add the output of"
            " `kubectl get resourceslices -o yaml`",
        )


def _unseen_pools(inventory: Inventory) -> list[str]:
    """The pools of allocated devices that no slice is of, as DRIVER/POOL."""
    seen = {(slice_.spec.driver, slice_.spec.pool.name) for slice_ in inventory.slices}
    unseen: dict[tuple[str, str], None] = {}
    for claim in inventory.claims:
        if claim.allocation is not None:
            for result in claim.allocation.devices.results:
                if (result.driver, result.pool) not in seen:
                    unseen[result.driver, result.pool] = None
    return ["/".join(pool) for pool in unseen]


def _uses(inventory: Inventory) -> bool:
    """Whether any pod or workload uses claims."""
    specs = [pod.spec for pod in inventory.pods] + [pod_template(each).spec for each in inventory.workloads]
    return any(spec.resource_claims for spec in specs)


def _classes(inventory: Inventory) -> Iterator[Notice]:
    if inventory.classes:
        return
    named = dict.fromkeys(name for spec in _claim_specs(inventory) for name in _class_names(spec))
    if named:
        yield Notice(
            "classes-missing",
            f"no DeviceClass is in the input, and claims ask for {_listed(list(named))}: add the output of"
            " `kubectl get deviceclasses -o yaml`",
        )


def _claim_specs(inventory: Inventory) -> Iterator[ResourceClaimSpec]:
    """What is still to be allocated: pending claims, and templates."""
    yield from (claim.spec for claim in inventory.claims if claim.allocation is None)
    yield from (template.spec.spec for template in inventory.templates)


def _class_names(spec: ResourceClaimSpec) -> Iterator[str]:
    for request in spec.devices.requests:
        for wanted in (request.exactly, *request.first_available):
            if wanted is not None and wanted.device_class_name:
                yield wanted.device_class_name


def _unknown_priorities(inventory: Inventory, *, all_pods: bool) -> set[str]:
    """The PriorityClasses that are named and not known, by pods that say no priority themselves or by all."""
    from dra_plan.scheduler.admission import SYSTEM_PRIORITIES

    known = {each.metadata.name for each in inventory.priority_classes} | SYSTEM_PRIORITIES.keys()
    specs = [pod.spec for pod in inventory.pods if not ended(pod)]
    specs += [pod_template(workload).spec for workload in inventory.workloads]
    named = {spec.priority_class_name for spec in specs if all_pods or spec.priority is None}
    return named - known - {""}


def _listed(names: Iterable[str], most: int = 3) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
