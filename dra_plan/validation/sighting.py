"""Which slices of a pool one node gathers together: only these can contradict each other. Knows no rules."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.allocator import AllocationError
from dra_plan.allocator.pools import PoolSlice, targets
from dra_plan.api.core import Node, NodeSelector
from dra_plan.api.resource import Device, ResourceSliceSpec
from dra_plan.remembered import Remembered


class Sighting:
    """Whether a node sees two slices, for nodes that the input has and for those that slices name."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._known: Remembered[tuple[PoolSlice, PoolSlice], bool] = Remembered()

    def joins(self, one: PoolSlice, other: PoolSlice) -> bool:
        """Whether a node is known that sees both, or a node would that meets one and the same selector."""
        spec, beside = one.object.spec, other.object.spec
        if spec.node_name and beside.node_name:
            return spec.node_name == beside.node_name
        return self._known.of(
            (one, other), lambda: _meet(spec, beside) or any(_sees(node, one, other) for node in self._nodes)
        )


def _sees(node: Node, *slices: PoolSlice) -> bool:
    try:
        return all(targets(slice_, node) for slice_ in slices)
    except AllocationError:
        return False  # a selector that can't be read is told by other rules


def _meet(spec: ResourceSliceSpec, beside: ResourceSliceSpec) -> bool:
    one, other = _places(spec), _places(beside)
    if _EVERYWHERE in one or _EVERYWHERE in other:
        return bool(one and other)
    return any(place in other for place in one)


_EVERYWHERE = True
_Place = str | NodeSelector | bool
"""The name of a node, a selector of nodes, or `_EVERYWHERE`."""


def _places(spec: ResourceSliceSpec) -> list[_Place]:
    """What the slice, or with per-device node selection any of its devices, says of its nodes."""
    fields: Sequence[ResourceSliceSpec | Device] = spec.devices if spec.per_device_node_selection else [spec]
    return [place for each in fields if (place := _place(each)) is not None]


def _place(fields: ResourceSliceSpec | Device) -> _Place | None:
    return fields.node_name or (_EVERYWHERE if fields.all_nodes else fields.node_selector)
