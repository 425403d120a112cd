"""Values that a selector asks for and no device of the whole cluster has: then no node is of use, whatever is free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dra_plan.allocator import View
from dra_plan.allocator.requests import Want
from dra_plan.cel.parts import Reference, clauses, references
from dra_plan.cel.rewrite import comparison

from .groups import NodeGroup
from .published import look_up

Typed = tuple[str, Any]
"""Type and value of an attribute."""


@dataclass(slots=True, frozen=True)
class AbsentValue:
    """A selector of the want, or of its class, is true only where `reference` is `wanted`, which it is nowhere.

    `values` counts what it is instead, over the devices that publish it: at least one does, of the type wanted.
    """

    want: Want
    class_name: str | None
    position: int
    clause: str
    reference: Reference
    wanted: Typed
    values: Counter[Typed]


Published = dict[Reference, Counter[Typed]]
"""What all devices of a cluster have under names."""


def absent_values(view: View, groups: Sequence[NodeGroup], known: Published) -> list[AbsentValue]:
    """What the requests that can't be met on some node ask for in vain, each selector's clause once.

    `known` is what was looked up in the same slices before; it grows.
    """
    asked = [found for want in _failing(groups) for found in _asked(want)]
    if not asked:
        return []
    known.update(_values(view, {reference for _, _, _, _, reference, _ in asked} - known.keys()))
    made: dict[tuple[object, ...], AbsentValue] = {}
    for want, class_name, position, clause, reference, wanted in asked:
        values = known[reference]
        if wanted[0] in {kind for kind, _ in values} and wanted not in values:
            about = class_name if class_name is not None else (want.claim_index, want.full_name)
            found = AbsentValue(want, class_name, position, clause, reference, wanted, values)
            made.setdefault((about, position, clause), found)
    return list(made.values())


def _failing(groups: Sequence[NodeGroup]) -> list[Want]:
    """The wants of requests that can't be met alone on the nodes of some group, each once."""
    found: dict[tuple[int, str], Want] = {}
    for group in groups:
        for funnels in group.offer.failing() if group.offer is not None else ():
            for funnel in funnels:
                found.setdefault((funnel.want.claim_index, funnel.want.full_name), funnel.want)
    return list(found.values())


def _asked(want: Want) -> Iterator[tuple[Want, str | None, int, str, Reference, Typed]]:
    """The clauses of the want's selectors that compare one published name with a constant."""
    for condition in want.conditions:
        for clause in clauses(condition.expression):
            compared, read = comparison(clause), references(clause)
            if compared is not None and compared.is_equal and compared.is_plain and len(read) == 1:
                [reference] = read
                if reference.kind in ("attribute", "driver"):
                    wanted = (compared.type, compared.value)
                    yield want, condition.class_name, condition.index, clause, reference, wanted


def _values(view: View, wanted: Iterable[Reference]) -> Published:
    """What all devices of the cluster have under each name."""
    found: Published = {reference: Counter() for reference in wanted}
    if not found:
        return found
    for slices in view.gatherer.slices.values():
        for slice_ in slices:
            for device in slice_.devices:
                for reference, values in found.items():
                    value = look_up(device, reference)
                    if value is not None:
                        values[value] += 1
    return found
