"""matchAttribute and distinctAttribute: the value a device offers, and its agreement with the devices taken so far.

Constraints are stateless: what they know about a search is in the search's ledger. Checks read it, and `take` writes to
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.api.resource import DeviceAttribute, DeviceConstraint
from dra_plan.releases import Features, Quirks

from .ledger import Ledger
from .pools import PoolDevice
from .reasons import AttributeDiffers, AttributeMissing, AttributeRepeats, ConstraintReason

AttributeValue = tuple[str, object]
"""A comparable attribute value: its type, and the value (a frozenset in list mode, None for an unknown type)."""

UNKNOWN: AttributeValue = ("unknown", None)
"""A value whose type is unknown to this release; it agrees with no value, not even with itself."""


@dataclass(slots=True, eq=False, frozen=True)
class Constraint:
    """The base of both constraints: the `index` in the claim, and the `requests` it applies to (all, if empty)."""

    claim: int
    index: int
    attribute: str
    requests: frozenset[str]
    lists: bool
    """True if values are sets (KEP-5491); otherwise lists cannot be compared."""
    blind: bool
    """True if values should be sets but are not (P11)."""

    def applies(self, request: str, full_name: str) -> bool:
        """Return whether a request, or an alternative named `REQUEST/ALTERNATIVE`, is constrained."""
        return not self.requests or request in self.requests or full_name in self.requests

    def value(self, device: PoolDevice) -> AttributeValue | None:
        """Return the value the device offers, or None if it lacks the attribute."""
        attribute = look_up(device, self.attribute)
        if attribute is None:
            return None
        return _as_set(attribute) if self.lists else _as_scalar(attribute)

    def refuses(self, ledger: Ledger, device: PoolDevice) -> ConstraintReason | None:
        """Return why the device cannot join the devices taken so far, or None."""
        raise NotImplementedError

    def take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Add a device that was not rejected to those taken."""
        raise NotImplementedError

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Add a device permanently, although it is not taken (Q21)."""
        raise NotImplementedError

    def misreads(self, device: PoolDevice) -> bool:
        """Return whether the device offers a list that the constraint should support but does not (P11)."""
        return self.blind and self.value(device) is UNKNOWN

    def overwrites(self, ledger: Ledger, request: str) -> bool:  # noqa: ARG002 - the base keeps everything
        """Return whether taking a device for the request makes the constraint forget another device."""
        return False

    def rolled_back(self, ledger: Ledger, request: str) -> bool:  # noqa: ARG002 - the base loses nothing
        """Forget what upstream loses when a later constraint rejects the device; return True if anything was lost."""
        return False


class MatchAttribute(Constraint):
    """A constraint that all devices offer the same value, or, for lists, that all have a value in common."""

    __slots__ = ()

    def refuses(self, ledger: Ledger, device: PoolDevice) -> AttributeMissing | AttributeDiffers | None:
        """Reject a value that differs from that of earlier devices.

        The first device determines the value, even if no other value can be equal to it.
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
        """Record the first device's value, or, for lists, narrow the value to what all devices have in common."""
        offered = self.value(device)
        count, pinned = ledger.pins.get(self, (0, None))
        if self.lists and offered is not None:
            common = offered if count == 0 else (offered[0], offered[1] & pinned[1])
            ledger.narrow(self, common)
        else:
            ledger.pin(self, pinned if count else offered)

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:  # noqa: ARG002 - as in take
        """Record the first device's value permanently; for later devices, only increase the number of devices."""
        count, pinned = ledger.pins.get(self, (0, None))
        ledger.leak_pin(self, pinned if count else self.value(device))


@dataclass(slots=True, eq=False, frozen=True)
class DistinctAttribute(Constraint):
    """A constraint that no two devices offer the same value, or, for lists, that no two have a value in common."""

    remembers_last: bool = False
    """Q2: only the last value of each request is remembered, and releasing any device forgets it."""

    def refuses(self, ledger: Ledger, device: PoolDevice) -> AttributeMissing | AttributeRepeats | None:
        """Reject a value that an earlier device also has, and a device whose list is not read."""
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
        """Remember the value for the device, or with Q2 for its request."""
        ledger.remember(self, self._slot(device, request), self.value(device))

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Remember the value permanently."""
        ledger.leak_remember(self, self._slot(device, request), self.value(device))

    def overwrites(self, ledger: Ledger, request: str) -> bool:
        """Return whether the request's slot is already filled (Q2)."""
        return self.remembers_last and request in ledger.remembered.get(self, {})

    def rolled_back(self, ledger: Ledger, request: str) -> bool:
        """Forget the slot of the request, even if an earlier device filled it (Q2); return True if it was filled."""
        if not self.remembers_last:
            return False
        lost = request in ledger.remembered.get(self, {})
        ledger.leak_forget(self, request)
        return lost

    def _slot(self, device: PoolDevice, request: str) -> object:
        return request if self.remembers_last else (request, device.id)


def make(claim: int, index: int, constraint: DeviceConstraint, features: Features, quirks: Quirks) -> Constraint | None:
    """Return the constraint in a claim, or None if it is of neither kind (or the caller has disabled its kind)."""
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
    """Return the attribute by its qualified name; a bare name belongs to the driver's own domain."""
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
