"""Number the kinds of devices. Devices are of the same kind if a set of claims cannot tell them apart.

Most devices in a fleet differ only in their names and serial numbers, which no request reads. Which claims use a device
is not part of its kind. Searches and explanations that read the same attributes of the same slices share the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from dra_plan.api import semver
from dra_plan.api.resource import Device, DeviceAttribute, DeviceTaint
from dra_plan.api.semver import SemverError

from .ledger import AllocatedState, DeviceUse
from .pools import Pool, PoolDevice, PoolSlice
from .reasons import SelectorError
from .requests import ClaimRequests, SelectorCondition, Want

_MOST_PARTS = 10_000
"""The maximum number of devices whose parts are kept to recognize them in similar devices."""

_encode = msgspec.json.Encoder(decimal_format="string").encode


class ReadNames(NamedTuple):
    """The attributes that selectors and constraints read."""

    selected: tuple[tuple[str, str], ...]
    """The domain and identifier of each attribute that a selector reads."""
    constrained: tuple[str, ...]
    reads_all: bool
    """True if a selector may read any attribute."""


def read_names(claims: Iterable[ClaimRequests]) -> ReadNames | None:
    """Return the attributes that the claims read, or None if this is not known.

    It is not known if a selector does not compile, or if a request or constraint has a problem.
    """
    claims = list(claims)
    wants = [want for ready in claims for options in ready.requests for want in options]
    if any(want.problem for want in wants) or any(ready.problem for ready in claims):
        return None
    found: dict[tuple[str, str], None] = {}
    reads_all = False
    for condition in _conditions(wants):
        try:
            reads = condition.compiled().reads
        except SelectorError:
            return None
        if reads is None:
            reads_all = True
            continue
        found.update({(domain, name): None for kind, domain, name in sorted(reads) if kind == "attributes"})
    constraints = dict.fromkeys(constraint.attribute for ready in claims for constraint in ready.constraints)
    return ReadNames(tuple(found), tuple(constraints), reads_all)


def _conditions(wants: Iterable[Want]) -> list[SelectorCondition]:
    return list(dict.fromkeys(condition for want in wants for condition in want.conditions))


class DeviceFacts(NamedTuple):
    """Everything that a search can read from a device, except its users."""

    driver: str
    values: tuple[DeviceAttribute | None, ...]
    """The attributes that selectors and constraints read."""
    capacity: bytes
    special: bytes
    """The device's taints, counters and binding conditions, encoded."""
    is_shared: bool
    attributes: bytes | None
    """All attributes, encoded, or None if the attributes in `values` are enough."""


class DeviceKinds:
    """Numbers for the kinds of devices.

    A device that cannot be compared with others has None instead of a number.
    """

    def __init__(self, names: ReadNames) -> None:
        self._names = names
        self.kinds: list[DeviceFacts] = []
        """The kinds, indexed by their numbers."""
        self._numbers: dict[DeviceFacts, int] = {}
        self._by_slice: dict[PoolSlice, tuple[int | None, ...]] = {}
        self._alike: dict[tuple[int | None, ...], tuple[int | None, ...]] = {}
        """Equal results, shared by similar slices."""
        self._by_list: dict[tuple[str, int], tuple[int | None, ...]] = {}
        """The kinds, keyed by driver and by the identity of the device list, which similar slices may share."""
        self._by_parts: dict[tuple[Hashable, ...], tuple[int | None, object, object]] = {}
        """The kinds, keyed by the identity of the parts that are read, which are kept alive."""
        self._names_by_driver: dict[str, tuple[tuple[str, str | None], ...]] = {}
        self._versions: set[str] = set()
        self.states = NodeStates(self)

    def of(self, slice_: PoolSlice) -> tuple[int | None, ...]:
        """Return the kind of each device in the slice."""
        found = self._by_slice.get(slice_)
        if found is None:
            found = self._by_slice[slice_] = self._found(slice_)
        return found

    def of_device(self, device: PoolDevice) -> int | None:
        """Return the kind of the device."""
        return self.of(device.slice)[device.slice.devices.index(device)]

    def _found(self, slice_: PoolSlice) -> tuple[int | None, ...]:
        devices = slice_.object.spec.devices
        key = None if slice_.has_rules else (slice_.object.spec.driver, id(devices))
        known = self._by_list.get(key) if key is not None else None
        if known is not None:
            return known
        driver = slice_.object.spec.driver
        read = self._read_from(driver)
        numbers = tuple([self._number(device, driver, read, slice_.taints_of(device)) for device in devices])
        numbers = self._alike.setdefault(numbers, numbers)
        if key is not None:
            self._by_list[key] = numbers
        return numbers

    def _number(
        self, device: Device, driver: str, read: Sequence[tuple[str, str | None]], taints: Sequence[DeviceTaint]
    ) -> int | None:
        attributes, versions = device.attributes, self._versions
        for each in attributes.values():
            if each.string_value is not None or each.int_value is not None or each.version_value in versions:
                continue
            if not self._is_readable(each):
                return None
        values = [attributes.get(name) or attributes.get(other) for name, other in read]  # type: ignore[arg-type]
        special = taints or device.consumes_counters or device.binding_conditions
        if special or self._names.reads_all:
            return self._of_facts(device, driver, taints, values)
        capacity, shared = device.capacity, device.allow_multiple_allocations
        key = (driver, shared, id(capacity) if capacity else 0, *map(id, values))
        known = self._by_parts.get(key)
        if known is None:
            known = self._of_facts(device, driver, taints, values), capacity, values
            if len(self._by_parts) < _MOST_PARTS:
                self._by_parts[key] = known
        return known[0]

    def _of_facts(
        self, device: Device, driver: str, taints: Sequence[DeviceTaint], values: Sequence[DeviceAttribute | None]
    ) -> int | None:
        special = taints or device.consumes_counters or device.binding_conditions
        kind = DeviceFacts(
            driver,
            tuple(values),
            _encode(device.capacity) if device.capacity else b"",
            _encode((taints, device.consumes_counters, device.binding_conditions)) if special else b"",
            bool(device.allow_multiple_allocations),
            _encode(device.attributes) if self._names.reads_all else None,
        )
        try:
            number = self._numbers.setdefault(kind, len(self.kinds))
        except TypeError:  # one of the values that are read is a list, which cannot be compared
            return None
        if number == len(self.kinds):
            self.kinds.append(kind)
        return number

    def _is_readable(self, attribute: DeviceAttribute) -> bool:
        """Return whether the attribute is a number, a Boolean, or a version that can be parsed.

        If one attribute cannot be converted, every selector fails on the device, whichever attribute it reads. The
        search handles lists itself.
        """
        if attribute.int_value is not None or attribute.bool_value is not None:
            return True
        text = attribute.version_value
        if text is None or text in self._versions:
            return text is not None
        try:
            semver.parse(text)
        except SemverError:
            return False
        self._versions.add(text)
        return True

    def _read_from(self, driver: str) -> tuple[tuple[str, str | None], ...]:
        """Return the attributes to read from the driver's devices, each with two names.

        In the driver's own domain, one is bare.
        """
        if driver not in self._names_by_driver:
            names = [(f"{d}/{i}", i if d == driver else None) for d, i in self._names.selected]
            names += [_constraint_names(attribute, driver) for attribute in self._names.constrained]
            self._names_by_driver[driver] = tuple(dict.fromkeys(names))
        return self._names_by_driver[driver]


def _constraint_names(attribute: str, driver: str) -> tuple[str, str | None]:
    domain, slash, identifier = attribute.partition("/")
    return attribute, identifier if slash and domain == driver else None


class NodeStates:
    """Numbers for the states of nodes.

    Two nodes are in the same state if they have devices of the same kinds, in the same order and with the same uses. A
    search that reads nothing else has the same result on both nodes. A node has no state if it can use devices that
    other nodes can use, or if one of its devices can affect another.
    """

    def __init__(self, kinds: DeviceKinds) -> None:
        self._kinds = kinds
        self._numbers: dict[Hashable, int] = {}
        self._device_numbers: dict[tuple[int | None, DeviceUse], int] = {}
        self.slices: list[tuple[tuple[int, ...], ...]] = []
        """By node state, the states of the devices in each slice."""
        self.devices: list[tuple[int | None, DeviceUse, PoolDevice]] = []
        """By device state, its kind, its use, and one device in that state."""
        self._known: dict[str, tuple[int, int | None]] = {}
        """The last known version of each node, with its state."""
        self._plain: dict[PoolSlice, bool] = {}

    def get(self, node: str, version: int, pools: Callable[[], Sequence[Pool]], state: AllocatedState) -> int | None:
        """Return the node's state, or None if it has none. The result is cached for each `version` of the node."""
        known = self._known.get(node)
        if known is None or known[0] != version:
            known = self._known[node] = version, self._number(pools(), state)
        return known[1]

    def _number(self, pools: Sequence[Pool], state: AllocatedState) -> int | None:
        found: list[tuple[int, ...]] = []
        for pool in pools:
            if not pool.usable:
                return None
            for slice_ in pool.slices:
                if not self._is_plain(slice_):
                    return None
                found.append(self._of_devices(slice_, state))
        number = self._numbers.setdefault(tuple(found), len(self._numbers))
        if number == len(self.slices):
            self.slices.append(tuple(found))
        return number

    def _of_devices(self, slice_: PoolSlice, state: AllocatedState) -> tuple[int, ...]:
        known, numbers = self._device_numbers, []
        uses = state.uses(slice_.pool_id, slice_, slice_.device_names)
        for index, raw in enumerate(zip(self._kinds.of(slice_), uses, strict=True)):
            number = known.get(raw)
            if number is None:
                number = known[raw] = len(self.devices)
                self.devices.append((*raw, slice_.devices[index]))
            numbers.append(number)
        return tuple(numbers)

    def _is_plain(self, slice_: PoolSlice) -> bool:
        known = self._plain.get(slice_)
        if known is None:
            spec = slice_.object.spec
            is_own = bool(spec.node_name) and not spec.per_device_node_selection and not spec.shared_counters
            known = self._plain[slice_] = (
                is_own
                and None not in self._kinds.of(slice_)
                and not any(device.consumes_counters for device in spec.devices)
            )
        return known


class KnownKinds:
    """The device kinds in one cluster, cached by the attributes that the claims read."""

    def __init__(self) -> None:
        self._found: dict[Hashable, DeviceKinds] = {}

    def of(self, claims: Sequence[ClaimRequests]) -> DeviceKinds | None:
        """Return the device kinds for these claims, or None if it is not known which attributes the claims read."""
        names = read_names(claims)
        if names is None:
            return None
        return self._found.setdefault(names, DeviceKinds(names))
