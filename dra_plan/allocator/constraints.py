"""matchAttribute and distinctAttribute: what a device offers, and whether that goes with the devices taken so far.

Constraints hold no state; what they know of a search is in its ledger. Checks read, `take` writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.api.resource import DeviceAttribute, DeviceConstraint
from dra_plan.releases import Features, Quirks

from .ledger import Ledger
from .pools import PoolDevice
from .reasons import AttributeDiffers, AttributeMissing, AttributeRepeats, ConstraintReason

AttributeValue = tuple[str, object]
"""A comparable attribute value: its type, and the value (a frozenset in list mode; None for an unknown type)."""

UNKNOWN: AttributeValue = ("unknown", None)
"""A value of a type that this release does not know; it agrees with nothing, not even itself."""


@dataclass(slots=True, eq=False, frozen=True)
class Constraint:
    """What match and distinct share: `index` in the claim, and the `requests` it applies to (empty: all)."""

    claim: int
    index: int
    attribute: str
    requests: frozenset[str]
    lists: bool
    """Values are sets (KEP-5491); otherwise lists compare with nothing."""
    blind: bool
    """Values should be sets and are not (P11)."""

    def applies(self, request: str, full_name: str) -> bool:
        """Whether a request, or an alternative with its `REQUEST/ALTERNATIVE` name, is constrained."""
        return not self.requests or request in self.requests or full_name in self.requests

    def value(self, device: PoolDevice) -> AttributeValue | None:
        """What the device offers, or None when it lacks the attribute."""
        attribute = look_up(device, self.attribute)
        if attribute is None:
            return None
        return _as_set(attribute) if self.lists else _as_scalar(attribute)

    def refuses(self, ledger: Ledger, device: PoolDevice) -> ConstraintReason | None:
        """Why the device can't join the devices taken so far, or None."""
        raise NotImplementedError

    def take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Adds a device that was not refused to those taken."""
        raise NotImplementedError

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Adds a device for good, although it is not taken (Q21)."""
        raise NotImplementedError

    def misreads(self, device: PoolDevice) -> bool:
        """Whether the device offers a list that the constraint should, and does not, understand (P11)."""
        return self.blind and self.value(device) is UNKNOWN

    def overwrites(self, ledger: Ledger, request: str) -> bool:  # noqa: ARG002 - the base keeps everything
        """Whether taking a device for the request makes the constraint forget another one."""
        return False

    def rolled_back(self, ledger: Ledger, request: str) -> bool:  # noqa: ARG002 - the base loses nothing
        """Forgets what upstream loses when a later constraint refuses the device; True if anything was lost."""
        return False


class MatchAttribute(Constraint):
    """All devices offer the same value; with lists, all have a value in common."""

    __slots__ = ()

    def refuses(self, ledger: Ledger, device: PoolDevice) -> AttributeMissing | AttributeDiffers | None:
        """Refuses another value than the devices before have; the first fixes it, even one that nothing can equal."""
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
        """The first device fixes the value; with lists, each one narrows it to what all have in common."""
        offered = self.value(device)
        count, pinned = ledger.pins.get(self, (0, None))
        if self.lists and offered is not None:
            common = offered if count == 0 else (offered[0], offered[1] & pinned[1])
            ledger.narrow(self, common)
        else:
            ledger.pin(self, pinned if count else offered)

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:  # noqa: ARG002 - as in take
        """The first device fixes the value for good; a later one only counts."""
        count, pinned = ledger.pins.get(self, (0, None))
        ledger.leak_pin(self, pinned if count else self.value(device))


@dataclass(slots=True, eq=False, frozen=True)
class DistinctAttribute(Constraint):
    """No two devices offer the same value; with lists, no two have a value in common."""

    remembers_last: bool = False
    """Q2: one value is remembered per request, the last one, and giving any device back forgets it."""

    def refuses(self, ledger: Ledger, device: PoolDevice) -> AttributeMissing | AttributeRepeats | None:
        """Refuses a value that a device before has, and one whose list nobody reads."""
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
        """Remembers the value for the device, or with Q2 for its request."""
        ledger.remember(self, self._slot(device, request), self.value(device))

    def leak_take(self, ledger: Ledger, device: PoolDevice, request: str) -> None:
        """Remembers the value for good."""
        ledger.leak_remember(self, self._slot(device, request), self.value(device))

    def overwrites(self, ledger: Ledger, request: str) -> bool:
        """Whether the request's slot is filled already (Q2)."""
        return self.remembers_last and request in ledger.remembered.get(self, {})

    def rolled_back(self, ledger: Ledger, request: str) -> bool:
        """Forgets the slot of the request, also where an earlier device filled it (Q2); True if it was filled."""
        if not self.remembers_last:
            return False
        lost = request in ledger.remembered.get(self, {})
        ledger.leak_forget(self, request)
        return lost

    def _slot(self, device: PoolDevice, request: str) -> object:
        return request if self.remembers_last else (request, device.id)


def make(claim: int, index: int, constraint: DeviceConstraint, features: Features, quirks: Quirks) -> Constraint | None:
    """The constraint of a claim, or None when it has neither kind (or a kind that is switched off by the caller)."""
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
    """The attribute by its qualified name; a bare name counts for the driver's own domain."""
    attributes = device.device.attributes
    attribute = attributes.get(name)
    if attribute is not None:
        return attribute
    domain, slash, identifier = name.partition("/")
    return attributes.get(identifier) if slash and domain == device.id.driver else None


def _as_scalar(attribute: DeviceAttribute) -> AttributeValue:
    """Versions compare as text: strict semantic versions have one spelling."""
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
    """Same type and same value, or a value in common; types never mix, and unknown types agree with nothing."""
    if offered[0] != other[0] or offered is UNKNOWN:
        return False
    mine, theirs = offered[1], other[1]
    if isinstance(mine, frozenset) and isinstance(theirs, frozenset):
        return not mine.isdisjoint(theirs)
    return mine == theirs
