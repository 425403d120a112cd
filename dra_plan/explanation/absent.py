"""Values that a selector requires but no device in the whole cluster has, so that no node can ever match.

The module also finds the decisive parts of selectors that reject the devices on a group of nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from dra_plan.allocator import PoolDevice, View
from dra_plan.allocator.pools import PoolGatherer
from dra_plan.allocator.reasons import SelectorRefused
from dra_plan.allocator.requests import Want
from dra_plan.cel.parts import Reference, clauses, references
from dra_plan.cel.rewrite import comparison

from .funnel import Funnel, NodeOffer, Removal
from .groups import NodeGroup
from .like_devices import LikeDevices
from .reasons import PoolUnusable, Refusal, SelectorFailed, group_key
from .selectors import DecisivePart, Publications, decisive_parts, look_up

Typed = tuple[str, Any]
"""The type and the value of an attribute."""


class AbsentValue(Struct, frozen=True):
    """A value that a request or its class requires of an attribute or capacity, although no device has it.

    `reference` is the attribute or capacity, and `values` contains the number of devices for each of its values. At
    least one of these values has the required type.
    """

    want: Want
    class_name: str | None
    position: int
    clause: str
    reference: Reference
    wanted: Typed
    values: Counter[Typed]


Published = dict[Reference, Counter[Typed]]
"""The number of devices for each value of each attribute or capacity, in the whole cluster."""


def absent_values(view: View, groups: Sequence[NodeGroup], known: Published) -> list[AbsentValue]:
    """Return the required values that no device has, for requests that can't be met on at least one node.

    Each clause of a selector occurs only once. `known` is a cache of published values, to which this function adds
    values.
    """
    asked = [found for want in _failing(groups) for found in _asked(want)]
    if not asked:
        return []
    like = next(group.offer.placement.like_devices for group in groups if group.offer is not None)
    known.update(_values(view, like, {reference for _, _, _, _, reference, _ in asked} - known.keys()))
    made: dict[tuple[object, ...], AbsentValue] = {}
    for want, class_name, position, clause, reference, wanted in asked:
        values = known[reference]
        if wanted[0] in {kind for kind, _ in values} and wanted not in values:
            about = class_name if class_name is not None else (want.claim_index, want.full_name)
            found = AbsentValue(want, class_name, position, clause, reference, wanted, values)
            made.setdefault((about, position, clause), found)
    return list(made.values())


def _failing(groups: Sequence[NodeGroup]) -> list[Want]:
    """Return the wants that the nodes in some group can't meet even alone, without duplicates."""
    found: dict[tuple[int, str], Want] = {}
    for group in groups:
        for funnels in group.offer.failing() if group.offer is not None else ():
            for funnel in funnels:
                found.setdefault((funnel.want.claim_index, funnel.want.full_name), funnel.want)
    return list(found.values())


def _asked(want: Want) -> Iterator[tuple[Want, str | None, int, str, Reference, Typed]]:
    """Yield the clauses of the want's selectors that compare one published name with a constant."""
    for condition in want.conditions:
        for clause in clauses(condition.expression):
            compared, read = comparison(clause), references(clause)
            if compared is not None and compared.is_equal and compared.is_plain and len(read) == 1:
                [reference] = read
                if reference.kind in ("attribute", "driver"):
                    wanted = (compared.type, compared.value)
                    yield want, condition.class_name, condition.index, clause, reference, wanted


def _values(view: View, like: LikeDevices, wanted: Iterable[Reference]) -> Published:
    """Return the values of all devices in the cluster, by name; devices of one kind have the same."""
    found: Published = {reference: Counter() for reference in wanted}
    if not found:
        return found
    for device, count in like.counted(each for slices in view.gatherer.slices.values() for each in slices):
        for reference, values in found.items():
            value = look_up(device, reference)
            if value is not None:
                values[value] += count
    return found


# -- deciding parts on a group of nodes --------------------------------------------------------------------------------


def decisive_parts_of(
    offers: Sequence[NodeOffer], *, in_use: bool = False
) -> dict[tuple[int, int], list[DecisivePart]]:
    """Return the decisive parts of selectors, for requests that can't be met even alone.

    The keys are the position of the request and the position of the reason in the first offer's funnel. The parts
    describe the devices of all offers. A class's selector is considered only if no device passes it, because its
    purpose is to exclude other kinds of devices. If `in_use` is set, devices in use that fail the same selector are
    included. The result is empty if there are no offers, for example because pools can't be gathered.
    """
    if not offers:
        return {}

    view = offers[0].placement.view
    failing = {id(funnel) for funnels in offers[0].failing() for funnel in funnels}
    found: dict[tuple[int, int], list[DecisivePart]] = {}
    for position, told in enumerate(offers[0].funnels):
        if id(told) not in failing:
            continue
        for number, removal in enumerate(told.removals):
            refusal = removal.refusal
            if not isinstance(refusal, SelectorRefused | SelectorFailed) or _is_whole_device(refusal):
                continue
            if refusal.class_name is None or not any(
                _is_passed(offer, offer.funnels[position], refusal.class_name) for offer in offers
            ):
                devices = _devices(offers, position, removal, in_use=in_use)
                found[position, number] = decisive_parts(
                    refusal.expression, devices, view.compile, lambda: all_publications(view)
                )
    return found


def all_publications(view: View) -> Publications:
    """Return the names that any device in the input publishes."""
    found = _PUBLISHED.get(view.gatherer)
    if found is None:
        slices = (each for slices in view.gatherer.slices.values() for each in slices)
        found = Publications(device for each in slices for device in each.devices)
        _PUBLISHED[view.gatherer] = found
    return found


_PUBLISHED: WeakKeyDictionary[PoolGatherer, Publications] = WeakKeyDictionary()
"""The names that the slices of a gatherer publish: explanations of many nodes and changes ask for them again."""


def _devices(offers: Sequence[NodeOffer], position: int, removal: Removal, *, in_use: bool) -> list[PoolDevice]:
    """Return the devices that the same reason removes from the want on any of the nodes, each once."""
    key = removal.key
    found = {
        device.id: device
        for offer in offers
        for other in offer.funnels[position].removals
        if other.key == key or (in_use and other.step == "in-use")
        for device in other.devices
        if other.key == key or _is_rejected(offer, position, device, key)
    }
    return list(found.values())


def _is_rejected(offer: NodeOffer, position: int, device: PoolDevice, key: tuple[object, ...]) -> bool:
    """Return whether a selector would reject a device that is in use for this reason."""
    refusal = offer.checks.selector(offer.funnels[position].want, device)
    return refusal is not None and group_key(refusal) == key


def _is_whole_device(refusal: Refusal) -> bool:
    """Return whether a selector fails regardless of its text.

    Either an attribute of the device is unreadable, or the selector does not compile.
    """
    return isinstance(refusal, SelectorFailed) and (refusal.of_device or not refusal.compiles)


def _is_passed(offer: NodeOffer, told: Funnel, class_name: str) -> bool:
    """Return whether any device, free or not, passes the class's selectors."""
    if told.left:
        return True
    for removal in told.removals:
        if isinstance(removal.refusal, PoolUnusable) or getattr(removal.refusal, "class_name", None) == class_name:
            continue
        for device in removal.devices:
            refusal = offer.checks.selector(told.want, device)
            if getattr(refusal, "class_name", None) != class_name:
                return True
    return False
