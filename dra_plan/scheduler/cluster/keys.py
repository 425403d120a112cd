"""Keys of pods, groups and claims in the simulation, and two look-ups by name.

The look-ups find the device class of an extended resource, and the nodes that reach the devices of a pool.
"""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.core import Pod
from dra_plan.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.scheduler.clock import parse_time

ClaimKey = tuple[str, str]
"""The namespace and name of a claim."""


GroupKey = tuple[str, str]
"""The namespace and name of a pod group."""


def group_key(pod: Pod) -> GroupKey | None:
    """Return the key of the group that the pod is scheduled with, or None if it has no group."""
    group = pod.spec.scheduling_group
    return (pod.metadata.namespace, group.pod_group_name) if group is not None else None


def claim_key(claim: ResourceClaim) -> ClaimKey:
    """Return the claim's namespace and name."""
    return claim.metadata.namespace, claim.metadata.name


def pod_uid(pod: Pod) -> str:
    """Return the UID of the pod, or its key if the manifest has no UID."""
    return pod.metadata.uid or pod.key


# -- device classes of extended resources ------------------------------------------------------------------------------


def class_names(classes: Iterable[DeviceClass], *, loser_loses_implicit: bool) -> dict[str, str]:
    """Return the name of the class that provides each resource. The classes arrive in name order.

    If several classes have the same resource name, the newest class is used or, if they are equally old, the first by
    name. If `loser_loses_implicit` is set (quirk E2), a class that is not used when it arrives is dropped completely,
    including its implicit name.
    """
    mapping: dict[str, str] = {}
    owners: dict[str, DeviceClass] = {}
    for device_class in sorted(classes, key=lambda c: c.metadata.name):
        explicit = device_class.spec.extended_resource_name
        if explicit:
            owner = owners.get(explicit)
            if owner is not None and not _newer(device_class, owner):
                if not loser_loses_implicit:
                    mapping[IMPLICIT_PREFIX + device_class.metadata.name] = device_class.metadata.name
                continue
            owners[explicit] = device_class
            mapping[explicit] = device_class.metadata.name
        mapping[IMPLICIT_PREFIX + device_class.metadata.name] = device_class.metadata.name
    return mapping


def _newer(one: DeviceClass, other: DeviceClass) -> bool:
    mine, theirs = (parse_time(c.metadata.creation_timestamp) or 0.0 for c in (one, other))
    return mine > theirs or (mine == theirs and one.metadata.name < other.metadata.name)


# -- nodes that reach a pool -------------------------------------------------------------------------------------------
# These are the nodes that the pool's slices name.


def pool_reach(slices: Iterable[ResourceSlice]) -> dict[str, dict[str, None] | None]:
    """Return the nodes that reach each pool, by pool name. None stands for all nodes."""
    reach: dict[str, dict[str, None] | None] = {}
    for slice_ in slices:
        spec = slice_.spec
        if not spec.node_name:
            reach[spec.pool.name] = None
        elif (known := reach.setdefault(spec.pool.name, {})) is not None:
            known[spec.node_name] = None
    return reach
