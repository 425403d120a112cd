"""`explain`: the smallest raise of quotas that lets the API server create an owner's pods.

Quotas are raised in rounds, because a created object may exceed another quota or use up what was meant for the next
one. The raise is then tried with the whole scheduler (`trials`). LimitRanges are not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.core import ResourceQuota
from dra_plan.api.inventory import Inventory
from dra_plan.api.quantity import add, canonical_text, parse
from dra_plan.documents.cluster_changes import QuotaRaised
from dra_plan.documents.refusals import OverQuota
from dra_plan.documents.suggestions import ObjectPatch, PatchOperation
from dra_plan.explanation.suggest import patches
from dra_plan.planner.creation import NotCreated

MOST_ROUNDS = 8
"""The maximum number of rounds in which quotas are raised for an owner."""

MOST_PODS = 2_000
"""The maximum number of pending pods. Each round creates all of them."""


class QuotaRaise(NamedTuple):
    """The patches that raise quotas, and the input after the change."""

    told: list[QuotaRaised]
    patches: list[ObjectPatch]
    changed: Inventory


def raised(inventory: Inventory, refused_in: Callable[[Inventory], Sequence[NotCreated]]) -> QuotaRaise | None:
    """Return the smallest raise of quotas after which `refused_in` names no pod that the API server rejects.

    Return None if a raise of quotas is not enough.
    """
    changed = inventory
    for _ in range(MOST_ROUNDS):
        refused = refused_in(changed)
        if not refused:
            return _between(inventory, changed)
        if not all(one.over for one in refused):
            return None  # a limit, or an amount that must be stated
        changed = _with_room(changed, refused)
    return None


def _with_room(inventory: Inventory, refused: Sequence[NotCreated]) -> Inventory:
    """Return the input whose quotas have room for these after what is used."""
    needed: dict[tuple[str, str, str], str] = {}
    for one in refused:
        for each in one.over:
            key = (one.pod.metadata.namespace, each.quota, each.resource)
            needed[key] = canonical_text(add(parse(needed.get(key, _used_last(refused, key))), parse(each.requested)))

    def edited(of: ResourceQuota) -> ResourceQuota:
        own = {
            resource: amount
            for (namespace, name, resource), amount in needed.items()
            if (namespace, name) == (of.metadata.namespace, of.metadata.name)
        }
        return structs.replace(of, spec=structs.replace(of.spec, hard={**of.spec.hard, **own})) if own else of

    return replace(inventory, quotas=list(map(edited, inventory.quotas)))


def _used_last(refused: Sequence[NotCreated], key: tuple[str, str, str]) -> str:
    """Return what is used of an amount when the last of these is rejected for it."""
    every: list[OverQuota] = [
        each for one in refused for each in one.over if (one.pod.metadata.namespace, each.quota, each.resource) == key
    ]
    return every[-1].used


def _between(before: Inventory, after: Inventory) -> QuotaRaise | None:
    """Return the raises between two inputs."""
    told: list[QuotaRaised] = []
    made: list[ObjectPatch] = []
    for old, new in zip(before.quotas, after.quotas, strict=True):
        if old is not new:
            own = list(_raises(old, new))
            told += own
            key = ("ResourceQuota", old.metadata.namespace, old.metadata.name)
            operations = [
                PatchOperation(op="replace", path=patches.pointer("spec", "hard", one.resource), value=one.to)
                for one in own
            ]
            made.append(patches.of_object(key, old.api_version, operations))
    return QuotaRaise(told, made, after) if told else None


def _raises(old: ResourceQuota, new: ResourceQuota) -> Iterator[QuotaRaised]:
    for resource, amount in new.spec.hard.items():
        if amount != old.spec.hard[resource]:
            yield QuotaRaised(
                code="raise-quota",
                namespace=old.metadata.namespace,
                quota=old.metadata.name,
                resource=resource,
                from_=str(old.spec.hard[resource]),
                to=str(amount),
            )
