"""`explain`: deleted pods whose controllers replace them at once, before the pods have ended.

A ReplicaSet does not count a pod that is being deleted. Until the pod has ended, it has its devices and its room, so
that its replacement gets others. These may be what the pending pod needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import count

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.owners import counts_for

_SOME_TIME = "2000-01-01T00:00:00Z"
"""The time at which pods are deleted if the input has no times."""


def while_they_end(inventory: Inventory, keys: Collection[str]) -> tuple[Inventory, Inventory] | None:
    """Return the cluster in which the pods are being deleted beside their replacements, and that without the pods.

    In the second one, the simulation itself frees what the pods used, as their replacements may use the same claims.
    Returns None if a controller replaces one of the pods only after it has ended, as a StatefulSet does.
    """
    from dra_plan.whatif.edits import claims_without_template, newest, successor  # start-up time matters

    pods = [pod for pod in inventory.pods if pod.key in keys]
    time, version = newest(inventory)
    ending = {pod.key: _ending(pod, time or _SOME_TIME) for pod in pods}
    if not all(map(_is_replaced_at_once, ending.values())):
        return None
    index, names = Index(inventory), _unused(inventory)
    renamed = [structs.replace(pod, metadata=structs.replace(pod.metadata, name=next(names))) for pod in pods]
    heirs = [successor(pod, time, version) for pod in renamed]
    made = [claim for pod, heir in zip(pods, heirs, strict=True) for claim in claims_without_template(pod, index, heir)]
    beside = replace(
        inventory,
        pods=[*(ending.get(pod.key, pod) for pod in inventory.pods), *heirs],
        claims=[*inventory.claims, *made],
        returning=inventory.returning | {(heir.metadata.namespace, heir.metadata.name) for heir in heirs},
    )
    return beside, replace(beside, pods=[pod for pod in beside.pods if pod.key not in keys])


def _ending(pod: Pod, time: str) -> Pod:
    return structs.replace(pod, metadata=structs.replace(pod.metadata, deletion_timestamp=time))


def _is_replaced_at_once(ending: Pod) -> bool:
    controller = ending.metadata.controller
    return controller is not None and not counts_for(ending, controller.kind)


def _unused(inventory: Inventory) -> Iterator[str]:
    """Yield names that no pod has."""
    known = {pod.metadata.name for pod in inventory.pods}
    return (name for name in map("replacement-{}".format, count(1)) if name not in known)
