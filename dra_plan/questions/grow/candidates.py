"""The nodes that `grow` suggests copying if the user has named none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

from dra_plan.allocator import PoolDevice, SelectorError, View
from dra_plan.allocator.requests import Want
from dra_plan.api.inventory import Inventory
from dra_plan.planner import pools
from dra_plan.planner.owners import choose_sets
from dra_plan.planner.question import Question


def candidates(inventory: Inventory, view: View, question: Question) -> Iterator[str]:
    """Yield the first node, by name, of each kind of node that has its own devices for the question's claims.

    Nodes are of one kind if they have the same allocatable resources and equally many devices of each type. Devices in
    use are counted as well, because all devices of a new node are free.
    """
    chosen = choose_sets(inventory, view.target, question).expansion
    wants = [
        want
        for claim_set in chosen.sets
        for ready in view.requests(claim_set.claims)
        for alternatives in ready.requests
        for want in alternatives
    ]
    seen: set[Hashable] = set()
    for node in sorted(inventory.nodes, key=lambda one: one.metadata.name):
        own = (device for each in view.gatherer.local_slices(node.metadata.name) for device in each.devices)
        devices = Counter(pools.kind(device) for device in own if any(_may_get(want, device) for want in wants))
        amounts = node.status.allocatable or {}
        kind = frozenset(devices.items()), tuple(sorted((name, str(amounts[name])) for name in amounts))
        if devices and kind not in seen:
            seen.add(kind)
            yield node.metadata.name


def _may_get(want: Want, device: PoolDevice) -> bool:
    try:
        return want.device_class is not None and want.selector_refusal(device) is None
    except SelectorError:
        return False
