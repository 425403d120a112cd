"""Every set of counter-consuming devices that one pool can hand out at a time, by the allocator's own counters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.allocator.capacity import Counters
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.view import View
from dra_plan.manifests.load import load
from dra_plan.releases import target


def possible_sets(paths: Iterable[str], driver: str) -> Iterator[tuple[str, ...]]:
    """Names of devices of the only pool of `driver` on the first node: each set once, in pool order, none empty."""
    inventory = load([str(path) for path in paths])
    view = View.of(inventory, target("1.36"))
    [pool] = [pool for pool in view.gatherer.gather(inventory.nodes[0]) if pool.id.driver == driver]
    counters = Counters(view.state, view.target, view.gatherer.slices, view.shared_counter_names)
    ledger, devices = Ledger(1), [device for device in pool.devices() if device.device.consumes_counters]

    def extend(taken: tuple[str, ...], rest: list[PoolDevice]) -> Iterator[tuple[str, ...]]:
        for position, device in enumerate(rest):
            if counters.refuses(ledger, device, pool, set()) is not None:
                continue
            mark = ledger.mark()
            ledger.charge(counters.key(device), device.consumption)
            more = (*taken, device.device.name)
            yield more
            yield from extend(more, rest[position + 1 :])
            ledger.rewind(mark)

    yield from extend((), devices)
