"""The DefaultPreemption plugin, which preempts less important pods. The simulation removes them immediately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster.keys import group_key
from dra_plan.scheduler.cluster.nodes import PodInfo
from dra_plan.scheduler.cycle import NOT_HELPFUL, counted_fit_error
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.extender import Candidate, ExtenderError, best_candidate
from dra_plan.scheduler.framework.interface import (
    EnqueueExtensions,
    Handle,
    NominatingInfo,
    PostFilterPlugin,
    PreEnqueuePlugin,
)
from dra_plan.scheduler.framework.status import Code, CycleState, Status, counts_of, error, unresolvable, unschedulable
from dra_plan.scheduler.preemption import NEVER, NO_VICTIMS, dry_run, is_victim, no_victims, remove_victim


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin, EnqueueExtensions):
    """The plugin that preempts pods. Evictions are asynchronous: victims end while the next pod is being scheduled."""

    name = plugin_names.DEFAULT_PREEMPTION

    def __init__(self, handle: Handle, least_percentage: int = 10, least_absolute: int = 100) -> None:
        self._handle = handle
        self._least_percentage = least_percentage
        self._least_absolute = least_absolute
        self._preempting: set[str] = set()
        self.evictions: list[tuple[Pod, Pod, str]] = []
        """The evictions as (preemptor, victim, node), in the order in which they were decided."""
        self.too_late: list[tuple[Pod, Pod]] = []
        """The preemptors whose last victim another pod had already evicted, as (preemptor, victim)."""

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Keep the pod out of the queue until the pods that it preempts have been deleted."""
        if self._handle.cluster.info(pod).uid in self._preempting:
            return unresolvable("waiting for the preemption for this pod to be finished")
        if group_key(pod) in self._handle.cluster.groups.preempting:
            return unresolvable("waiting for the preemption for this pod group to be finished")
        return None

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """Nominate a node on which pods can be preempted. Return success if there is one."""
        result, status = self._preempt(state, pod, statuses)
        if status is not None and status.message:
            status = Status(status.code, f"preemption: {status.message}")
        return result, status

    def _preempt(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        refusal = self._left_to_the_group(state) or self._ineligible(pod, statuses)
        if refusal:
            return None, unschedulable(refusal)
        cluster = self._handle.cluster
        if cluster.least_priority() >= cluster.info(pod).priority:  # no pods on any node are less important
            number = sum(n for each, n in counts_of(statuses).items() if each.is_curable)
            return self._no_candidates(Counter({NO_VICTIMS: number}), number)
        curable = [
            node
            for node in cluster.nodes.values()
            if node.name in statuses and statuses[node.name].code is Code.UNSCHEDULABLE
        ]
        wanted = min(max(len(curable) * self._least_percentage // 100, self._least_absolute), len(curable))
        candidates, failed = dry_run(self._handle, state, pod, curable, wanted)
        broken = next((s for s in failed.values() if s.code is Code.ERROR), None)
        if broken is not None and not candidates:
            return None, error(broken.message)
        if not candidates:
            return self._no_candidates(Counter(r.text for each in failed.values() for r in each.reasons), len(failed))
        try:
            candidates = self._ask_extenders(pod, candidates)
        except ExtenderError as problem:
            return None, error(str(problem))
        if not candidates:
            return None, unschedulable("no candidate node for preemption")
        chosen = best_candidate(candidates)
        preemptor = cluster.info(pod)
        if state.group is not None and not self._handle.target.quirks.members_preempt_alone:
            state.group.postponed.append(lambda: self._evict(chosen, preemptor))
        else:
            self._evict(chosen, preemptor)
        return NominatingInfo(chosen.node), None

    def _no_candidates(self, reasons: Counter[str], tried: int) -> tuple[NominatingInfo, Status]:
        """Return why no node allows preemption: the tried nodes' reasons, with the number of nodes for each."""
        total = len(self._handle.cluster.nodes)
        reasons[NOT_HELPFUL] += total - tried
        return NominatingInfo(""), unschedulable(counted_fit_error(total, reasons))

    def _ask_extenders(self, pod: Pod, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates that the extenders accept.

        Raises ExtenderError if an extender that can't be ignored fails.
        """
        for extender in self._handle.extenders:
            if not candidates:
                break
            if not extender.supports_preemption or not extender.is_interested(pod):
                continue
            try:
                answer = extender.process_preemption(pod, candidates, self._handle.cluster)
            except ExtenderError:
                if extender.ignorable:
                    continue
                raise
            empty = next((candidate.node for candidate in answer if not candidate.victims), None)
            if empty is not None and not extender.ignorable:
                raise ExtenderError(no_victims(empty))
            candidates = [candidate for candidate in answer if candidate.victims]
        return candidates

    def _left_to_the_group(self, state: CycleState) -> str:
        """Return the reason why a pod that is tried with its group may not preempt on its own, or ""."""
        if state.group is None:
            return ""
        if state.group.group is not None and state.group.group.topology_key:
            return "not eligible due to placement-based pod group scheduling limitation"
        if self._handle.target.features.group_preemption:
            return "not eligible due to workload aware preemption enabled"
        return ""

    def _ineligible(self, pod: Pod, statuses: Mapping[str, Status]) -> str:
        """Return the reason why the pod may not preempt, or ""."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        info = self._handle.cluster.info(pod)
        nominated = self._handle.nominator.node_of(info.uid) or pod.status.nominated_node_name
        node = self._handle.cluster.nodes.get(nominated)
        if node is None:
            return ""
        status = statuses.get(nominated)
        if status is not None and status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        for other in node.pods.values():
            if other.priority < info.priority and is_victim(other.pod):
                return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _evict(self, chosen: Candidate, preemptor: PodInfo) -> None:
        """Delete the victims later; when the last one is deleted, the pod is ready to be retried."""
        self.evictions += [(preemptor.pod, victim.pod, chosen.node) for victim in chosen.victims]
        victims = [victim for victim in chosen.victims if not victim.terminating]
        if not victims:
            return
        self._preempting.add(preemptor.uid)
        for other in self._handle.nominator.on(chosen.node):
            if other.priority < preemptor.priority:
                self._handle.nominator.clear(other.uid)

        def carry_out() -> None:
            for victim in victims[:-1]:
                remove_victim(self._handle, victim, self.name)
            # once the last victim is gone, nothing keeps the pod out of the queue
            self._preempting.discard(preemptor.uid)
            last = victims[-1]
            is_there = last.uid in self._handle.cluster.pods or self._handle.waiting.get(last.uid) is not None
            remove_victim(self._handle, last, self.name)
            if not is_there:  # another pod evicted this victim, so no event follows
                self.too_late.append((preemptor.pod, last.pod))

        self._handle.later(f"evict {', '.join(v.pod.key for v in victims)}", carry_out)

    def events_to_register(self) -> Sequence[Interest]:
        """Return the deletion of pods, after which a gated pod may become schedulable.

        Other plugins decide whether to retry the pod.
        """
        return [Interest(Resource.ASSIGNED_POD, Action.DELETE, lambda _pod, _old, _new: Hint.SKIP)]
