"""matchAttribute and distinctAttribute: check whether a device agrees with the devices taken so far.

A constraint has no state of its own; the ledger records the values of the devices taken so far.
"""

from __future__ import annotations

from msgspec import Struct

from dra_plan.api.resource import DeviceAttribute, DeviceConstraint
from dra_plan.releases import Features, Quirks

from .ledger import Ledger
from .pools import PoolDevice
from .reasons import AttributeDiffers, AttributeMissing, AttributeRepeats, ConstraintReason

AttributeValue = tuple[str, object]
"""The type and the value of an attribute. The value is a frozenset if lists are supported, and None if the type is
unknown.
"""

UNKNOWN: AttributeValue = ("unknown", None)
"""A value whose type this release does not know. It agrees with no value, not even with itself."""


class Constraint(Struct, frozen=True, eq=False):
    """A constraint of a claim.

    `index` is its position in the claim. `requests` are the requests that it applies to; if empty, it applies to all.
    """

    claim: int
    index: int
    attribute: str
    requests: frozenset[str]
    lists: bool
    """True if a value may be a list (KEP-5491)."""
    blind: bool
    """True if the release should support lists but treats them as scalars (P11)."""

    def applies(self, request: str, full_name: str) -> bool:
        """Return whether the constraint applies to the request.

        `full_name` is `REQUEST/ALTERNATIVE` for an alternative.
        """
        return not self.requests or request in self.requests or full_name in self.requests

    def value(self, device: PoolDevice) -> AttributeValue | None:
        """Return the device's value of the attribute, or None if the device does not have the attribute."""
        attribute = look_up(device, self.attribute)
        if attribute is None:
            return None
        return _as_set(attribute) if self.lists else _as_scalar(attribute)

    def refuses(self, ledger: Ledger, device: PoolDevice) -> ConstraintReason | None:
        """Return why the device does not agree with the devices taken so far, or None if it agrees."""
        raise NotImplementedError

    def take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Record that the device has been taken. The constraint must have accepted it."""
        raise NotImplementedError

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Record permanently that the device has been taken, although the search gives it back (Q21)."""
        raise NotImplementedError

    def misreads(self, device: PoolDevice) -> bool:
        """Return whether the device's value is a list that the release treats as a scalar (P11)."""
        return self.blind and self.value(device) is UNKNOWN

    def overwrites(self, ledger: Ledger, request: str) -> bool:  # noqa: ARG002 - the base keeps everything
        """Return whether taking a device for the request makes the constraint forget an earlier device."""
        return False

    def rolled_back(self, ledger: Ledger, request: str) -> bool:  # noqa: ARG002 - the base loses nothing
        """Forget what upstream forgets when a later constraint rejects a device.

        Return whether anything was forgotten.
        """
        return False


class MatchAttribute(Constraint, frozen=True, eq=False):
    """A constraint that requires all devices to have the same value of an attribute.

    If the values are lists, all devices must have an element in common.
    """

    def refuses(self, ledger: Ledger, device: PoolDevice) -> AttributeMissing | AttributeDiffers | None:
        """Return why the device does not agree with the devices taken so far, or None if it agrees.

        The device must have the attribute, and the same value as the first device. A value of an unknown type is
        accepted only for the first device, and only if lists are not supported.
        """
        offered = self.value(device)
        if offered is None:
            return AttributeMissing(self.index, self.attribute)
        count, pinned = ledger.pins.get(self, (0, None))
        if count == 0 and not self.lists:
            return None
        if offered is UNKNOWN or (count and not _agree(offered, pinned)):
            return AttributeDiffers(self.index, self.attribute, offered[1], pinned[1] if pinned else None)
        return None

    def take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:  # noqa: ARG002 - all requests share the value
        """Record that the device has been taken.

        The first device determines the value. If the values are lists, only the elements that all devices have are
        kept.
        """
        offered = self.value(device)
        count, pinned = ledger.pins.get(self, (0, None))
        if self.lists and offered is not None:
            common = offered if count == 0 else (offered[0], offered[1] & pinned[1])
            ledger.narrow(self, common)
        else:
            ledger.pin(self, pinned if count else offered)

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:  # noqa: ARG002 - as in take
        """Record permanently that the device has been taken. The first device determines the value."""
        count, pinned = ledger.pins.get(self, (0, None))
        ledger.leak_pin(self, pinned if count else self.value(device))


class DistinctAttribute(Constraint, frozen=True, eq=False):
    """A constraint that requires all devices to have different values of an attribute.

    If the values are lists, no two devices may have an element in common.
    """

    remembers_last: bool = False
    """True if only the last value of each request is remembered, until any device is given back (Q2)."""

    def refuses(self, ledger: Ledger, device: PoolDevice) -> AttributeMissing | AttributeRepeats | None:
        """Return why the device does not agree with the devices taken so far, or None if it agrees.

        The device must have the attribute, and a value that no earlier device has. A value of an unknown type is
        accepted only for the first device, and only if lists are not supported.
        """
        offered = self.value(device)
        if offered is None:
            return AttributeMissing(self.index, self.attribute)
        for slot, seen in ledger.remembered.get(self, {}).items():
            if offered is UNKNOWN or _agree(offered, seen):
                return AttributeRepeats(
                    self.index, self.attribute, offered[1], slot if self.remembers_last else slot[0]
                )
        if self.lists and offered is UNKNOWN:
            return AttributeMissing(self.index, self.attribute)
        return None

    def take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Record the device's value. With Q2, it replaces the value recorded for the request."""
        ledger.remember(self, self._slot(device, request), self.value(device))

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Record the value of the device permanently."""
        ledger.leak_remember(self, self._slot(device, request), self.value(device))

    def overwrites(self, ledger: Ledger, request: str) -> bool:
        """Return whether taking a device for the request replaces a recorded value (Q2)."""
        return self.remembers_last and request in ledger.remembered.get(self, {})

    def rolled_back(self, ledger: Ledger, request: str) -> bool:
        """Forget the value recorded for the request, even if an earlier device set it (Q2).

        Return whether there was such a value.
        """
        if not self.remembers_last:
            return False
        lost = request in ledger.remembered.get(self, {})
        ledger.leak_forget(self, request)
        return lost

    def _slot(self, device: PoolDevice, request: str) -> object:
        return request if self.remembers_last else (request, device.id)


def make(claim: int, index: int, constraint: DeviceConstraint, features: Features, quirks: Quirks) -> Constraint | None:
    """Return the constraint, or None if its kind is unknown or switched off."""
    requests = frozenset(constraint.requests)
    lists = features.list_attributes and not quirks.list_constraints_as_scalars
    blind = features.list_attributes and quirks.list_constraints_as_scalars
    if constraint.match_attribute is not None:
        return MatchAttribute(claim, index, constraint.match_attribute, requests, lists, blind)
    if constraint.distinct_attribute is not None:
        return DistinctAttribute(
            claim, index, constraint.distinct_attribute, requests, lists, blind, quirks.distinct_remembers_last
        )
    return None


def look_up(device: PoolDevice, name: str) -> DeviceAttribute | None:
    """Return the device's attribute, or None if the device does not have it.

    An attribute name without a domain belongs to the domain of the driver.
    """
    attributes = device.device.attributes
    attribute = attributes.get(name)
    if attribute is not None:
        return attribute
    domain, slash, identifier = name.partition("/")
    return attributes.get(identifier) if slash and domain == device.id.driver else None


def _as_scalar(attribute: DeviceAttribute) -> AttributeValue:
    """Return the type and the value.

    Versions remain strings, because a strict semantic version has only one spelling.
    """
    if attribute.string_value is not None:
        return ("string", attribute.string_value)
    if attribute.int_value is not None:
        return ("int", attribute.int_value)
    if attribute.bool_value is not None:
        return ("bool", attribute.bool_value)
    if attribute.version_value is not None:
        return ("version", attribute.version_value)
    return UNKNOWN


def _as_set(attribute: DeviceAttribute) -> AttributeValue:
    for kind, values in (
        ("int", attribute.int_values),
        ("bool", attribute.bool_values),
        ("string", attribute.string_values),
        ("version", attribute.version_values),
    ):
        if values:
            return (kind, frozenset(values))
    kind, value = _as_scalar(attribute)
    return UNKNOWN if kind == "unknown" else (kind, frozenset((value,)))


def _agree(offered: AttributeValue, other: AttributeValue) -> bool:
    """Return whether two values agree.

    They agree if they have the same type and the same value, or a value in common. Types never mix, and unknown types
    agree with nothing.
    """
    if offered[0] != other[0] or offered is UNKNOWN:
        return False
    mine, theirs = offered[1], other[1]
    if isinstance(mine, frozenset) and isinstance(theirs, frozenset):
        return not mine.isdisjoint(theirs)
    return mine == theirs
