"""The nodes to plan for, and notices about missing objects that would change the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import NOT_SERVED, Inventory, Notice
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim, ResourceClaimSpec
from dra_plan.api.well_known import ADMIN_ACCESS, SYSTEM_NAMESPACE
from dra_plan.api.workloads import pod_template
from dra_plan.claims.index import Index, missing_templates, only_nodes, owner_of
from dra_plan.claims.owners import ended
from dra_plan.claims.sets import Owner
from dra_plan.documents.base import bringing, listing
from dra_plan.errors import InputError, UsageError
from dra_plan.manifests import kinds
from dra_plan.near import nearest

if TYPE_CHECKING:
    from dra_plan.allocator import View
    from dra_plan.api.storage import StorageClass
    from dra_plan.scheduler.cluster.volumes import Claim


def _no_nodes(inventory: Inventory) -> InputError:
    """Return the error for an input without nodes, with the command that fetches all missing objects."""
    if inventory.cluster_info is not None and not was_listed(inventory, "Node"):
        return InputError(
            "the input has no Node objects, because the user who took the snapshot may not list "
            "nodes: get that permission, or use --infer-nodes to take the node names from the slices"
        )
    lacking = of_devices(inventory)
    command = bringing([Notice("nodes-missing", "-", brings=("nodes",)), *lacking]) if lacking else NODES
    return InputError(
        "the input has no Node objects, so dra-plan cannot tell which node has which device: add the output of"
        f" `{command}`, or use --infer-nodes to take the node names from the slices"
    )


NODES = "kubectl get nodes -o yaml"
"""The command that lists the nodes, for inputs that lack nothing else."""


def with_nodes(inventory: Inventory, *, infer: bool) -> tuple[Inventory, list[Notice]]:
    """Return the inventory. If it has no nodes and `infer` is set, add the nodes named in its slices.

    Raises InputError if it has no nodes and `infer` is not set.
    """
    if inventory.nodes:
        return inventory, []
    if not infer:
        raise _no_nodes(inventory)
    from dra_plan.manifests.infer import infer_nodes

    nodes, notices = infer_nodes(inventory)
    if not nodes:
        lacks = "its slices name no node" if inventory.slices else "no ResourceSlices from which to create them"
        raise InputError(f"the input has no Node objects, and {lacks}")
    return replace(inventory, nodes=nodes), notices


def choose_nodes(nodes: Sequence[Node], names: Sequence[str] | None) -> list[Node]:
    """Return the nodes that the names, patterns and label selectors select, in input order. None selects all nodes.

    Raises UsageError for an unknown name, and for a selector that cannot be parsed or that matches no node.
    """
    if not names:
        return list(nodes)
    from dra_plan.planner.node_choice import all_meant

    names = all_meant(nodes, names)
    known = {node.metadata.name for node in nodes}
    unknown = [name for name in names if name not in known]
    if unknown:
        found = f"the input has {len(known)} nodes"
        raise UsageError.of_lines(f"unknown node {name!r}{_meant(name, known)}: {found}" for name in unknown)
    wanted = set(names)
    return [node for node in nodes if node.metadata.name in wanted]


def _meant(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f" (did you mean {near!r}?)" if near else ""


def was_listed(inventory: Inventory, kind: str) -> bool:
    """Return whether the input is a snapshot that contains all of the cluster's objects of this kind."""
    info, known = inventory.cluster_info, kinds.named(kind)
    if info is None or known is None:
        return False
    resource = f"{known.plural}.{known.group}" if known.group else known.plural
    return all(entry.resource != resource or entry.reason == NOT_SERVED for entry in info.not_listed)


def of_devices(inventory: Inventory, view: View | None = None) -> list[Notice]:
    """Return notices about claims, slices and classes that are missing from the input although pods need them.

    Pods that have a node but no devices also get a notice, because the scheduler does not process them again.
    """
    return [
        *_claims(inventory),
        *_one_namespace(inventory),
        *_nothing_runs(inventory),
        *_slices(inventory, view),
        *_classes(inventory),
        *_namespaces(inventory),
        *_without_devices(inventory),
    ]


def deciding(inventory: Inventory) -> frozenset[str]:
    """Return which of DeviceClass and ResourceSlice are needed but have no objects in the input.

    Without them, it is unknown whether a claim fits. A snapshot that has none of a kind shows that the cluster has
    none, so the kind is not missing.
    """
    lacking = {
        "DeviceClass": not inventory.classes and any(True for _ in _classes(inventory)),
        "ResourceSlice": not inventory.slices and any(True for _ in _slices(inventory)),
    }
    return frozenset(kind for kind, lacks in lacking.items() if lacks)


def of_preemption(inventory: Inventory, *, evicts: bool) -> list[Notice]:
    """Return notices about missing PriorityClasses and, if `evicts` is set, missing disruption budgets."""
    found = []
    unknown = sorted(_unknown_priorities(inventory, all_pods=evicts))
    if unknown and not was_listed(inventory, "PriorityClass"):
        found.append(
            Notice(
                "priority-classes-missing",
                (
                    f"PriorityClass {_listed(unknown)} is not in the input, so pods that name this class "
                    "and set no priority have priority 0: add the output of "
                    "`kubectl get priorityclasses -o yaml`"
                ),
                brings=("priorityclasses",),
            )
        )
    if evicts and not inventory.disruption_budgets and not was_listed(inventory, "PodDisruptionBudget"):
        found.append(
            Notice(
                "disruption-budgets-missing",
                (
                    "pods are evicted, and the input has no PodDisruptionBudget that could protect them: "
                    "if there are any, add the output of `kubectl get poddisruptionbudgets -A -o yaml`"
                ),
                brings=("poddisruptionbudgets",),
            )
        )
    return found


def of_leaving(index: Index, event: str, nodes: Iterable[Node] | None = None) -> list[Notice]:
    """Return a notice if pods are missing from the input although claims on the nodes are reserved for them.

    `event` says what would evict these pods. Without `nodes`, all claims are considered.
    """
    from dra_plan.whatif.edits import absent_pods_notice

    absent = index.absent_pods
    found = absent.all if nodes is None else dict.fromkeys(name for node in nodes for name in absent.on(node))
    return [absent_pods_notice(list(found), event)] if found else []


def of_templates(inventory: Inventory, pods: Iterable[Pod]) -> list[Notice]:
    """Return notices about claim templates that are missing although pods without a node need them.

    There is one notice for each workload.
    """
    asked = [pod for pod in pods if not pod.spec.node_name and not ended(pod) and pod.spec.resource_claims]
    if not asked:
        return []
    workloads = {owner_of(workload) for workload in inventory.workloads}
    controllers = {pod.key: controller for pod in asked if (controller := _controller(pod)) in workloads}
    pairs = ((controllers.get(pod.key) or owner_of(pod), pod) for pod in asked)
    return list(dict.fromkeys(missing_templates(pairs, Index(inventory))))


def _controller(pod: Pod) -> Owner | None:
    owner = pod.metadata.controller
    return Owner(owner.kind, pod.metadata.namespace, owner.name) if owner is not None else None


def lacking_volumes(inventory: Inventory, pods: Iterable[Pod]) -> list[str]:
    """Return the kinds of storage objects that the pods need and that are missing from the input."""
    return _lacking_volumes(inventory, _volume_claims(pods))


def _volume_claims(pods: Iterable[Pod]) -> list[tuple[str, str]]:
    """Return the namespaces and names of the claims on volumes that pods name."""
    from dra_plan.scheduler.cluster.pod_volumes import pod_volumes

    return sorted({(pod.metadata.namespace, use.name) for pod in pods for use in pod_volumes(pod).claims})


_LIMITS = "CSINode"
"""The kind that says how many volumes a node can attach."""


def _lacking_volumes(inventory: Inventory, wanted: Sequence[tuple[str, str]]) -> list[str]:
    from dra_plan.scheduler.cluster.volumes import Claim

    known = {(claim.metadata.namespace, claim.metadata.name): Claim(claim) for claim in inventory.volume_claims}
    claims = [known[key] for key in wanted if key in known]
    classes = {one.metadata.name: one for one in inventory.storage_classes}
    drivers = any(volume.spec.csi is not None for volume in inventory.volumes)
    lacking = {
        "PersistentVolumeClaim": bool(wanted) and omits_volume_claims(inventory),
        "PersistentVolume": not inventory.volumes and any(_needs_volume(claim, classes) for claim in claims),
        "StorageClass": any(claim.class_name for claim in claims) and not inventory.storage_classes,
        _LIMITS: bool(claims) and drivers and not inventory.csi_nodes,
    }
    return [name for name, lacks in lacking.items() if lacks and not was_listed(inventory, name)]


def omits_volume_claims(inventory: Inventory) -> bool:
    """Return whether PersistentVolumeClaims are missing from the input although the cluster may have some.

    If the input has other storage objects, it is assumed to have all of them, unless a bound volume or a running pod
    uses a missing claim.
    """
    from dra_plan.scheduler.cluster.pod_volumes import pod_volumes

    if inventory.volume_claims:
        return False
    if not (inventory.volumes or inventory.storage_classes):
        return True
    running = (pod for pod in inventory.pods if pod.spec.node_name and not ended(pod))
    return any(one.status.phase == "Bound" for one in inventory.volumes) or any(
        pod_volumes(pod).claims for pod in running
    )


def _needs_volume(claim: Claim, classes: Mapping[str, StorageClass]) -> bool:
    """Return whether only a volume can serve the claim, because it is bound or no class creates a volume for it.

    A class that does not exist, while others do, is a fault that no volume is likely to repair.
    """
    found = classes.get(claim.class_name)
    if claim.volume_name or not claim.class_name or not classes:
        return True
    return found is not None and not found.provisions


def lacks_volume_limits(inventory: Inventory, pod: Pod) -> bool:
    """Return whether it is unknown how many of the pod's volumes a node can attach."""
    return _LIMITS in _lacking_volumes(inventory, _volume_claims([pod]))


def of_volumes(inventory: Inventory, pods: Iterable[Pod], *, limits: bool = True) -> list[Notice]:
    """Return notices about storage objects that the pods need, if the input has none of the kind.

    `limits` says whether it matters how many volumes a node can attach.
    """
    wanted = _volume_claims(pods)
    names = [name for name in _lacking_volumes(inventory, wanted) if limits or name != _LIMITS]
    if not names:
        return []
    uses = "1 claim on a volume is" if len(wanted) == 1 else f"{len(wanted)} claims on volumes are"
    plurals = [kind.plural for name in names if (kind := kinds.named(name)) is not None]
    return [
        Notice(
            "volumes-missing",
            (
                f"{uses} used by pending pods ({_listed('/'.join(key) for key in wanted)}), and the "
                f"input has no {' and no '.join(names)}: add the output of"
                f" `{listing(plurals)}`"
            ),
            brings=tuple(plurals),
        )
    ]


def _claims(inventory: Inventory) -> Iterator[Notice]:
    if was_listed(inventory, "ResourceClaim"):
        return
    index = Index(inventory)
    running = (pod for pod in inventory.pods if pod.spec.node_name and not ended(pod))
    lacking = [pod.key for pod in running if _lacks_claims(pod, index)]
    if lacking:
        brings = ("resourceclaims", *lacking_templates(inventory))
        uses = "1 running pod uses claims" if len(lacking) == 1 else f"{len(lacking)} running pods use claims"
        yield Notice(
            "claims-missing",
            f"{uses} that are not in the input ({_listed(lacking)}), so their devices count as free: add the output of"
            f" `{listing(brings)}`",
            brings=brings,
        )


def lacking_templates(inventory: Inventory) -> list[str]:
    """Return `["resourceclaimtemplates"]` if pods without a node name templates but the input has none, or else []."""
    if inventory.templates or was_listed(inventory, "ResourceClaimTemplate"):
        return []
    waiting = (pod for pod in inventory.pods if not pod.spec.node_name and not ended(pod))
    named = (entry.resource_claim_template_name for pod in waiting for entry in pod.spec.resource_claims)
    return ["resourceclaimtemplates"] if any(named) else []


def _one_namespace(inventory: Inventory) -> Iterator[Notice]:
    """Yield a notice if the pods come from a cluster and are all in one namespace, as from `kubectl get` without -A.

    A cluster's nodes run pods in several namespaces, at least in kube-system. Other objects in another namespace show
    that not everything was listed in this way.
    """
    if was_listed(inventory, "Pod"):
        return
    if inventory.nodes and not any(is_of_cluster(node.metadata) for node in inventory.nodes):
        return
    pods = {pod.metadata.namespace for pod in inventory.pods if is_of_cluster(pod.metadata)}
    if len(pods) != 1:
        return
    [namespace] = pods
    claims = {claim.metadata.namespace for claim in inventory.claims if is_of_cluster(claim.metadata)}
    both = claims <= pods and not was_listed(inventory, "ResourceClaim")
    subject, free, command = (
        ("pods and claims", "cpu, memory and devices", "`kubectl get pods,resourceclaims -A -o yaml`")
        if both
        else ("pods", "cpu and memory", "`kubectl get pods -A -o yaml`")
    )
    of_others = [one for one in inventory.workloads if one.metadata.namespace != namespace]
    if namespace == SYSTEM_NAMESPACE and any(is_of_cluster(one.metadata) for one in of_others):
        return  # nobody lists these of one namespace, and the others' pods of another: the others have no pods
    has_others = any(space not in ("", namespace) for _, space, _ in inventory.origins)
    supposed, others = (
        ("", "other namespaces, if there are any,")
        if has_others
        else (", as after `kubectl get` without -A", "other namespaces")
    )
    yield Notice(
        "one-namespace",
        f"all {subject} of the input are in namespace {namespace}{supposed}, so the {free} of"
        f" pods in {others} count as free: add the output of {command}",
        brings=("pods", "resourceclaims") if both else ("pods",),
    )


def _nothing_runs(inventory: Inventory) -> Iterator[Notice]:
    """Yield a note if the nodes and slices come from a cluster, but no pod and no claim does."""
    if was_listed(inventory, "Pod") or was_listed(inventory, "ResourceClaim"):
        return
    hardware = (
        any(is_of_cluster(node.metadata) for node in inventory.nodes),
        any(is_of_cluster(slice_.metadata) for slice_ in inventory.slices),
    )
    users: Iterable[Pod | ResourceClaim] = chain(inventory.pods, inventory.claims)
    if all(hardware) and not any(is_of_cluster(one.metadata) for one in users):
        yield Notice("nothing-running", "the input has no running pods or claims: every device counts as free")


def is_of_cluster(metadata: ObjectMeta) -> bool:
    """Return whether the object was read from an API server rather than written by hand."""
    return bool(metadata.uid and metadata.creation_timestamp)


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


def _without_devices(inventory: Inventory) -> Iterator[Notice]:
    stuck = sorted(_stuck(inventory))
    if stuck:
        have = "1 pod has a node" if len(stuck) == 1 else f"{len(stuck)} pods have nodes"
        pods = "this pod" if len(stuck) == 1 else "these pods"
        yield Notice(
            "bound-without-devices",
            (
                f"{have}, but claims without devices ({_listed(stuck)}), and cannot start: "
                f"kube-scheduler allocates devices only when it binds a pod. Delete {pods}, and let "
                "kube-scheduler choose the node"
            ),
            f"Pod {stuck[0]}",
        )


def _stuck(inventory: Inventory) -> set[str]:
    """Return the pods that have a node although one of their claims in the input has no devices."""
    waiting = {
        owner_of(pod): pod
        for pod in inventory.pods
        if pod.spec.node_name and pod.spec.resource_claims and pod.status.phase in ("", "Pending") and not ended(pod)
    }
    if not waiting:
        return set()
    users = Index(inventory).used_claims
    return {
        waiting[owner].key
        for claim in inventory.claims
        if claim.status is None or claim.status.allocation is None
        for owner in users.get((claim.metadata.namespace, claim.metadata.name), ())
        if owner in waiting and not waiting[owner].metadata.deletion_timestamp
    }


def _slices(inventory: Inventory, view: View | None = None) -> Iterator[Notice]:
    if was_listed(inventory, "ResourceSlice"):
        return
    all_seen = not inventory.slices or (view is not None and view.gatherer.slices.keys() >= view.holders.keys())
    unseen = [] if all_seen else _unseen_pools(inventory)
    if unseen:
        yield Notice(
            "slices-missing",
            (
                "claims have devices of pools without a ResourceSlice in the input "
                f"({_listed(unseen)}), so the other devices of these pools are not known: add the "
                "output of `kubectl get resourceslices -o yaml`"
            ),
            brings=("resourceslices",),
        )
    if not inventory.slices and (inventory.classes or any(True for _ in _claim_specs(inventory)) or _uses(inventory)):
        yield Notice(
            "slices-missing",
            (
                "the input has no ResourceSlice, so no devices are known: add the output of"
                " `kubectl get resourceslices -o yaml`"
            ),
            brings=("resourceslices",),
        )


def _unseen_pools(inventory: Inventory) -> list[str]:
    """Return the pools that have allocated devices but no slices, as DRIVER/POOL, except those of missing nodes."""
    nodes = {node.metadata.name for node in inventory.nodes}
    seen = {(slice_.spec.driver, slice_.spec.pool.name) for slice_ in inventory.slices}
    unseen: dict[tuple[str, str], None] = {}
    for claim in inventory.claims:
        allocation = claim.allocation
        if allocation is None:
            continue
        lacking = [pool for one in allocation.devices.results if (pool := (one.driver, one.pool)) not in seen]
        own = set(only_nodes(allocation.node_selector)) if lacking else set()
        if not (own and nodes and own.isdisjoint(nodes)):  # otherwise, no device of them can be used
            unseen.update(dict.fromkeys(lacking))
    return ["/".join(pool) for pool in unseen]


def _uses(inventory: Inventory) -> bool:
    """Return whether any pod or workload uses claims."""
    specs = [pod.spec for pod in inventory.pods] + [pod_template(each).spec for each in inventory.workloads]
    return any(spec.resource_claims for spec in specs)


def _classes(inventory: Inventory) -> Iterator[Notice]:
    if inventory.classes or was_listed(inventory, "DeviceClass"):
        return
    named = dict.fromkeys(name for _, spec in _claim_specs(inventory) for name in _class_names(spec))
    waiting = any(pod.spec.resource_claims and not pod.spec.node_name and not ended(pod) for pod in inventory.pods)
    if named or waiting:
        what = f"claims ask for {_listed(list(named))}" if named else "pods without a node have claims"
        yield Notice(
            "classes-missing",
            f"the input has no DeviceClass, and {what}: add the output of `kubectl get deviceclasses -o yaml`",
            brings=("deviceclasses",),
        )


def _namespaces(inventory: Inventory) -> Iterator[Notice]:
    """Yield a notice if claims ask for admin access in namespaces whose labels are not known.

    The API server accepts such claims only in namespaces with the label `resource.kubernetes.io/admin-access: "true"`
    (KEP-5018), and so refuses the claims that would be made from a template if the label is missing.
    """
    if was_listed(inventory, "Namespace"):
        return
    known = {namespace.metadata.name for namespace in inventory.namespaces}
    asked = {(meta.namespace, id(spec)): spec for meta, spec in _claim_specs(inventory)}  # many share one
    asking = {namespace for (namespace, _), spec in asked.items() if _with_admin_access(spec)}
    unknown = sorted(asking - known)
    if unknown:
        yield Notice(
            "namespaces-missing",
            (
                f"claims ask for admin access in {_listed(unknown)}, and the input does not have the labels of "
                "namespaces: the API server rejects these claims unless their namespace has the label "
                f'{ADMIN_ACCESS}: "true": add the output of `kubectl get namespaces -o yaml`'
            ),
            brings=("namespaces",),
        )


def _with_admin_access(spec: ResourceClaimSpec) -> bool:
    return any(request.exactly is not None and request.exactly.admin_access for request in spec.devices.requests)


def _claim_specs(inventory: Inventory) -> Iterator[tuple[ObjectMeta, ResourceClaimSpec]]:
    """Yield the specifications that still need devices, those of pending claims and of templates, with their names."""
    yield from ((claim.metadata, claim.spec) for claim in inventory.claims if claim.allocation is None)
    yield from ((template.metadata, template.spec.spec) for template in inventory.templates)


def _class_names(spec: ResourceClaimSpec) -> Iterator[str]:
    for request in spec.devices.requests:
        for wanted in (request.exactly, *request.first_available):
            if wanted is not None and wanted.device_class_name:
                yield wanted.device_class_name


def _unknown_priorities(inventory: Inventory, *, all_pods: bool) -> set[str]:
    """Return the unknown PriorityClasses named by pods without a priority of their own, or by all pods."""
    from dra_plan.scheduler.admission import SYSTEM_PRIORITIES

    known = {each.metadata.name for each in inventory.priority_classes} | SYSTEM_PRIORITIES.keys()
    specs = [pod.spec for pod in inventory.pods if not ended(pod)]
    specs += [pod_template(workload).spec for workload in inventory.workloads]
    named = {spec.priority_class_name for spec in specs if all_pods or spec.priority is None}
    return named - known - {""}


def _listed(names: Iterable[str], most: int = 3) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
