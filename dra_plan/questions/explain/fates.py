"""`explain`: the result of one pod in a run of the scheduler: bound, held back by a cause, or rejected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from dra_plan.api.core import Pod
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import ended
from dra_plan.claims.pod_claims import is_unmade
from dra_plan.claims.sets import Owner
from dra_plan.documents.verdict_parts import HeldBy, OtherPod, Verdict
from dra_plan.planner.owners import POD
from dra_plan.planner.rivals import other_pod
from dra_plan.questions.explain.reasons import VerdictRun
from dra_plan.scheduler.attempts import IN_ORDER, PodRecord
from dra_plan.scheduler.framework import plugin_names

_HOLDERS: dict[str, HeldBy] = {
    plugin_names.SCHEDULING_GATES: "SchedulingGates",
    plugin_names.GANG_SCHEDULING: "PodGroup",
    plugin_names.VOLUME_BINDING: "Volumes",
    plugin_names.DEFAULT_PREEMPTION: "Preemption",
    IN_ORDER: "Order",
}


class Fate(Struct, frozen=True):
    """What happens to a pod."""

    verdict: Verdict
    record: PodRecord | None = None
    victims: tuple[OtherPod, ...] = ()
    held_by: HeldBy | None = None
    held: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Return whether the pod has a node or would get one."""
        return self.verdict in ("WouldBind", "WouldPreempt", "Bound")


def decisive(fates: Sequence[Fate]) -> Fate | None:
    """Return the fate of the first pod that gets no node, or of the first pod if all pods get a node.

    Return None if there are no pods.
    """
    return next((fate for fate in fates if not fate.is_good), fates[0] if fates else None)


class Fates:
    """Finds out what happens to the pods of an input. Pods that are not created have no result.

    `existing` are the pods of the input.
    """

    def __init__(self, index: Index) -> None:
        self._inventory, self._index = index.inventory, index
        self.existing = {owner_of(pod): pod for pod in index.inventory.pods}

    def of(self, run: VerdictRun, owner: Owner) -> list[Fate]:
        """Return the results for the owner's pods that have no node in the input."""
        records = (record for record in run.records.get(owner, ()) if record.attempts or not record.node)
        return [self._fate(run, record) for record in records if not ended(record.pod) and run.is_made(record.pod)]

    def _fate(self, run: VerdictRun, record: PodRecord) -> Fate:
        pod = record.pod
        if run.simulation.cluster.info(pod).profile not in run.simulation.frameworks:
            return Fate("Held", record, held_by="OtherScheduler", held=(pod.spec.scheduler_name,))
        if record.skipped:
            return Fate("Finished", record)
        if record.node:
            victims = tuple(self._victim(run, pod))
            return Fate("WouldPreempt" if victims else "WouldBind", record, victims)
        cut_short = record.ran_out and (run.is_late or not record.attempts)
        if cut_short or run.result.undecided.get(pod.key):
            return Fate("Undecided", record)
        if record.on_its_way or not record.reason:
            return self._held(record)
        leaving = self._making_room(run, pod)
        if leaving:
            return Fate("Held", record, held_by="Preemption", held=tuple(leaving))
        return Fate("Error" if record.reason == "SchedulerError" else "Unschedulable", record)

    def _making_room(self, run: VerdictRun, pod: Pod) -> list[str]:
        """Return the pods of lower priority on its nominated node that are being deleted already."""
        node, own = pod.status.nominated_node_name, run.priority(pod)
        leaving = [
            each for each in self._inventory.pods if each.metadata.deletion_timestamp and each.spec.node_name == node
        ]
        return [each.key for each in leaving if run.priority(each) < own] if node else []

    def _victim(self, run: VerdictRun, pod: Pod) -> Iterator[OtherPod]:
        for eviction in run.victims(pod):
            namespace, _, name = eviction.victim.partition("/")
            found = self.existing.get(Owner(POD, namespace, name))
            if found is not None:
                yield other_pod(found, run.priority(found), eviction.node)

    def _held(self, record: PodRecord) -> Fate:
        held_by = _HOLDERS.get(record.held_by, "Plugin")
        if record.held_by == plugin_names.DYNAMIC_RESOURCES:
            held_by = "BindingConditions" if record.on_its_way else "MissingClaim"
        return Fate("Held", record, held_by=held_by, held=tuple(self._holding(held_by, record)))

    def _holding(self, held_by: HeldBy, record: PodRecord) -> Iterable[str]:
        pod, namespace = record.pod, record.pod.metadata.namespace
        if held_by == "SchedulingGates":
            return [gate.name for gate in pod.spec.scheduling_gates]
        if held_by == "PodGroup" and pod.spec.scheduling_group is not None:
            return [pod.spec.scheduling_group.pod_group_name]
        if held_by == "MissingClaim":
            return list(self._missing(pod, namespace))
        return [record.held_by] if held_by == "Plugin" else []

    def _missing(self, pod: Pod, namespace: str) -> Iterator[str]:
        """Yield the claims and templates that the pod names and that do not exist."""
        for entry in pod.spec.resource_claims:
            name, template = entry.resource_claim_name, entry.resource_claim_template_name
            if name is not None and self._index.claim(namespace, name) is None:
                yield f"resourceclaim/{namespace}/{name}"
            elif template is not None and is_unmade(pod, entry) and self._index.template(namespace, template) is None:
                yield f"resourceclaimtemplate/{namespace}/{template}"
