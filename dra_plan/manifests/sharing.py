"""Parts of objects that occur often with the same text, and are therefore decoded once and shared.

Contents: devices, many of which are alike on nodes of one type; slices, which share devices; and claims, which share
the requests of their template. Anything that needs a further check is left to `objects`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import structs
from msgspec.json import Decoder
from msgspec.structs import replace

from dra_plan.api.meta import Object, ObjectMeta, StrictObject
from dra_plan.api.resource import (
    Device,
    DeviceAttribute,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceSlice,
    ResourceSliceSpec,
)

from . import defaults, opaque, quantities
from .quantities import are_readable

# -- devices -----------------------------------------------------------------------------------------------------------
# Lists of devices with identical text become one list. Devices that differ only in attributes that no two devices
# share, such as a UUID, are copies of a decoded one, with these values replaced.

_LIST, _EACH, _ONE = Decoder(list[Device]), Decoder(list[msgspec.Raw]), Decoder(Device)
_MOST_KEPT, _MOST_CUTS = 20_000, 8
_STAND_IN = "\x7f"
"""A placeholder for a value that was cut out; it is checked to be where the value was."""


class Cut(NamedTuple):
    """An attribute whose value differs between devices, and the text before the value."""

    name: str
    before: bytes


class _Model(NamedTuple):
    """A device, and the attributes whose values are replaced in similar devices."""

    device: Device
    cuts: tuple[Cut, ...]

    def with_values(self, values: Sequence[bytes]) -> Device:
        """Return a copy of the device with these values."""
        if not values:
            return self.device
        attributes = self.device.attributes.copy()
        for cut, value in zip(self.cuts, values, strict=True):
            attributes[cut.name] = DeviceAttribute(string_value=value.decode())
        return replace(self.device, attributes=attributes)


class DeviceTexts:
    """The devices in an input that have been decoded so far."""

    def __init__(self) -> None:
        self._lists: dict[bytes, list[Device] | None] = {}
        self._models: dict[bytes, _Model | None] = {}
        self._cuts: list[Cut] = []

    def whole(self, text: bytes) -> tuple[list[Device] | None, bool]:
        """Return the devices in a list, and whether an equal list was decoded before.

        The devices are None if a quantity in them is invalid. Raises msgspec's errors for text that is not a list of
        devices.
        """
        if text in self._lists:
            return self._lists[text], True
        devices = _LIST.decode(text)
        found = devices if _is_sound(devices) else None
        if len(self._lists) < _MOST_KEPT:
            self._lists[text] = found
        return found, False

    def one_by_one(self, text: bytes) -> tuple[list[Device] | None, int]:
        """Return the devices in a list, and how many of them were built from an earlier, similar device.

        The devices are None if a quantity in them is invalid. Raises msgspec's errors for text that is not a list of
        devices.
        """
        if b"\\" in text:
            return None, 0
        found, new = [], 0
        for raw in _EACH.decode(text):
            values: list[bytes] = []
            cuts: list[Cut] = []
            rest = bytes(raw)
            for cut in self._cuts:
                head, before, tail = rest.partition(cut.before)
                if before:
                    value, _, tail = tail.partition(b'"')
                    rest = head + before + tail
                    values.append(value)
                    cuts.append(cut)
            model = self._models.get(rest)
            if model is not None:
                found.append(model.with_values(values))
                continue
            device = _ONE.decode(raw)
            if not _is_sound([device]):
                return None, 0
            found.append(device)
            new += 1
            if len(self._models) < _MOST_KEPT and rest not in self._models:
                self._models[rest] = _model(raw, device, tuple(cuts), values)
        if new > 1:
            self._learn(text, found)
        return found, len(found) - new

    def _learn(self, text: bytes, devices: Sequence[Device]) -> None:
        """Find the attributes that are strings and differ on all devices."""
        known = {cut.name for cut in self._cuts}
        for name in devices[0].attributes:
            if name in known:
                continue
            values = [attributes[name].string_value for each in devices if name in (attributes := each.attributes)]
            if len(set(values)) < len(devices) or None in values or len(self._cuts) == _MOST_CUTS:
                continue
            before = re.search(rb'"%s"\s*:\s*\{\s*"string"\s*:\s*"' % re.escape(name.encode()), text)
            if before is not None:
                self._cuts.append(Cut(name, before[0]))


def _is_sound(devices: list[Device]) -> bool:
    return are_readable(ResourceSlice(spec=ResourceSliceSpec(devices=devices)))


def _model(raw: msgspec.Raw, device: Device, cuts: tuple[Cut, ...], values: Sequence[bytes]) -> _Model | None:
    """Return the device as a model for others; None unless each value that was cut out is its attribute's value."""
    made = _Model(device, cuts)
    if _ONE.decode(_marked(bytes(raw), cuts)) != made.with_values([_mark(cut).encode() for cut in cuts]):
        return None
    return made if made.with_values(values) == device else None


def _marked(text: bytes, cuts: Iterable[Cut]) -> bytes:
    for cut in cuts:
        head, before, tail = text.partition(cut.before)
        _, quote, tail = tail.partition(b'"')
        text = head + before + _mark(cut).encode() + quote + tail
    return text


def _mark(cut: Cut) -> str:
    return f"{_STAND_IN}{cut.name}"


# -- slices and claims -------------------------------------------------------------------------------------------------

_MOST_TEXTS = 20_000
_SPAN = 64
"""The step in bytes by which slices are grouped by length, because similar devices have texts of similar length."""


class _ClaimText(StrictObject, frozen=True):
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: ResourceClaimStatus | None = None


class _SliceSpecText(ResourceSliceSpec, frozen=True):
    devices: msgspec.Raw = msgspec.Raw(b"[]")  # type: ignore[assignment]


class _SliceText(StrictObject, frozen=True):
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: _SliceSpecText = _SliceSpecText()


_CLAIM, _CLAIM_SPEC = msgspec.json.Decoder(_ClaimText), msgspec.json.Decoder(ResourceClaimSpec)
_SLICE = msgspec.json.Decoder(_SliceText)


class SharedParts:
    """The parts of objects in an input that have been decoded so far and that later objects can share."""

    def __init__(self) -> None:
        self._specs: dict[bytes, ResourceClaimSpec | None] = {}
        self._devices = DeviceTexts()
        self._claims, self._lists, self._models = _Yield(tries=256), _Yield(tries=4), _Yield(tries=512)

    def read(self, kind: type[Object], text: msgspec.Raw) -> Object | None:
        """Return the object, valid and with its defaults, or None if it must be decoded in the usual way.

        Raises msgspec's errors for text that is not such an object.
        """
        if kind is ResourceClaim:
            return self._claim(text)
        return self._slice(text) if kind is ResourceSlice else None

    def _claim(self, text: msgspec.Raw) -> ResourceClaim | None:
        if not self._claims.is_worth(0):
            return None
        claim = _CLAIM.decode(text)
        status = claim.status
        if status is not None and (status.devices or not _is_simple(status)):
            return None
        written = bytes(claim.spec)
        is_known = written in self._specs
        self._claims.met(0, 1, int(is_known))
        spec = self._specs[written] if is_known else _sound_spec(claim.spec)
        if not is_known and len(self._specs) < _MOST_TEXTS:
            self._specs[written] = spec
        if spec is None:
            return None
        return ResourceClaim(
            api_version=claim.api_version, kind=claim.kind, metadata=claim.metadata, spec=spec, status=status
        )

    def _slice(self, text: msgspec.Raw) -> ResourceSlice | None:
        length = len(memoryview(text)) // _SPAN
        lists, models = self._lists, self._models
        if not (lists.is_worth(length) or models.is_worth(length)):
            return None
        read = _SLICE.decode(text)
        if read.spec.shared_counters:
            return None
        written = bytes(read.spec.devices)
        if lists.is_worth(length):
            devices, is_known = self._devices.whole(written)
            lists.met(length, 1, int(is_known))
        else:
            devices, known = self._devices.one_by_one(written)
            models.met(length, len(devices or "."), known)
        if devices is None:
            return None
        fields: dict[str, Any] = structs.asdict(read.spec)
        fields["devices"] = devices
        return ResourceSlice(
            api_version=read.api_version, kind=read.kind, metadata=read.metadata, spec=ResourceSliceSpec(**fields)
        )


class _Yield:
    """How often the search for shared parts in texts of similar length succeeds.

    The search continues if most parts were found, or few were tried.
    """

    def __init__(self, tries: int) -> None:
        self._tries = tries
        self._met: dict[int, tuple[int, int]] = {}

    def is_worth(self, length: int) -> bool:
        """Return whether to search in a string of this length."""
        looked, found = self._met.get(length, (0, 0))
        return looked < self._tries or 2 * found >= looked

    def met(self, length: int, looked: int, found: int) -> None:
        """Record the number of parts searched for, and the number found."""
        before = self._met.get(length, (0, 0))
        self._met[length] = before[0] + looked, before[1] + found


def _is_simple(status: ResourceClaimStatus) -> bool:
    """Return whether an allocation contains nothing that needs a check."""
    allocation = status.allocation
    if allocation is None:
        return True
    devices = allocation.devices
    return not devices.config and all(result.consumed_capacity is None for result in devices.results)


def _sound_spec(text: msgspec.Raw) -> ResourceClaimSpec | None:
    claim = ResourceClaim(spec=_CLAIM_SPEC.decode(text))
    if not quantities.are_readable(claim) or opaque.is_too_deep(claim):
        return None
    return defaults.apply(claim).spec
