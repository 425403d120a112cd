"""Suspended workloads, and pods that Kueue holds back. They are planned as if they were released, with a notice.

A suspended workload creates no pods. It is planned as if it were resumed only if it is named, or if it is not in a
cluster yet. Kueue resumes the workloads that it admits, and removes its scheduling gates from pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice, ObjectKey
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.workloads import AnyWorkload, CustomWorkload, Job
from dra_plan.claims.index import owner_of
from dra_plan.claims.owners import is_suspended, is_waiting
from dra_plan.claims.sets import ClaimSet
from dra_plan.errors import UsageError
from dra_plan.planner.owners import Known, find

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""The label with the name of an object's LocalQueue."""
_GATES = "kueue.x-k8s.io/"
"""The prefix of the scheduling gates that Kueue sets and removes."""
SUSPENDED = "suspended"
"""The code of the warning that something is planned as if it were released."""
LEFT_OUT = "suspended-left-out"
_MOST_NAMED = 3


def resumed(inventory: Inventory, owners: Sequence[str] = (), namespace: str | None = None) -> Inventory:
    """Return the inventory with the named workloads resumed. Without names, all new workloads are resumed.

    Kueue's scheduling gates are removed from pods in the same way. The inventory has notices about these changes.
    """
    held = [each for each in (*inventory.workloads, *inventory.pods) if _is_held(each)]
    if not held:
        return inventory
    named = _named(inventory, owners, namespace)
    going_on = {id(each) for each in held if owner_of(each) in named or not (named or each.metadata.is_stored)}
    left = [each for each in held if id(each) not in going_on and not isinstance(each, Pod)]
    notices = [_notice(each) for each in held if id(each) in going_on]
    notices += [_left_out(left)] if left and not named else []
    return replace(
        inventory,
        workloads=[_resumed(each) if id(each) in going_on else each for each in inventory.workloads],
        pods=[_released(each) if id(each) in going_on else each for each in inventory.pods],
        notices=[*inventory.notices, *dict.fromkeys(notices)],
    )


def of_sets(inventory: Inventory, sets: Iterable[ClaimSet]) -> list[Notice]:
    """Return notices about claim sets whose owners are suspended but planned as if they were running."""
    owners = {(one.owner.kind, one.owner.namespace, one.owner.name) for one in sets if one.owner is not None}
    held = (each for each in (*inventory.workloads, *inventory.pods) if _is_held(each))
    return list(dict.fromkeys(_notice(each) for each in held if owner_of(each) in owners))


def _named(inventory: Inventory, owners: Sequence[str], namespace: str | None) -> frozenset[ObjectKey]:
    """Return the named objects; names that no object has are reported elsewhere."""
    try:
        return frozenset(find(owners, Known(inventory), namespace)) if owners else frozenset()
    except UsageError:
        return frozenset()


def _is_held(obj: Pod | AnyWorkload) -> bool:
    if isinstance(obj, Pod):
        gates = [each.name for each in obj.spec.scheduling_gates]
        return bool(gates) and is_waiting(obj) and all(name.startswith(_GATES) for name in gates)
    return is_suspended(obj)


def _resumed(workload: AnyWorkload) -> AnyWorkload:
    if isinstance(workload, Job):
        return structs.replace(workload, spec=structs.replace(workload.spec, suspend=False))
    assert isinstance(workload, CustomWorkload)
    return structs.replace(workload, spec=structs.replace(workload.spec, suspend=False))


def _released(pod: Pod) -> Pod:
    return structs.replace(pod, spec=structs.replace(pod.spec, scheduling_gates=[]))


def _notice(obj: Pod | AnyWorkload) -> Notice:
    metadata: ObjectMeta = obj.metadata
    queue = (metadata.labels or {}).get(QUEUE_LABEL, "")
    if isinstance(obj, Pod) or queue:
        which = f" from queue {queue}" if queue else ""
        text = f"waits until Kueue admits it{which}: planned as if admitted, without Kueue's own quotas"
    else:
        text = "is suspended: planned as if resumed"
    return Notice(SUSPENDED, text, f"{obj.kind} {metadata.namespace}/{metadata.name}")


def _left_out(left: Sequence[Pod | AnyWorkload]) -> Notice:
    names = list(dict.fromkeys(f"{each.kind} {each.metadata.namespace}/{each.metadata.name}" for each in left))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    some = ", ".join(names[:_MOST_NAMED]) + more
    are = (
        "1 workload is suspended and creates"
        if len(names) == 1
        else (f"{len(names)} workloads are suspended and create")
    )
    them = "it to plan it as if it" if len(names) == 1 else "them to plan them as if they"
    return Notice(LEFT_OUT, f"{are} no pods now ({some}): name {them} were resumed")
