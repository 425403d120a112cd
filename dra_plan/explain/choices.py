"""Why a request got this device and not an earlier one: heard by a probe on the way to the solution."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_plan.allocator import DeviceID, PoolDevice, Probe
from dra_plan.allocator.reasons import DeviceReason
from dra_plan.allocator.requests import Want


@dataclass(slots=True)
class Choice:
    """A device given to a slot of a request, and those before it with the reason why not.

    Without a reason a device was tried, and nothing was found for what comes after.
    """

    want: Want
    slot: int
    device: DeviceID | None = None
    passed_over: list[tuple[PoolDevice, DeviceReason | None]] = field(default_factory=list)

    @property
    def place(self) -> tuple[int, int, int]:
        """Where the slot comes in the search."""
        return self.want.claim_index, self.want.request_index, self.slot


class Path(Probe):
    """Keeps the slots between the start and where the search is now; at the end of a search that fits, the solution."""

    def __init__(self) -> None:
        self.choices: list[Choice] = []

    def entered(self, want: Want, slot: int) -> None:
        """Slots are entered in order, so whatever stands at this place or behind it has been given up."""
        place = want.claim_index, want.request_index, slot
        while self.choices and self.choices[-1].place >= place:
            self.choices.pop()
        self.choices.append(Choice(want, slot))

    def rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        """The device can't be used in this slot now."""
        self._choice(want, slot).passed_over.append((device, reason))

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

    def _choice(self, want: Want, slot: int) -> Choice:
        """The slot's entry; what stands behind it has been given up."""
        place = want.claim_index, want.request_index, slot
        while self.choices[-1].place > place:
            self.choices.pop()
        return self.choices[-1]
