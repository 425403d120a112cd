"""The IDs of pools and devices (upstream's PoolID and DeviceID), and the problems that make a pool invalid."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from dra_plan.api.resource import ResourceSliceSpec
from dra_plan.errors import UsageError


class PoolID(NamedTuple):
    """The ID of a pool, written as `DRIVER/POOL`."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceID(NamedTuple):
    """The ID of a device, written as `DRIVER/POOL/DEVICE`."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"

    @property
    def pool_id(self) -> PoolID:
        """The device's pool."""
        return PoolID(self.driver, self.pool)


def named_device(text: str) -> DeviceID:
    """Return the device named by `DRIVER/POOL/DEVICE`. The pool name may contain slashes.

    Raises UsageError if the text does not have this form.
    """
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    if not (driver and pool and device):
        raise UsageError(f"--device: {text!r} is not DRIVER/POOL/DEVICE")
    return DeviceID(driver, pool, device)


# -- contradictions in a pool ------------------------------------------------------------------------------------------


class PoolProblem(Struct, frozen=True, kw_only=True):
    """A problem that makes a pool invalid. `str()` returns upstream's message.

    If `twice` is true, two devices are named `device` or, if `device` is empty, two counter sets are named
    `counter_set`. Otherwise, a device consumes a counter set that does not exist, or a `counter` that the counter set
    does not have.
    """

    device: str = ""
    counter_set: str = ""
    counter: str = ""
    twice: bool = False

    def __str__(self) -> str:
        if self.device:
            return f"duplicate device name {self.device}"
        if self.twice:
            return f"duplicate counter set name {self.counter_set}"
        if self.counter:
            return f"counter {self.counter} not found in counter set {self.counter_set}"
        return f"counter set {self.counter_set} not found"

    def concerns(self, spec: ResourceSliceSpec) -> bool:
        """Return whether the problem involves the slice with this spec."""
        if self.device:
            return any(device.name == self.device for device in spec.devices)
        if self.twice:
            return any(counter_set.name == self.counter_set for counter_set in spec.shared_counters)
        return any(
            entry.counter_set == self.counter_set and (not self.counter or self.counter in entry.counters)
            for device in spec.devices
            for entry in device.consumes_counters
        )
