"""What a pool is: its slices and devices made ready, the state it is in, and the nodes that they are for.

How pools are put together belongs to `gathering`, what is wrong with them to `generation`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dra_plan.api import quantity
from dra_plan.api.core import Node
from dra_plan.api.resource import Device, DeviceTaint, DeviceTaintRule, ResourceSlice, ResourceSliceSpec
from dra_plan.api.selectors import as_go, node_matches, selector_problem
from dra_plan.releases import Rules

from .errors import AllocationError, Cause
from .identity import DeviceID, PoolID
from .poolproblem import PoolProblem
from .taints import tainted


class PoolState(enum.Enum):
    """What a pool is good for."""

    COMPLETE = "Complete"
    INCOMPLETE = "Incomplete"
    INVALID = "Invalid"
    OBSOLETE = "Obsolete"


Consumption = tuple[tuple[str, str, int], ...]
"""What a device takes from counters: (counter set, counter, nano-units)."""


class PoolDevice:
    """A device in its slice, with the taints that rules add. The same object serves all nodes."""

    __slots__ = ("_consumption", "device", "id", "slice", "taints")

    def __init__(self, device: Device, owner: PoolSlice, taints: Sequence[DeviceTaint]) -> None:
        self.device = device
        self.slice = owner
        self.id = DeviceID(owner.pool_id.driver, owner.pool_id.pool, device.name)
        self.taints = taints
        self._consumption: Consumption | None = None

    @property
    def consumption(self) -> Consumption:
        """What the device takes from its pool's counters."""
        if self._consumption is None:
            self._consumption = tuple(
                (entry.counter_set, name, quantity.parse(counter.value).nano)
                for entry in self.device.consumes_counters
                for name, counter in entry.counters.items()
            )
        return self._consumption

    def __repr__(self) -> str:
        return f"PoolDevice({self.id})"


class PoolSlice:
    """A slice prepared for gathering."""

    __slots__ = ("_devices", "_is_plain", "_rules", "generation", "name", "object", "pool_id", "position")

    def __init__(self, slice_: ResourceSlice, position: int = 0, rules: Sequence[DeviceTaintRule] = ()) -> None:
        spec = slice_.spec
        self.object = slice_
        self.position = position
        self.name = slice_.metadata.name
        self.pool_id = PoolID(spec.driver, spec.pool.name)
        self.generation = spec.pool.generation
        self._rules = rules
        self._devices: tuple[PoolDevice, ...] | None = None
        self._is_plain: bool | None = None

    @property
    def is_plain(self) -> bool:
        """Whether its devices have different names, and none of them takes counters or has binding conditions."""
        if self._is_plain is None:
            devices = self.object.spec.devices
            special = [device for device in devices if device.consumes_counters or device.binding_conditions]
            self._is_plain = not special and len({device.name for device in devices}) == len(devices)
        return self._is_plain

    @property
    def devices(self) -> tuple[PoolDevice, ...]:
        """The slice's devices in manifest order."""
        if self._devices is None:
            self._devices = tuple(
                PoolDevice(device, self, tainted(device, self.pool_id, self._rules))
                for device in self.object.spec.devices
            )
        return self._devices

    @property
    def has_rules(self) -> bool:
        """Whether device taint rules may add taints."""
        return bool(self._rules)

    @property
    def binds(self) -> bool:
        """Whether any device has binding conditions."""
        return any(device.binding_conditions for device in self.object.spec.devices)


@dataclass(slots=True, eq=False)
class Pool:
    """A pool as one node sees it, or several that see the same.

    `slices` are the device slices that target the node, in search order; `counter_slices` hold counter sets. `seen`
    slices were counted of `expected`; `peers` are those of the whole cluster, where these were counted. `problem` says
    how the pool contradicts itself; `superseded_by` is the newer generation that makes it obsolete.
    Only the slices of complete pools are sorted and split; incomplete and obsolete pools keep what was gathered.
    """

    id: PoolID
    generation: int
    expected: int
    seen: int
    incomplete: bool = False
    problem: PoolProblem | None = None
    superseded_by: int | None = None
    slices: list[PoolSlice] = field(default_factory=list)
    counter_slices: list[PoolSlice] = field(default_factory=list)
    peers: Sequence[PoolSlice] = ()

    @property
    def elsewhere(self) -> list[PoolSlice]:
        """The device slices that were counted and target other nodes, in input order: they matter for counters."""
        own = {*self.slices, *self.counter_slices}
        return [slice_ for slice_ in self.peers if slice_ not in own]

    @property
    def state(self) -> PoolState:
        """The state, the one that upstream tests first where several hold."""
        if self.superseded_by is not None:
            return PoolState.OBSOLETE
        if self.incomplete:
            return PoolState.INCOMPLETE
        return PoolState.COMPLETE if self.problem is None else PoolState.INVALID

    @property
    def usable(self) -> bool:
        """Whether devices may be taken from it in a release that passes over broken pools."""
        return self.state is PoolState.COMPLETE

    def devices(self) -> Iterable[PoolDevice]:
        """The devices that the node can reach, in search order."""
        for slice_ in self.slices:
            yield from slice_.devices


def is_searched(pool: Pool, rules: Rules) -> bool:
    """Whether devices may be taken from the pool."""
    return pool.usable or not (rules.skips_unusable_pools or pool.problem)


def targets(slice_: PoolSlice, node: Node) -> bool:
    """Whether the slice's own node fields, or those of any device with per-device selection, mean the node."""
    spec = slice_.object.spec
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        return _selects(spec, node, f"slice {slice_.name}")
    if spec.per_device_node_selection:
        return any(_selects(device, node, f"device {device.name} in slice {slice_.name}") for device in spec.devices)
    return False


def device_is_on(device: PoolDevice, node: Node) -> bool:
    """Whether a device may be used on the node; always true without per-device node selection."""
    if not device.slice.object.spec.per_device_node_selection:
        return True
    return _selects(device.device, node, "")


def _selects(fields: ResourceSliceSpec | Device, node: Node, where: str) -> bool:
    """The node fields of a slice or device, in upstream's order; an unreadable selector is fatal."""
    if fields.node_name:
        return fields.node_name == node.metadata.name
    if fields.all_nodes:
        return True
    if fields.node_selector is None:
        return False
    problem = selector_problem(fields.node_selector)
    if problem is not None:
        place = f"gather pool information: failed to perform node selection for {where}: " if where else ""
        text = f"{place}failed to parse node selector {as_go(fields.node_selector)}: {problem}"
        raise AllocationError(Cause("node-selector-invalid", text))
    return node_matches(fields.node_selector, node.metadata.name, node.metadata.labels)
