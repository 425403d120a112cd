"""A request that no node can meet, and the node that comes closest to meeting it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dra_plan.allocator import Outcome
from dra_plan.documents.stories import MostLeft

from .funnel import Funnel
from .groups import NodeGroup
from .names import request_name

_Key = tuple[int, str]
"""The position of a claim, and the name of one of its requests."""


class _Best(NamedTuple):
    """The funnel of the node with the most devices left, and the name of this node."""

    funnel: Funnel
    node: str


def most_left(groups: Iterable[NodeGroup]) -> MostLeft | None:
    """Return the first request that no node can meet, with the node that has the most devices left for it.

    Return None if there is no such request, or if the devices of any node are not known.
    """
    told = list(groups)
    best: dict[_Key, _Best] = {}
    every: list[set[_Key]] = []
    for group in told:
        if group.answer.outcome is Outcome.UNDECIDED:
            return None
        for node, offer in zip(group.nodes, group.offers, strict=True):
            if offer is None:
                return None
            short = {_key(each): each for each in offer.funnels if _is_short(each)}
            every.append(set(short))
            for key, funnel in short.items():
                known = best.get(key)
                if known is None or _rank(funnel) > _rank(known.funnel):
                    best[key] = _Best(funnel, node.metadata.name)
    always = set[_Key].intersection(*every) if every else set()
    found = next((best[key] for key in best if key in always), None)
    if found is None:
        return None
    funnel, name = found
    return MostLeft(
        **request_name(funnel.want),
        class_=funnel.want.device_class.metadata.name if funnel.want.device_class is not None else "",
        need=funnel.need,
        left=len(funnel.left),
        devices=funnel.devices,
        node=name,
        nodes=len(every),
    )


def _key(of: Funnel) -> _Key:
    return of.want.claim_index, of.want.full_name


def _is_short(of: Funnel) -> bool:
    """Return whether a request for a number of devices has too few of them; alternatives replace each other."""
    return of.problem == "too-few-devices" and not of.want.parent


def _rank(of: Funnel) -> tuple[int, int]:
    return len(of.left), of.devices
