"""Sentences about what nodes lack for one more copy."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from msgspec import structs

from dra_plan.api.quantity import parse
from dra_plan.documents.obstacles import NodeShortage, ShortResource
from dra_plan.documents.reasons import LeadingReason
from dra_plan.text import words

MOST_LINES = 6
"""The maximum number of lines. If there are more, nodes that lack different amounts of the same resource share a line,
and further lines are only counted."""


def lines(found: Sequence[NodeShortage], noun: str, plural: str) -> Iterator[str]:
    """Yield a line for each group of nodes that lack the same resources. `noun` and `plural` name what nodes hold."""
    if len(found) <= MOST_LINES:
        for one in found:
            names = f"all {len(one.nodes):,} nodes" if len(found) == 1 < len(one.nodes) else words.listed(one.nodes)
            each = " each" if len(one.nodes) > 1 else ""
            holds = f" ({words.counted(one.copies, noun, plural)}{each})" if one.copies else ""
            yield f"{names}{holds}: {_lacks([one])}"
        return
    alike: dict[Hashable, list[NodeShortage]] = {}
    for one in found:
        alike.setdefault(_kind(one), []).append(one)
    kinds = list(alike.values())
    for kind in kinds[:MOST_LINES]:
        yield f"{words.listed([name for one in kind for name in one.nodes])}: {_lacks(kind)}"
    others = sum(len(one.nodes) for kind in kinds[MOST_LINES:] for one in kind)
    if others:
        yield f"{words.counted(others, 'more node')}: other reasons"


def _kind(of: NodeShortage) -> Hashable:
    """Return what nodes lack, without the amounts that are left."""
    devices = of.devices
    about = (devices.code, devices.class_, devices.name, devices.request, devices.need) if devices is not None else ()
    return about, tuple((one.resource, one.need) for one in of.resources), tuple(of.messages)


def _lacks(alike: Sequence[NodeShortage]) -> str:
    """Return what nodes of one kind lack, with the most that is left on one of them."""
    first = alike[0]
    devices = [one.devices for one in alike if one.devices is not None]
    said = [words.cell(_range(devices))] if devices else []
    short = [_resource([one.resources[at] for one in alike]) for at in range(len(first.resources))]
    return "; ".join([*said, *short, *first.messages])


def _range(reasons: Sequence[LeadingReason]) -> LeadingReason:
    """Return the reason with the smallest and the largest number of devices that are left on a node."""
    left = [one.left for one in reasons if one.left is not None]
    least, most = min(left, default=None), max(left, default=None)
    return structs.replace(reasons[0], left=most, left_from=least if least != most else None)


def _resource(short: Sequence[ShortResource]) -> str:
    most = max(short, key=lambda one: parse(one.left).nano)
    need, left = words.need(most.resource, most.need), words.amount(most.resource, most.need, most.left)
    bound = "at most " if len({one.left for one in short}) > 1 else ""
    user = f" (pod {most.pod} requests {words.amount(most.resource, most.need, most.used)})" if most.pod else ""
    return f"{most.resource}: needs {need}, {bound}{left} free{user}"
