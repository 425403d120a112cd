"""Why a request got this device and not an earlier one: heard by a probe on the way to the solution."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_plan.allocator import DeviceID, PoolDevice, Probe
from dra_plan.allocator.reasons import DeviceReason, InUse
from dra_plan.allocator.requests import Want

from .funnel import Funnel, NodeOffer, offer
from .placement import Placement
from .reasons import Refusal, TakenAlready


@dataclass(slots=True)
class DeviceChoice:
    """A device given to a slot of a request, and those before it with the reason why not.

    Without a reason a device was tried, and nothing was found for what comes after.
    """

    want: Want
    slot: int
    device: DeviceID | None = None
    passed_over: list[tuple[PoolDevice, Refusal | None]] = field(default_factory=list)
    alternatives_before: list[Funnel] = field(default_factory=list)
    """For the first slot of an alternative: the alternatives before it, as they stand while nothing is taken."""
    offer: NodeOffer | None = None
    """What those were found in."""

    @property
    def place(self) -> tuple[int, int, int]:
        """Where the slot comes in the search."""
        return self.want.claim_index, self.want.request_index, self.slot


class ChoiceProbe(Probe):
    """Keeps the slots between the start and where the search is now; at the end of a search that fits, the solution."""

    def __init__(self) -> None:
        self.choices: list[DeviceChoice] = []

    def entered(self, want: Want, slot: int) -> None:
        """Slots are entered in order, so whatever stands at this place or behind it has been given up."""
        place = want.claim_index, want.request_index, slot
        while self.choices and self.choices[-1].place >= place:
            self.choices.pop()
        self.choices.append(DeviceChoice(want, slot))

    def rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        """The device can't be used in this slot now."""
        taken = isinstance(reason, InUse) and reason.claim is None
        self._choice(want, slot).passed_over.append((device, TakenAlready() if taken else reason))

    def taken(self, want: Want, slot: int, device: PoolDevice) -> None:
        """The device is tried."""
        self._choice(want, slot).device = device.id

    def retreated(self, want: Want, slot: int, device: PoolDevice) -> None:
        """It led to nothing."""
        choice = self._choice(want, slot)
        choice.device = None
        choice.passed_over.append((device, None))

    def restarted(self) -> None:
        """What was heard does not count."""
        self.choices.clear()

    def _choice(self, want: Want, slot: int) -> DeviceChoice:
        """The slot's entry; what stands behind it has been given up."""
        place = want.claim_index, want.request_index, slot
        while self.choices[-1].place > place:
            self.choices.pop()
        return self.choices[-1]


def of(placement: Placement) -> list[DeviceChoice]:
    """The choices on the way to the placement's solution. Raises nothing: the placement is known to fit."""
    path = ChoiceProbe()
    placement.ask(probe=path)
    if any(choice.want.parent for choice in path.choices):
        seen = offer(placement)
        for choice in path.choices:
            if choice.slot == 0:
                choice.offer = seen
                choice.alternatives_before = [told for told in seen.funnels if _is_before(told.want, choice.want)]
    return path.choices


def _is_before(one: Want, other: Want) -> bool:
    same = (one.claim_index, one.request_index) == (other.claim_index, other.request_index)
    return same and one.option_index < other.option_index
