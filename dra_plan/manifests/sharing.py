"""Parts of objects that many objects have word for word: decoded, checked and defaulted once, and shared.

The devices of slices on like nodes, and what claims of one template ask for. What else is in these objects is decoded
for each. Whatever does not fit, or needs a second look, is left to the usual way.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import structs

from dra_plan.api.meta import Object, ObjectMeta, StrictObject
from dra_plan.api.resource import (
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceSlice,
    ResourceSliceSpec,
)

from . import defaults, opaque, quantities
from .devicetexts import DeviceTexts

_MOST_TEXTS = 20_000
_SPAN = 64
"""Slices are told apart by their length, in so many bytes: like devices make texts of like length."""


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
    """The parts of one input that were met."""

    def __init__(self) -> None:
        self._specs: dict[bytes, ResourceClaimSpec | None] = {}
        self._devices = DeviceTexts()
        self._claims, self._lists, self._models = _Yield(tries=256), _Yield(tries=4), _Yield(tries=64)

    def read(self, kind: type[Object], text: msgspec.Raw) -> Object | None:
        """The object of this kind, sound and defaulted, with the parts that it shares; None to read it as usual.

        Raises what msgspec does for text that is no such object.
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
    """Whether it was worth to look for something in texts of about one length: mostly found, or not often tried yet."""

    def __init__(self, tries: int) -> None:
        self._tries = tries
        self._met: dict[int, tuple[int, int]] = {}

    def is_worth(self, length: int) -> bool:
        """Whether to look again."""
        looked, found = self._met.get(length, (0, 0))
        return looked < self._tries or 2 * found >= looked

    def met(self, length: int, looked: int, found: int) -> None:
        """Takes note of so many that were looked for and found."""
        before = self._met.get(length, (0, 0))
        self._met[length] = before[0] + looked, before[1] + found


def _is_simple(status: ResourceClaimStatus) -> bool:
    """Whether an allocation holds nothing that would have to be checked."""
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
