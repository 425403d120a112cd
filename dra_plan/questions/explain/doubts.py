"""`explain`: positive verdicts that the scheduler's last message contradicts, because the input lacks objects.

Some reasons in the scheduler's messages are possible only if the cluster has objects of certain kinds. If the message
gives such a reason, but the pod would be bound in the input, and the input has no objects of one of these kinds, the
verdict is in doubt. Missing pods and claims are handled in `planner/nodes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.documents.verdict_parts import LastMessage
from dra_plan.documents.verdicts import GOOD, OwnerVerdict
from dra_plan.manifests.kinds import named
from dra_plan.planner.nodes import was_listed
from dra_plan.questions.explain.reasons import last_message, reasons_in
from dra_plan.scheduler.plugins.inter_pod_affinity import NOT_AWAY, UNWELCOME
from dra_plan.scheduler.plugins.volume_binding import NO_SPACE
from dra_plan.scheduler.plugins.volumes import TOO_MANY

_READ: dict[str, tuple[str, ...]] = {
    NO_SPACE: ("CSIDriver", "CSIStorageCapacity"),
    TOO_MANY: ("CSINode", "VolumeAttachment"),
    NOT_AWAY: ("Namespace",),
    UNWELCOME: ("Namespace",),
}
"""The kinds, besides pods and nodes, that a plugin reads before it gives a reason, and without which it gives none."""

_LACKS: dict[str, Callable[[Inventory], bool]] = {
    "CSIDriver": lambda inventory: not inventory.csi_drivers,
    "CSIStorageCapacity": lambda inventory: not inventory.storage_capacities,
    "CSINode": lambda inventory: not inventory.csi_nodes,
    "VolumeAttachment": lambda inventory: not inventory.volume_attachments,
    "Namespace": lambda inventory: not inventory.namespaces and any(map(_selects_namespaces, inventory.pods)),
}


def _selects_namespaces(pod: Pod) -> bool:
    """Return whether an anti-affinity of the pod is for namespaces with labels that only Namespaces have."""
    of = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity is not None else None
    terms = of.required_during_scheduling_ignored_during_execution if of is not None else ()
    selectors = (one.namespace_selector for one in terms if one.namespace_selector is not None)
    return any(one.match_labels or one.match_expressions for one in selectors)


def doubted(made: OwnerVerdict, inventory: Inventory, pods: Iterable[Pod]) -> OwnerVerdict:
    """Return the verdict on these pods, marked as doubted if one of their last messages contradicts a positive verdict.

    In this case, `partial` names the missing kinds, and `last_message` is the message. If no node can take the pods
    anyway, `unread` names the kinds.
    """
    if made.verdict not in (*GOOD, "Unschedulable"):
        return made
    for pod in pods:
        said = last_message(pod, None, inventory.cluster_info)
        missing = _missing(inventory, said) if said is not None else []
        if missing and made.verdict not in GOOD:
            return structs.replace(made, unread=missing)
        if missing:
            partial = sorted({*made.partial, *missing})
            return structs.replace(made, doubted=True, partial=partial, last_message=said)
    return made


def _missing(inventory: Inventory, said: LastMessage) -> list[str]:
    """Return the kinds, as kubectl names them, that the input lacks although a reason in the message needs them."""
    needed = {kind for reason in reasons_in(said) for kind in _READ.get(reason, ())}
    lacking = [kind for kind in needed if _LACKS[kind](inventory) and not was_listed(inventory, kind)]
    return sorted(kind.plural for one in lacking if (kind := named(one)) is not None)
