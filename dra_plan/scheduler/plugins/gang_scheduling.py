"""GangScheduling: the pods of a gang wait until there are minCount of them, and then until minCount have a node."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.core import Pod
from dra_plan.api.scheduling import PodGroup
from dra_plan.scheduler.cluster.keys import group_key
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import EnqueueExtensions, Handle, PermitPlugin, PreEnqueuePlugin
from dra_plan.scheduler.framework.status import Code, CycleState, Status, unresolvable

PERMIT_SECONDS = 5 * 60.0
NOT_THERE = "waiting for minCount pods from a gang to appear in scheduling queue"
TOO_FEW = "waiting for minCount pods from a gang to be scheduled"


class GangScheduling(PreEnqueuePlugin, PermitPlugin, EnqueueExtensions):
    """The plugin that counts the pods of gangs. Pods of groups with the policy `basic` always pass."""

    name = plugin_names.GANG_SCHEDULING

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Reject a pod whose group does not exist or has too few pods."""
        key = group_key(pod)
        if key is None:
            return None
        groups = self._handle.cluster.groups
        group = groups.get(key)
        if group is None:
            return unresolvable(f'waiting for pods\'s pod group "{key[1]}" to appear in scheduling queue')
        if groups.count(key) < group.min_count:
            return unresolvable(NOT_THERE)
        return None

    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status | None, float]:
        """Return Wait until minCount pods of the gang have a node, and then allow all of them."""
        key = group_key(pod)
        groups = self._handle.cluster.groups
        group = groups.get(key)
        if key is None or group is None or not group.min_count:
            return None, 0
        if len(groups.on_nodes(key)) < group.min_count:
            return Status(Code.WAIT, TOO_FEW), PERMIT_SECONDS
        if state.group is None or not state.group.tentative:
            for member in groups.on_nodes(key):
                waiting = self._handle.waiting_pod(member.uid)
                if waiting is not None:
                    waiting.allow(self.name)
        return None, 0

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable: new pods or changes in its group."""
        return [
            Interest(Resource.UNSCHEDULED_POD, Action.ADD, _same_group),
            Interest(Resource.ASSIGNED_POD, Action.ADD, _same_group),
            Interest(Resource.POD_GROUP, Action.ADD, _own_group),
        ]


def _same_group(pod: Pod, _old: Pod | None, new: Pod | None) -> Hint:
    return Hint.QUEUE if new is not None and group_key(new) == group_key(pod) else Hint.SKIP


def _own_group(pod: Pod, _old: PodGroup | None, new: PodGroup | None) -> Hint:
    own = new is not None and (new.metadata.namespace, new.metadata.name) == group_key(pod)
    return Hint.QUEUE if own else Hint.SKIP
