"""The names by which pools and devices are known: what upstream calls PoolID and DeviceID."""

from __future__ import annotations

from typing import NamedTuple

from dra_plan.errors import UsageError


class PoolID(NamedTuple):
    """A pool of a driver; prints as `DRIVER/POOL`."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceID(NamedTuple):
    """A device of a pool; prints as `DRIVER/POOL/DEVICE`."""

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
    """The device that DRIVER/POOL/DEVICE names; a pool's name may have slashes itself. UsageError for anything else."""
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    if not (driver and pool and device):
        raise UsageError(f"--device: {text!r} is not DRIVER/POOL/DEVICE")
    return DeviceID(driver, pool, device)
