"""The IDs of pools and devices (upstream's PoolID and DeviceID), and the problems that make a pool invalid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from dra_plan.api.resource import ResourceSliceSpec
from dra_plan.errors import UsageError
from dra_plan.near import nearest, the_nearest
from dra_plan.wording import listed


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


def named_device(text: str, meant: str = "") -> DeviceID:
    """Return the device named by `DRIVER/POOL/DEVICE`. The pool name may contain slashes.

    Raises UsageError, with what may be `meant`, if the text does not have this form.
    """
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    if not (driver and pool and device):
        raise UsageError(f"--device: {text!r} is not DRIVER/POOL/DEVICE{meant}")
    return DeviceID(driver, pool, device)


def meant_device(text: str, known: Iterable[DeviceID]) -> DeviceID:
    """Return the known device named by `DRIVER/POOL/DEVICE`, or by the end of this name, if only one device has it.

    Raises UsageError, with similar names, if there is no such device, or if there are several.
    """
    devices = list(dict.fromkeys(known))
    found = [one for one in devices if text and f"/{one}".endswith(f"/{text}")]
    if text in map(str, found) or len(found) == 1:
        return next(one for one in found if str(one) == text or len(found) == 1)
    if found:
        names = listed([str(one) for one in found])
        raise UsageError(f"--device: {len(found)} devices are called {text!r}: {names}")
    meant = _near(text, devices)
    named_device(text, meant)
    raise UsageError(f"--device: no resource slice in the input has device {text!r}{meant}")


def _near(text: str, devices: Sequence[DeviceID]) -> str:
    """Return the device that is probably meant, in brackets, or else the devices that there are."""
    near = nearest(text, map(str, devices))
    if near is None:  # a device's own name is short, so that it is not near to any whole name
        own = the_nearest(text, [one.device for one in devices])
        alike = [str(one) for one in devices if one.device == own]
        near = alike[0] if len(alike) == 1 else None
    if near is not None:
        return f" (did you mean {near}?)"
    return f"; there {'is' if len(devices) == 1 else 'are'} {listed(list(map(str, devices)))}" if devices else ""


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
