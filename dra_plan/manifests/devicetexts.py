"""Devices of slices decoded from their text, where many are alike: what they share is decoded once and shared.

Lists of devices that are the same word for word are one list. Devices that differ only in what no two devices share,
such as a UUID, are made of one that was decoded. Knows nothing of slices; whatever does not fit is left to the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.json import Decoder
from msgspec.structs import replace

from dra_plan.api.resource import Device, DeviceAttribute, ResourceSlice, ResourceSliceSpec

from .quantities import are_readable

_LIST, _EACH, _ONE = Decoder(list[Device]), Decoder(list[msgspec.Raw]), Decoder(Device)
_MOST_KEPT, _MOST_CUTS = 20_000, 8
_STAND_IN = "\x7f"
"""Stands for a value that was cut out; checked to be where the value was."""


class Cut(NamedTuple):
    """An attribute whose value no two devices share, and the text before such a value."""

    name: str
    before: bytes


class _Model(NamedTuple):
    """A device, and the attributes whose values are to be replaced in devices that are alike."""

    device: Device
    cuts: tuple[Cut, ...]

    def with_values(self, values: Sequence[bytes]) -> Device:
        """A device that is alike but for these values."""
        if not values:
            return self.device
        attributes = self.device.attributes.copy()
        for cut, value in zip(self.cuts, values, strict=True):
            attributes[cut.name] = DeviceAttribute(string_value=value.decode())
        return replace(self.device, attributes=attributes)


class DeviceTexts:
    """The devices of one input that were met."""

    def __init__(self) -> None:
        self._lists: dict[bytes, list[Device] | None] = {}
        self._models: dict[bytes, _Model | None] = {}
        self._cuts: list[Cut] = []

    def whole(self, text: bytes) -> tuple[list[Device] | None, bool]:
        """The devices of a list, None if one has an amount that can't be read; and whether the list was met before.

        Raises what msgspec does for text that is no list of devices, as the other methods do.
        """
        if text in self._lists:
            return self._lists[text], True
        devices = _LIST.decode(text)
        found = devices if _is_sound(devices) else None
        if len(self._lists) < _MOST_KEPT:
            self._lists[text] = found
        return found, False

    def one_by_one(self, text: bytes) -> tuple[list[Device] | None, int]:
        """The devices of a list, None as `whole`; and how many of them were met before."""
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
        """Finds the attributes that are strings and in no two of the devices the same."""
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
    """The device as a model for others; None unless each value that was cut out is that of its attribute."""
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
