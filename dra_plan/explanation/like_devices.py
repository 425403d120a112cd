"""Reasons why devices cannot serve a request, found once for all devices of a kind (`allocator.kinds`).

Devices with counters, shared capacity or their own node selection are examined separately, because the result also
depends on the node and on other claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from dra_plan.allocator import PoolDevice, View
from dra_plan.allocator.pools import PoolSlice
from dra_plan.allocator.requests import ClaimRequests, Want

from .reasons import Refusal, SelectorFailed


class LikeDevices:
    """The known reasons for rejecting devices of each kind, for the requests of a claim set."""

    def __init__(self, view: View, requests: Sequence[ClaimRequests]) -> None:
        self._kinds = view.device_kinds.of(requests)
        self._selectors: dict[tuple[Want, int], Refusal | None] = {}
        self._refusals: dict[tuple[Want, int], Refusal | None] = {}

    def kind(self, want: Want, device: PoolDevice) -> int | None:
        """Return the number of the device's kind, or None if free devices of this kind can have different reasons."""
        own = device.device
        special = own.consumes_counters or own.allow_multiple_allocations
        if self._kinds is None or want.takes_all or want.capacity or special:
            return None
        return None if device.slice.object.spec.per_device_node_selection else self._kinds.of_device(device)

    def number(self, device: PoolDevice) -> int | None:
        """Return the number of the device's kind, or None if the device has to be examined separately."""
        return self._kinds.of_device(device) if self._kinds is not None else None

    def counted(self, slices: Iterable[PoolSlice]) -> list[tuple[PoolDevice, int]]:
        """Return one device of each kind in the slices, with the number of devices of the kind.

        Kinds are in the order of their first devices.
        """
        firsts: dict[int | PoolDevice, PoolDevice] = {}
        counts: Counter[int | PoolDevice] = Counter()
        for slice_, numbers, count in self._alike(slices):
            for device, number in zip(slice_.devices, numbers, strict=True):
                kind = device if number is None else number
                firsts.setdefault(kind, device)
                counts[kind] += count
        return [(device, counts[kind]) for kind, device in firsts.items()]

    def _alike(self, slices: Iterable[PoolSlice]) -> Iterator[tuple[PoolSlice, Sequence[int | None], int]]:
        """Yield the first of the slices with devices of the same kinds, these kinds, and the number of such slices."""
        found: dict[object, tuple[PoolSlice, Sequence[int | None]]] = {}
        counts: Counter[object] = Counter()
        for slice_ in slices:
            numbers = self._kinds.of(slice_) if self._kinds is not None else (None,) * len(slice_.devices)
            key = slice_ if None in numbers else numbers
            found.setdefault(key, (slice_, numbers))
            counts[key] += 1
        return ((*each, counts[key]) for key, each in found.items())

    def refusal(self, want: Want, kind: int, find: Callable[[], Refusal | None]) -> Refusal | None:
        """Return the first reason for rejecting free devices of the kind, or None if there is none.

        If the reason is not known yet, `find` determines it for one of the devices.
        """
        return _known(self._refusals, (want, kind), find)

    def selector(self, want: Want, device: PoolDevice, find: Callable[[], Refusal | None]) -> Refusal | None:
        """Return why the selectors reject the device, or None if they accept it.

        If the answer is not known for the device's kind, `find` determines it for this device.
        """
        kind = self.number(device)
        return find() if kind is None else _known(self._selectors, (want, kind), find)


def _known(
    known: dict[tuple[Want, int], Refusal | None], key: tuple[Want, int], find: Callable[[], Refusal | None]
) -> Refusal | None:
    """Return the known reason; a selector that fails is not kept, because its error names the device."""
    if key in known:
        return known[key]
    found = find()
    if not isinstance(found, SelectorFailed):
        known[key] = found
    return found
