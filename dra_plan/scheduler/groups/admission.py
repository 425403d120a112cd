"""What the API server and controllers make of pod groups and of the pods that name one, gate by gate."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dra_plan.api.core import Pod, PriorityClass
from dra_plan.api.scheduling import BasicSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy
from dra_plan.releases import Features
from dra_plan.scheduler.clock import parse_time

_LATE = "lab/late"
"""Marks, in recorded cases, a group that was created after all pods; their objects carry no times."""


class GroupAdmission:
    """Fields whose gate is off are dropped, as the API server does on create, and priorities are filled in."""

    def __init__(self, features: Features, priorities: Iterable[PriorityClass]) -> None:
        self.enabled = features.pod_groups
        self._features = features
        self._priorities = {each.metadata.name: each.value for each in priorities}
        self._default = next((each.value for each in priorities if each.global_default), 0)

    def pod(self, pod: Pod) -> Pod:
        """The pod, a lone one where there are no groups."""
        if pod.spec.scheduling_group is None or self.enabled:
            return pod
        return replace(pod, spec=replace(pod.spec, scheduling_group=None))

    def groups(self, given: Iterable[PodGroup]) -> list[PodGroup]:
        """The groups as they are stored; none where there are no groups."""
        return [self.group(group) for group in given] if self.enabled else []

    def group(self, group: PodGroup) -> PodGroup:
        """The group as it is stored where there are groups."""
        spec = group.spec
        if not self._features.gang_scheduling:  # minCount has no meaning then
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
    """Whether the creationTimestamps of pods tell which came first.

    An API server gives every object one. Where a pod that has one is a member of a group of the input that has none,
    no server wrote them, and the scheduler, which never reads them, gets to see the objects as they are listed.
    """
    timeless = {group.key for group in groups if not group.metadata.creation_timestamp}
    return not timeless or not any(_is_timed_member(pod, timeless) for pod in pods)


def _is_timed_member(pod: Pod, timeless: set[str]) -> bool:
    named = pod.spec.scheduling_group
    if named is None or not pod.metadata.creation_timestamp:
        return False
    return f"{pod.metadata.namespace}/{named.pod_group_name}" in timeless


def comes_after(group: PodGroup, pod: Pod) -> bool:
    """Whether the group was created after the pod; a group without a time counts as older."""
    if (group.metadata.annotations or {}).get(_LATE):
        return True
    return _moment(group, float("-inf")) > _moment(pod, float("inf"))


def _moment(created: Pod | PodGroup, unknown: float) -> float:
    moment = parse_time(created.metadata.creation_timestamp)
    return unknown if moment is None else moment
