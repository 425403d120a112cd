"""Pools in documents. Field names are those of ResourcePoolStatusRequest where it has the field."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.allocator import PoolState
from dra_plan.api.resource import DeviceTaint
from dra_plan.documents.base import Amount, DocumentPart, EvictionSecond, EvictionTime, Text
from dra_plan.documents.devices import ClaimHolder

DeviceState = Literal["Available", "Allocated", "Shared", "Unavailable"]
"""The state of a device. Shared: allocated, but with free capacity."""


Amounts = Annotated[dict[str, str], Meta(description="Quantities, by name.")]


class CounterSetLeft(DocumentPart, frozen=True, kw_only=True):
    """A counter set, with the total and the remaining amount of each counter."""

    name: str
    total: Amounts
    left: Amounts


class DoomedPod(DocumentPart, frozen=True, kw_only=True):
    """A running pod that will be evicted because of a taint on one of its devices."""

    namespace: str
    name: Text
    second: EvictionSecond
    time: EvictionTime = ""


class ListedDevice(DocumentPart, frozen=True, kw_only=True):
    """A device of a pool."""

    name: str
    state: DeviceState
    model: Annotated[str, Meta(description="The model of the device, if the driver publishes one.")] = ""
    reason: Annotated[str, Meta(description="Why the device is not available, or cannot be shared further.")] = ""
    holders: Annotated[
        list[ClaimHolder], Meta(description="The claims that hold the device, and the pods of each.")
    ] = []
    part: Annotated[
        bool, Meta(description="True if the device consumes counters, which makes it a partition of a physical device.")
    ] = False
    taints: list[DeviceTaint] = []
    evicts: Annotated[
        list[DoomedPod], Meta(description="The pods that will be evicted because of the device's taints.")
    ] = []
    nodes: Annotated[
        list[str] | None, Meta(description="With per-device node selection: the nodes that can reach the device.")
    ] = None
    capacity: Annotated[Amounts, Meta(description="The remaining capacity, if the device can be shared.")] = {}


class PartitionProfile(DocumentPart, frozen=True, kw_only=True):
    """A kind of partition of physical devices."""

    profile: Annotated[
        str,
        Meta(description=("The name that the driver publishes, or the device names without their numbers.")),
    ]
    devices: Annotated[Amount, Meta(description="The number of these partitions in the pool. They may overlap.")]
    fit: Annotated[
        Amount,
        Meta(
            description=("The number of these partitions that still fit at the same time if nothing else is allocated.")
        ),
    ]


class ListedPool(DocumentPart, frozen=True, kw_only=True):
    """A pool in one state, and the nodes that see it in that state."""

    driver: str
    pool_name: str
    node_name: Annotated[
        str, Meta(description="The node that all slices of the pool name. Absent if they name none or several.")
    ] = ""
    generation: int
    resource_slice_count: Annotated[
        int, Meta(description=("The number of slices that the complete pool has, according to its slices."))
    ]
    observed_resource_slice_count: Annotated[
        int, Meta(description="The number of slices of this generation in the input.")
    ]
    state: PoolState
    nodes: Annotated[list[str], Meta(description="The nodes that can reach devices of the pool, in input order.")]
    cordoned: Annotated[list[str], Meta(description="The nodes in `nodes` that are cordoned.")] = []
    total_devices: Amount
    allocated_devices: Annotated[
        Amount, Meta(description="The number of devices that are allocated to claims, in whole or in part.")
    ]
    available_devices: Annotated[
        Amount, Meta(description="The number of devices in `totalDevices` that are neither allocated nor unavailable.")
    ]
    unavailable_devices: Annotated[
        Amount,
        Meta(
            description=(
                "The number of devices that are neither allocated nor available, because of a taint, "
                "insufficient counters, or an incomplete pool."
            )
        ),
    ]
    tainted_devices: Annotated[Amount, Meta(description="The number of devices with a taint that keeps claims away.")]
    counter_sets: list[CounterSetLeft]
    devices: list[ListedDevice]
    physical_devices: Annotated[
        Amount | None,
        Meta(
            description=(
                "If devices are partitions: the number of counter sets that they consume from, plus the "
                "number of devices that consume no counters."
            )
        ),
    ] = None
    profiles: list[PartitionProfile] = []
    validation_error: Annotated[str, Meta(description="Why the pool is invalid, as upstream words it.")] = ""
