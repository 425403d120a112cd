"""How the API server and controllers treat pod groups and their pods, depending on feature gates."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dra_plan.api.core import Pod, PriorityClass
from dra_plan.api.scheduling import BasicSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy
from dra_plan.releases import Features
from dra_plan.scheduler.clock import parse_time

_LATE = "lab/late"
"""A label in recorded cases for a group that was created after all pods; objects in these cases have no times."""


class GroupAdmission:
    """Pod groups as the API server stores them, with priorities but without the fields whose gate is off."""

    def __init__(self, features: Features, priorities: Iterable[PriorityClass]) -> None:
        self.enabled = features.pod_groups
        self._features = features
        self._priorities = {each.metadata.name: each.value for each in priorities}
        self._default = next((each.value for each in priorities if each.global_default), 0)

    def pod(self, pod: Pod) -> Pod:
        """Return the pod, without its group if the gate for groups is off."""
        if pod.spec.scheduling_group is None or self.enabled:
            return pod
        return replace(pod, spec=replace(pod.spec, scheduling_group=None))

    def groups(self, given: Iterable[PodGroup]) -> list[PodGroup]:
        """Return the groups as they are stored. There are none if the gate for groups is off."""
        return [self.group(group) for group in given] if self.enabled else []

    def group(self, group: PodGroup) -> PodGroup:
        """Return the group as it is stored if the gate for groups is on."""
        spec = group.spec
        if not self._features.gang_scheduling:  # minCount has no meaning in that case
            spec = replace(spec, scheduling_policy=PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy()))
        if not self._features.topology_placement:
            spec = replace(spec, scheduling_constraints=None)
        if not self._features.group_claims:
            spec = replace(spec, resource_claims=[])
        if not self._features.group_preemption:
            spec = replace(spec, disruption_mode="", priority_class_name="", priority=None)
        elif spec.priority is None:
            named = self._priorities.get(spec.priority_class_name, 0)
            spec = replace(spec, priority=named if spec.priority_class_name else self._default)
        metadata = group.metadata
        if not metadata.uid:
            metadata = replace(metadata, uid=f"podgroup:{group.key}")
        return replace(group, metadata=metadata, spec=spec)


def times_are_a_servers(groups: Iterable[PodGroup], pods: Iterable[Pod]) -> bool:
    """Return whether creationTimestamps show which pod came first.

    An API server sets a creationTimestamp on every object. If a pod has one but its group does not, the times were not
    written by an API server. The scheduler then sees the objects in list order.
    """
    timeless = {group.key for group in groups if not group.metadata.creation_timestamp}
    return not timeless or not any(_is_timed_member(pod, timeless) for pod in pods)


def _is_timed_member(pod: Pod, timeless: set[str]) -> bool:
    named = pod.spec.scheduling_group
    if named is None or not pod.metadata.creation_timestamp:
        return False
    return f"{pod.metadata.namespace}/{named.pod_group_name}" in timeless


def comes_after(group: PodGroup, pod: Pod) -> bool:
    """Return whether the group was created after the pod. A group without a time counts as older."""
    if (group.metadata.annotations or {}).get(_LATE):
        return True
    return _moment(group, float("-inf")) > _moment(pod, float("inf"))


def _moment(created: Pod | PodGroup, unknown: float) -> float:
    moment = parse_time(created.metadata.creation_timestamp)
    return unknown if moment is None else moment
