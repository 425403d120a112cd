"""`explain`: the verdict on pods without a node, from a run in which all pending pods are scheduled.

The verdict is that on the decisive pod, with the obstacles on nodes, the result without the other pending pods, what
the input lacks, and the changes that help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import structs
from msgspec.structs import replace

from dra_plan.allocator import View
from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import ended
from dra_plan.claims.sets import Owner
from dra_plan.documents.verdict_parts import AloneVerdict, BindingPod, GangShortage
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.explanation.driver_pods import DriverPods
from dra_plan.explanation.other_schedulers import with_scheduler
from dra_plan.explanation.unready_pods import gate_controllers
from dra_plan.planner.certainty import OF_VOLUMES, Certainty
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.nodes import choose_nodes, lacking_templates, lacks_volume_limits, was_listed
from dra_plan.planner.owners import CLAIM, POD
from dra_plan.planner.question import Question, kubelet_minor
from dra_plan.planner.refused import OwnerRefusals, accepted
from dra_plan.planner.rivals import OwnersOfPods, gained, rivals, that_come_first
from dra_plan.questions.allocate.answer import AllocationPlan
from dra_plan.questions.explain.bindings import (
    awaited_conditions,
    claims_of_lost_nodes,
    leaving_claims,
    queue_of,
    uncreated_claims,
)
from dra_plan.questions.explain.contradictions import label_conflict, volumes_apart
from dra_plan.questions.explain.editing import with_admin_access
from dra_plan.questions.explain.fates import Fate, Fates, decisive
from dra_plan.questions.explain.node_reasons import DeviceReasons, refusing_nodes, with_priorities
from dra_plan.questions.explain.obstacle_details import OnNodes
from dra_plan.questions.explain.reasons import (
    ClusterFindings,
    RunQuestion,
    VerdictRun,
)
from dra_plan.questions.explain.selected_pods import SelectedPods
from dra_plan.questions.explain.set_elsewhere import SetElsewhere
from dra_plan.questions.explain.shared_claims import full_claims
from dra_plan.questions.explain.trials import OwnerTrials, TrialGround, everybody
from dra_plan.questions.explain.volumes import awaited_by, needs_of
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.clock import parse_time
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.node_refusals import NodeRefusals
from dra_plan.scheduler.notices import GroupSummary

MOST_LOOKS = 50_000
"""The maximum number of nodes that are examined closely for all owners that were not named."""


MOST_HELPED = 10
"""The maximum number of owners that were not named for which changes are tried."""


_CLAIM_SECONDS = 60
"""The seconds after which a claim of a new pod is overdue: kube-controller-manager creates it at once."""


_CONTESTED = ("Unschedulable", "WouldPreempt", "Undecided")
"""Verdicts that may differ without the other pending pods."""


MOST_BINDING = 3
"""The maximum number of a workload's bound pods that are named if only some of its pods get a node."""


class PendingPods:
    """The verdicts on the pods of `owners` that have no node.

    The scheduler is simulated only once for all owners. After the `deadline`, on the monotonic clock, open results are
    Undecided.
    """

    def __init__(
        self,
        index: Index,
        view: View,
        question: Question,
        plan: AllocationPlan,
        owners: Sequence[Owner],
        refusals: OwnerRefusals,
        deadline: float | None,
    ) -> None:
        self._index, self._inventory, self._view, self._question = index, index.inventory, view, question
        self._plan, self._owners, self._refusals, self._deadline = plan, owners, refusals, deadline
        self._sets: dict[Owner, ClaimSetPlan] = {}
        for each in plan.claim_sets:
            if each.claim_set.owner is not None:
                self._sets.setdefault(each.claim_set.owner, each)
        self._fates, self.owners_of, self._common = Fates(index), OwnersOfPods(index), Common()
        self._nodes = {node.metadata.name: node for node in index.inventory.nodes}
        closely = MOST_LOOKS // max(1, len(self._nodes))
        self._closely = frozenset(owners if question.owners else owners[: max(1, closely)])

    @cached_property
    def about(self) -> RunQuestion:
        """The limits for runs, and the input after removing all objects that the API server rejects."""
        asked = self._question
        taken = accepted(self._inventory, self._view.target, everybody, refusals=self._refusals)
        return RunQuestion(taken.inventory, self._view, asked.max_steps, self._deadline, ClusterFindings(self._view))

    @cached_property
    def _accepted(self) -> Index:
        """Return the index of the objects in the run."""
        taken = self.about.inventory
        return self._index if taken is self._inventory else Index(taken)

    @cached_property
    def run(self) -> VerdictRun:
        """The run in which all pending pods are scheduled."""
        planned = self._plan.claim_sets
        return VerdictRun(self.about, self.owners_of, self._common, self._is_explained, planned=planned)

    def _is_explained(self, pod: Pod) -> bool:
        """Return whether the pod belongs to an owner that is examined closely, or to the pod group of one."""
        group = pod.spec.scheduling_group
        if group is not None and (pod.metadata.namespace, group.pod_group_name) in self._groups:
            return True
        return any(owner in self._closely for owner in self.owners_of.of(pod))

    @cached_property
    def _groups(self) -> set[tuple[str, str]]:
        """Return the pod groups of the pods that are examined closely."""
        return {
            (pod.metadata.namespace, pod.spec.scheduling_group.pod_group_name)
            for pod in self._inventory.pods
            if pod.spec.scheduling_group is not None and not self._closely.isdisjoint(self.owners_of.of(pod))
        }

    def _with_admin_access(self, namespace: str) -> Inventory:
        labelled = with_admin_access(self._inventory, namespace)
        return accepted(labelled, self._view.target, everybody, self._question.runtime_config).inventory

    def verdict(self, made: OwnerVerdict, owner: Owner, fates: Sequence[Fate], fate: Fate) -> OwnerVerdict:
        """Return the verdict on an owner's pods, which is the verdict on the decisive pod."""
        record, run = fate.record, self.run
        made = structs.replace(
            made,
            verdict=fate.verdict,
            victims=list(fate.victims),
            held_by=fate.held_by or "",
            held=list(fate.held),
            not_tried=run.not_tried,
            pods=len(fates) if owner.kind != POD else 0,
            would_bind=sum(fate.is_good for fate in fates) if owner.kind != POD else 0,
            binding=self._binding(fates),
        )
        if record is None:
            return made
        if fate.held_by == "SchedulingGates":
            keepers = gate_controllers(self._inventory.pods, fate.held)
            made = structs.replace(made, gate_controllers=keepers, **queue_of(self._inventory, record.pod))
        if fate.held_by == "OtherScheduler":
            made = with_scheduler(self._inventory, made)
        if fate.held_by == "Preemption":
            made = structs.replace(made, until=self._gone_by(fate.held))
        if fate.held_by == "MissingClaim":
            made = structs.replace(made, leaving_claims=leaving_claims(self._inventory, record.pod))
        if fate.held_by == "BindingConditions":
            made = structs.replace(made, awaited=awaited_conditions(self._inventory, record.pod))
        node = record.pod.status.nominated_node_name if fate.held_by == "Preemption" else record.node
        made = structs.replace(made, node_name=node, message=record.message, waiting=record.waiting)
        made = self._with_group(structs.replace(made, kubelet=self._older_kubelet(record)), record.pod)
        if self._is_at_length and (fate.held_by == "Volumes" or fate.is_good):
            made = structs.replace(made, volume_claims=awaited_by(self._inventory, record.pod, self._drivers))
        if fate.is_good and (given := self._fates.existing.get(owner)) is not None:
            made = self._with_uncreated(made, given)
        made, record = self._of_gang(made, record)
        if fate.verdict == "Error":
            made = structs.replace(made, full_claims=full_claims(self._inventory, record.pod, run.result.claims))
        if fate.verdict == "Unschedulable" and record.refusals is not None:
            made = self._with_nodes(made, owner, record, record.refusals, run)
            made = structs.replace(made, limits_unknown=lacks_volume_limits(self._inventory, record.pod))
            priority = run.priority(record.pod)
            preempts = priority > 0 and record.pod.spec.preemption_policy != "Never"
            made = structs.replace(
                made, low_priority=priority if priority < 0 else None, priority=priority if preempts else None
            )
            if preempts:
                made = structs.replace(made, nodes=[with_priorities(each, run, priority) for each in made.nodes])
        if fate.verdict in _CONTESTED and owner in self._closely and not run.came_first(record.pod):
            made = self._with_rivals(made, owner, fates)
        made = self._with_missing(made, owner, record)
        return self.trials.with_remedies(self.trials.with_spared(made, owner, record.pod), owner, record.pod)

    def _binding(self, fates: Sequence[Fate]) -> list[BindingPod]:
        """Return the first pods that get nodes, if others of the same workload do not."""
        records = _good(fates)
        if len(records) == len(fates):
            return []
        names = [each.pod.metadata.name if owner_of(each.pod) in self._fates.existing else "" for each in records]
        return [
            BindingPod(name=name, node_name=record.node)
            for name, record in zip(names[:MOST_BINDING], records, strict=False)
        ]

    def _gone_by(self, names: Sequence[str]) -> str:
        """Return when the last of these pods has to be gone: the API server adds the grace period to the time."""
        times = [pod.metadata.deletion_timestamp or "" for pod in self._inventory.pods if pod.key in names]
        return max(times, default="")

    @cached_property
    def trials(self) -> OwnerTrials:
        """Return an object that tries changes for owners."""
        ground = TrialGround(
            index=self._accepted,
            about=self.about,
            question=self._question,
            run=self.run,
            common=self._common,
            owners_of=self.owners_of,
            fates=self._fates,
            closely=self._closely,
            is_explained=self._is_explained,
            at_length=self._is_at_length,
            with_nodes=self._with_nodes,
            with_admin_access=self._with_admin_access,
            plan_of=self.plan_of,
        )
        return OwnerTrials(ground)

    @property
    def _is_at_length(self) -> bool:
        return bool(self._question.owners) or len(self._owners) <= MOST_HELPED

    def _summary_of(self, pod: Pod) -> GroupSummary | None:
        """Return what the run says of the pod's group."""
        group = pod.spec.scheduling_group
        named = (pod.metadata.namespace, group.pod_group_name) if group is not None else None
        return next((each for each in self.run.result.groups if (each.namespace, each.name) == named), None)

    def _with_group(self, made: OwnerVerdict, pod: Pod) -> OwnerVerdict:
        """Return the verdict with the existing and the required pods of a group, if the group holds the pod back."""
        found = self._summary_of(pod)
        if made.held_by != "PodGroup" or found is None:
            return made
        return structs.replace(made, group_pods=found.pods, group_least=found.min_count)

    def _with_uncreated(self, made: OwnerVerdict, pod: Pod) -> OwnerVerdict:
        """Return the verdict with claims of the pod that do not exist yet, and what keeps them from being created."""
        templates = uncreated_claims(self._index, pod)
        if not templates:
            return made
        created, now = parse_time(pod.metadata.creation_timestamp), self.run.simulation.clock.now
        overdue = created is not None and now - created >= _CLAIM_SECONDS
        creators = self._drivers.unready_managers()
        return structs.replace(made, uncreated=templates, overdue=overdue, claim_creators=creators)

    def _of_gang(self, made: OwnerVerdict, record: PodRecord) -> tuple[OwnerVerdict, PodRecord]:
        """Return the verdict with the gang that finds too few nodes, and the first of its pods without one.

        The others find a node as long as the cycle of the group runs, so only that pod has reasons.
        """
        summary = self._summary_of(record.pod)
        if made.verdict != "Unschedulable" or summary is None or not summary.min_count:
            return made, record
        found = summary.bound + sum(bool(each.node) for each in summary.last)
        keys = [each.pod for each in summary.last if not each.node]
        refused = [each for key in keys for each in self.run.result.pods if each.pod.key == key and each.refusals]
        if found >= summary.min_count or not refused:
            return made, record
        gang = GangShortage(name=summary.name, least=summary.min_count, found=found, pod=refused[0].pod.key)
        return structs.replace(made, gang=gang), refused[0]

    def _older_kubelet(self, record: PodRecord) -> str:
        node = self._nodes.get(record.node)
        minor = kubelet_minor(node.status.node_info.kubelet_version) if node is not None else ""
        is_older = bool(minor) and _number(minor) < _number(self._view.target.version)
        return minor if is_older and record.pod.spec.resource_claims else ""

    def _with_nodes(
        self,
        made: OwnerVerdict,
        owner: Owner,
        record: PodRecord,
        refusals: NodeRefusals,
        run: VerdictRun,
    ) -> OwnerVerdict:
        plan = self.plan_of(owner) if made.gang is None else None  # devices of other pods of the gang count
        attempt = run.attempts.get(pod_uid(record.pod))
        of_devices = DeviceReasons(plan, attempt, self._inventory, self._drivers, self.about, self._chosen)
        plugins = Counter(found[0].plugin for found in refusals.of_nodes.values())
        of_plugins = {each.plugin for found in refusals.of_nodes.values() for each in found}
        of_volumes = not of_plugins.isdisjoint(OF_VOLUMES)
        volume_claims = needs_of(self._inventory, record.pod, self._drivers) if of_volumes else []
        there = OnNodes(
            record.pod,
            run,
            self._inventory.limit_ranges,
            self._finished,
            self._leaving_pods,
            self._nodes,
            SetElsewhere(self._index, record.pod),
            SelectedPods(self._index, record.pod, run),
            self._drivers,
            volume_claims,
        )
        return structs.replace(
            made,
            of_all_nodes=refusals.of_all,
            total_nodes=len(refusals.of_nodes),
            nodes=refusing_nodes(self._of_interest(refusals), of_devices, there),
            refused_by=[plugin for plugin, _ in plugins.most_common()],
            absent=of_devices.absent,
            volume_claims=volume_claims,
            volumes_apart=volumes_apart(self._inventory, record.pod) if of_volumes else None,
            lost_claims=claims_of_lost_nodes(self._inventory, record.pod, self._nodes)
            if of_devices.are_elsewhere
            else [],
            label_conflict=label_conflict(record.pod) if plugin_names.NODE_AFFINITY in of_plugins else None,
        )

    @cached_property
    def _drivers(self) -> DriverPods:
        return DriverPods(self._inventory)

    @cached_property
    def _finished(self) -> dict[str, Pod]:
        """Return the pods that have finished, by NAMESPACE/NAME."""
        return {pod.key: pod for pod in self._inventory.pods if ended(pod)}

    @cached_property
    def _leaving_pods(self) -> dict[str, Pod]:
        """Return the pods that are being deleted, by NAMESPACE/NAME."""
        return {pod.key: pod for pod in self._inventory.pods if pod.metadata.deletion_timestamp and not ended(pod)}

    def _of_interest(self, refusals: NodeRefusals) -> NodeRefusals:
        """Return the rejections of the nodes in question."""
        if not self._chosen or refusals.of_all:
            return refusals
        return replace(
            refusals, of_nodes={name: refusals.of_nodes[name] for name in self._chosen if name in refusals.of_nodes}
        )

    @cached_property
    def _chosen(self) -> dict[str, Node]:
        """The nodes that `--node` chooses, by name."""
        chosen = self._question.nodes
        nodes = choose_nodes(self._inventory.nodes, chosen) if chosen else ()
        return {node.metadata.name: node for node in nodes}

    def _with_rivals(self, made: OwnerVerdict, owner: Owner, fates: Sequence[Fate]) -> OwnerVerdict:
        """Return the verdict without the other pending pods, if it differs, and the pods that take the capacity.

        Of a workload it differs if more of its pods get a node.
        """
        run = self.run
        others = rivals(run.result.pods, owner, self.owners_of)
        if not others and not run.not_tried:
            return made
        alone = VerdictRun(
            self.about,
            self.owners_of,
            self._common,
            self._is_explained,
            lambda pod: owner in self.owners_of.of(pod),
        )
        then = self._fates.of(alone, owner)
        fate = _gained(fates, then)
        if fate is None or fate.record is None or fate.verdict == made.verdict:
            return made
        node = fate.record.node
        if made.verdict == "Undecided":
            made = structs.replace(made, verdict=fate.verdict, node_name=node, victims=list(fate.victims))
            refusals = fate.record.refusals
            return made if refusals is None else self._with_nodes(made, owner, fate.record, refusals, alone)
        number = sum(each.is_good for each in then) if owner.kind != POD else 0
        return structs.replace(
            made,
            alone=AloneVerdict(verdict=fate.verdict, node_name=node, would_bind=number),
            first=that_come_first(others, node, run.priority) if fate.is_good else [],
        )

    def _with_missing(self, made: OwnerVerdict, owner: Owner, record: PodRecord) -> OwnerVerdict:
        """Return Unknown if the input lacks every object of a deciding kind, and nothing else excludes all nodes.

        The verdict includes the result without what holds the pod back, or what excludes all nodes alike.
        """
        missing = self._missing(made, record)
        unknown = structs.replace(made, verdict="Unknown", missing=missing)
        if not missing:
            return self.trials.with_freed(made, owner)
        if made.of_all_nodes or made.held_by == "MissingClaim":
            made = self.trials.with_freed(structs.replace(made, missing=missing), owner)
        freed = made.freed
        if freed is not None and freed.nodes and made.held_by == "MissingClaim":
            return _without_claims(made, freed)
        if freed is not None and freed.verdict == "Unschedulable" and "deviceclasses" in missing:
            made = _without_claims(made, freed)
        is_certain = self._certainty.is_refused(record)
        return structs.replace(made, missing=missing) if is_certain else unknown

    @cached_property
    def _certainty(self) -> Certainty:
        return Certainty(self._inventory, self.run.priority)

    def _missing(self, made: OwnerVerdict, record: PodRecord) -> list[str]:
        """Return the deciding objects that the input lacks, in kubectl's terms."""
        pod, missing = record.pod, list[str]()
        if made.verdict in ("Unschedulable", "Error"):
            missing = self._certainty.missing(record)
        if made.verdict == "Held" and made.held_by == "MissingClaim" and not was_listed(self._inventory, CLAIM):
            made_claims = [one for one in pod.status.resource_claim_statuses if one.resource_claim_name]
            if made_claims and not self._inventory.claims:
                missing += ["resourceclaims", *lacking_templates(self._inventory), *self._certainty.lacking]
        return missing

    def plan_of(self, owner: Owner) -> ClaimSetPlan | None:
        """Return the first plan for a claim set of the owner, or None."""
        return self._sets.get(owner)

    def fates(self, owner: Owner) -> list[Fate]:
        """Return what happens to each of the owner's pods that have no node in the input."""
        return self._fates.of(self.run, owner)


def _gained(fates: Sequence[Fate], alone: Sequence[Fate]) -> Fate | None:
    """Return the result without other pods: if more pods get a node, that of such a pod, else the decisive one."""
    found = gained(_good(fates), _good(alone))
    return next((each for each in alone if found is not None and each.record is found), decisive(alone))


def _good(fates: Iterable[Fate]) -> list[PodRecord]:
    return [each.record for each in fates if each.is_good and each.record is not None]


def _number(minor: str) -> list[int]:
    return [int(part) for part in minor.split(".")]


def _without_claims(made: OwnerVerdict, then: AloneVerdict) -> OwnerVerdict:
    """Return that no node can take a pod whose claims are not known, because none takes it without its claims.

    That claims, or their classes, do not exist follows only from the input; the scheduler of the cluster has them.
    """
    plugins = {reason.plugin for group in then.nodes for reason in group.reasons}
    return structs.replace(
        made,
        verdict="Unschedulable",
        held_by="",
        held=[],
        message="",
        freed=None,
        nodes=then.nodes,
        of_all_nodes=then.of_all_nodes,
        refused_by=sorted(plugins),
    )
