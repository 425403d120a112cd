"""The names of pools and devices (upstream's PoolID and DeviceID), and the contradictions within a pool.

The contradictions are values here; `pools` finds them.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from dra_plan.api.resource import ResourceSliceSpec
from dra_plan.errors import UsageError


class PoolID(NamedTuple):
    """The ID of a pool. Its text form is `DRIVER/POOL`."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceID(NamedTuple):
    """The ID of a device in a pool. Its text form is `DRIVER/POOL/DEVICE`."""

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
    """Return the device named by DRIVER/POOL/DEVICE. The pool name may contain slashes.

    Raises UsageError if the text does not have this form.
    """
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    if not (driver and pool and device):
        raise UsageError(f"--device: {text!r} is not DRIVER/POOL/DEVICE")
    return DeviceID(driver, pool, device)


# -- contradictions in a pool ------------------------------------------------------------------------------------------


class PoolProblem(Struct, frozen=True, kw_only=True):
    """A contradiction within a pool. `str()` returns upstream's text for the problem.

    If `twice` is set, a name occurs twice: the name of a `device` or, if there is no device, the name of a
    `counter_set`. Otherwise, the device consumes a counter set that does not exist, or a `counter` that the counter set
    does not contain.
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
        """Return whether the slice with this spec is involved in the problem."""
        if self.device:
            return any(device.name == self.device for device in spec.devices)
        if self.twice:
            return any(counter_set.name == self.counter_set for counter_set in spec.shared_counters)
        return any(
            entry.counter_set == self.counter_set and (not self.counter or self.counter in entry.counters)
            for device in spec.devices
            for entry in device.consumes_counters
        )
