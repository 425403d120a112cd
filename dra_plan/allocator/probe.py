"""What watches a search. A probe is told what happens and can't change it."""

from __future__ import annotations

from .pools import PoolDevice
from .reasons import DeviceReason, RequestReason
from .requests import Want


class Probe:
    """Does nothing; subclasses overwrite what they want to hear.

    A want is a request, or one alternative of it; `slot` counts its devices from 0.
    """

    def entered(self, want: Want, slot: int) -> None:
        """The search looks for a device for this slot."""

    def refused(self, want: Want, slot: int, reason: RequestReason) -> None:
        """The want was given up before any device was tried."""

    def rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        """A device was looked at and can't be used now."""

    def taken(self, want: Want, slot: int, device: PoolDevice) -> None:
        """A device was taken; the search goes on below."""

    def retreated(self, want: Want, slot: int, device: PoolDevice) -> None:
        """Nothing was found below; the device was given back."""

    def restarted(self) -> None:
        """The search begins anew, pruned, because it takes long. What follows counts; what was told before does not."""

    def pruned(self, want: Want, slot: int) -> None:
        """Proven without search: from this slot on there is no solution."""

    def solved(self) -> None:
        """All claims have their devices."""
