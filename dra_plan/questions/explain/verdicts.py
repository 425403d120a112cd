"""`explain`: the verdict on each owner, from the whole scheduler, with the obstacles of its pods on each node.

The verdict on a pod is that of `schedule` with all pending pods of the input (`verdict_run`). Conditions that no
scheduler changes take precedence: an object that the API server rejects, and a bound pod without its devices.
`text/verdicts.py` has the wording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from msgspec import structs

from dra_plan.allocator import Outcome, View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.expand import waiting_owners
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import ended, is_over, wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.verdicts import (
    AloneVerdict,
    GangShortage,
    LastMessage,
    OwnerVerdict,
    Verdict,
)
from dra_plan.planner.certainty import OF_VOLUMES, Certainty
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.creation import NotCreated
from dra_plan.planner.nodes import was_listed
from dra_plan.planner.owners import CLAIM, POD, OwnerStates
from dra_plan.planner.question import Question, kubelet_minor
from dra_plan.planner.refused import OwnerRefusals, accepted, finding_entry
from dra_plan.questions.allocate.answer import AllocationPlan
from dra_plan.questions.explain.bindings import awaited_conditions, leaving_claims, queue_of
from dra_plan.questions.explain.contradictions import label_conflict, volumes_apart
from dra_plan.questions.explain.editing import with_admin_access
from dra_plan.questions.explain.fates import Fate, Fates, decisive, other_pod
from dra_plan.questions.explain.node_reasons import DeviceReasons, OnNodes, refusing_nodes, with_priorities
from dra_plan.questions.explain.peaks import defaulted
from dra_plan.questions.explain.placed import PlacedPods
from dra_plan.questions.explain.reasons import (
    OwnersOfPods,
    RunQuestion,
    VerdictRun,
    last_message,
    quota_named,
    replica_failure,
)
from dra_plan.questions.explain.trials import OwnerTrials, TrialGround, everybody
from dra_plan.questions.explain.volumes import needs_of
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.new_pods import is_ordered
from dra_plan.scheduler.node_refusals import NodeRefusals
from dra_plan.scheduler.notices import GroupSummary

MOST_LOOKS = 50_000
"""The number of nodes examined closely for owners that were not named, over all of them."""


MOST_FIRST = 3
"""The number of earlier pods that are named."""


MOST_HELPED = 10
"""The number of owners that were not named for which changes are tried."""


SLICES = "resourceslices"
"""What the input lacks if no devices are known."""


_CONTESTED = ("Unschedulable", "WouldPreempt", "Undecided")
"""Verdicts that may differ without the other pending pods."""


def verdicts(
    inventory: Inventory,
    view: View,
    question: Question,
    plan: AllocationPlan,
    refusals: OwnerRefusals,
    deadline: float | None,
) -> list[OwnerVerdict]:
    """Return the verdicts on all subjects: first pods and workloads, then claims, in the order of `plan`.

    `inventory` already has its nodes; after the `deadline`, in monotonic time, open results are Undecided.
    """
    found = _Verdicts(inventory, view, question, plan, refusals, deadline)
    return [*(found.of_owner(owner) for owner in found.owners), *found.of_claims()]


class _Verdicts:
    """Examines one owner after another; the simulation runs once for all."""

    def __init__(
        self,
        inventory: Inventory,
        view: View,
        question: Question,
        plan: AllocationPlan,
        refusals: OwnerRefusals,
        deadline: float | None,
    ) -> None:
        self._deadline, self._refusals = deadline, refusals
        self._inventory, self._view, self._question, self._plan = inventory, view, question, plan
        self._index = Index(inventory)
        self._fates = Fates(self._index)
        self._owners_of = OwnersOfPods(self._index)
        self._states = OwnerStates(self._index, view.target)
        self._pods = {owner_of(pod): pod for pod in inventory.pods}
        self._workloads = {owner_of(workload): workload for workload in inventory.workloads}
        self._nodes = {node.metadata.name: node for node in inventory.nodes}
        self._sets: dict[Owner, list[ClaimSetPlan]] = {}
        for each in plan.claim_sets:
            if each.claim_set.owner is not None:
                self._sets.setdefault(each.claim_set.owner, []).append(each)
        self.owners = self._asked()
        self._common = Common()
        closely = MOST_LOOKS // max(1, len(self._nodes))
        self._closely = frozenset(self.owners if question.owners else self.owners[: max(1, closely)])

    # The subjects

    def _asked(self) -> list[Owner]:
        """Return the pods and workloads: the named ones, or all pending ones and blocked ones."""
        if self._question.owners or self._question.names_groups:
            named = {Owner(one.owner.kind, one.owner.namespace, one.owner.name): None for one in self._plan.unplanned}
            return [owner for owner in {**dict.fromkeys(self._sets), **named} if owner.kind != CLAIM]
        namespace, selector = self._question.namespace, self._question.selector
        waiting = waiting_owners(self._inventory, namespace=namespace, selector=selector)
        return list(dict.fromkeys([*waiting, *self._sets, *self._stuck_owners()]))

    def _stuck_owners(self) -> Iterator[Owner]:
        for pod in self._inventory.pods:
            if self._question.chooses(pod.metadata) and self._lacks_devices(pod):
                yield owner_of(pod)

    def _lacks_devices(self, pod: Pod) -> list[str]:
        """Return the claims without devices of a bound pod that does not run yet."""
        if not pod.spec.node_name or not pod.spec.resource_claims or ended(pod) or pod.metadata.deletion_timestamp:
            return []
        if pod.status.phase not in ("", "Pending"):
            return []
        state = self._states.of(owner_of(pod))
        return [claim.name for claim in state.pending_claims] if state is not None else []

    # The simulation

    @cached_property
    def _about(self) -> RunQuestion:
        asked = self._question
        taken = accepted(self._inventory, self._view.target, everybody, refusals=self._refusals)
        return RunQuestion(taken.inventory, self._view, asked.max_steps, self._deadline)

    @cached_property
    def _accepted(self) -> Index:
        """Return the index of the objects in the run."""
        taken = self._about.inventory
        return self._index if taken is self._inventory else Index(taken)

    @cached_property
    def _run(self) -> VerdictRun:
        planned = self._plan.claim_sets
        return VerdictRun(self._about, self._owners_of, self._common, self._is_explained, planned=planned)

    def _is_explained(self, pod: Pod) -> bool:
        """Return whether the pod belongs to an owner that is examined closely, or to the pod group of one."""
        group = pod.spec.scheduling_group
        if group is not None and (pod.metadata.namespace, group.pod_group_name) in self._groups:
            return True
        return any(owner in self._closely for owner in self._owners_of.of(pod))

    @cached_property
    def _groups(self) -> set[tuple[str, str]]:
        """Return the pod groups of the pods that are examined closely."""
        return {
            (pod.metadata.namespace, pod.spec.scheduling_group.pod_group_name)
            for pod in self._inventory.pods
            if pod.spec.scheduling_group is not None and not self._closely.isdisjoint(self._owners_of.of(pod))
        }

    # Verdicts

    def of_claims(self) -> Iterator[OwnerVerdict]:
        """Yield the verdicts on unused claims, and on named ones that have their devices."""
        claims = {(claim.metadata.namespace, claim.metadata.name): claim for claim in self._inventory.claims}
        for plan in self._plan.claim_sets:
            claim_set = plan.claim_set
            if claim_set.owner is None and len(claim_set.claims) == 1:
                yield self._of_claim(claim_set.claims[0], _OF_SETS[plan.outcome])
        for one in self._plan.unplanned:
            if one.owner.kind == CLAIM:
                claim = claims[one.owner.namespace, one.owner.name]
                yield self._of_claim(claim, "Bound" if one.state == "Allocated" else "Finished")

    def _of_claim(self, claim: ResourceClaim, verdict: Verdict) -> OwnerVerdict:
        findings = self._refusals.of(claim) if claim.allocation is None else ()
        return OwnerVerdict(
            kind=CLAIM,
            namespace=claim.metadata.namespace,
            name=claim.metadata.name,
            verdict="Refused" if findings else verdict,
            findings=list(map(finding_entry, findings)),
        )

    def of_owner(self, owner: Owner) -> OwnerVerdict:
        """Return the verdict on a pod or workload."""
        pod = self._pods.get(owner)
        made = self._of_pod(owner, pod) if pod is not None else self._of_workload(owner, self._workloads[owner])
        return self._with_unready(made, owner)

    def _of_pod(self, owner: Owner, pod: Pod) -> OwnerVerdict:
        made = OwnerVerdict(kind=owner.kind, namespace=owner.namespace, name=owner.name, verdict="Finished")
        made = structs.replace(made, total_nodes=len(self._nodes))
        if ended(pod) or pod.metadata.deletion_timestamp:
            return structs.replace(made, node_name=pod.spec.node_name)
        if pod.spec.node_name:
            return self._of_bound(made, pod)
        fates = self._fates.of(self._run, owner)
        fate = decisive(fates)
        if fate is None:
            return self._refused(self._evicted(made, pod), pod)
        made = self._with_fates(made, owner, fates, fate)
        last = last_message(pod, fates[0].record, self._inventory.cluster_info)
        if last is not None and made.verdict == "Unknown":  # nothing is found that it could be compared with
            last = structs.replace(last, same_today=False, changed=[])
        called = "Unknown" if made.verdict == "Unknown" else _called(fates[0].record)
        made = structs.replace(made, scheduled=called, last_message=last)
        return self._refused(made, pod)

    def _with_unready(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """Return the verdict with the pods of DaemonSets that are not ready, if a driver publishes nothing."""
        plan = self._plan_of(owner)
        absent = plan.explanation.absent if plan is not None and plan.explanation is not None else []
        if SLICES not in made.missing and not any(one.reference.kind == "driver" for one in absent):
            return made
        return structs.replace(made, unready_pods=self._placed.drivers.unready())

    def _evicted(self, made: OwnerVerdict, pod: Pod) -> OwnerVerdict:
        """Return the verdict on a pod that gets a node and is then evicted for another one."""
        run = self._run
        found = next((each for each in run.result.evictions if each.victim == pod.key), None)
        if found is None:
            return made
        others = [each.pod for each in run.result.pods if each.pod.key == found.preemptor]
        made = structs.replace(made, verdict="Unschedulable", node_name=found.node)
        return structs.replace(made, evicted_for=[other_pod(run, other, found.node) for other in others])

    def _of_bound(self, made: OwnerVerdict, pod: Pod) -> OwnerVerdict:
        node, lacking = pod.spec.node_name, self._lacks_devices(pod)
        made = structs.replace(made, node_name=node, scheduled="Bound")
        if node not in self._nodes and pod.status.phase in ("", "Pending"):
            return structs.replace(made, verdict="Held", held_by="NodeName", held=[node])
        if lacking:
            return structs.replace(made, verdict="Stuck", held=lacking)
        return self._placed.of_pod(structs.replace(made, verdict="Bound"), pod)

    @cached_property
    def _placed(self) -> PlacedPods:
        return PlacedPods(self._inventory, self._view)

    def _of_workload(self, owner: Owner, workload: AnyWorkload) -> OwnerVerdict:
        made = OwnerVerdict(kind=owner.kind, namespace=owner.namespace, name=owner.name, verdict="Finished")
        made = structs.replace(made, total_nodes=len(self._nodes))
        if is_over(workload):
            return made
        fates = self._fates.of(self._run, owner)
        pods = [pod for pod in self._index.pods_of(workload) if not ended(pod)]
        made = structs.replace(made, wanted=max(wanted(workload, pods).number, len(pods)))
        fate = decisive(fates)
        if fate is None and owner not in self._forbidden:
            if pods:
                return self._of_placed(made, workload, pods)
            about = queue_of(self._inventory, workload)
            made = structs.replace(made, verdict="Suspended", held=[about["queue"]] if about["queue"] else [], **about)
            made = self._refused(made, workload)
            shows_devices = made.verdict != "Suspended" or self._plan_of(owner) is not None
            return made if shows_devices else self._trials.with_freed(made, owner)
        made = self._with_fates(made, owner, fates, fate) if fate is not None else made
        return self._refused_last(self._refused(made, workload), workload)

    def _of_placed(self, made: OwnerVerdict, workload: AnyWorkload, pods: Sequence[Pod]) -> OwnerVerdict:
        """Return the verdict on a workload without pending pods: a StatefulSet may wait before it creates the next."""
        made = structs.replace(made, verdict="Bound", evictions=self._placed.evictions(pods))
        if not is_ordered(workload) or len(pods) >= made.wanted:
            return made
        waiting = [pod.metadata.name for pod in pods if not is_ready(pod)]
        return structs.replace(made, verdict="Held", held_by="Order", held=waiting[:1], pods=made.wanted - len(pods))

    def _refused_last(self, made: OwnerVerdict, workload: AnyWorkload) -> OwnerVerdict:
        """Return Refused if the cluster reports that its API server rejects the pods for an unknown reason.

        A quota of the input is known: that it would admit the pods now was checked, and differs from the report.
        """
        info = self._inventory.cluster_info
        failure = replica_failure(workload) if info is None or not info.anonymized else None
        if failure is None or made.verdict not in ("WouldBind", "WouldPreempt"):
            return made
        last = LastMessage(
            reason=failure.reason,
            message=failure.message,
            time=failure.last_transition_time or "",
            same_today=False,
        )
        named = quota_named(failure.message)
        if any(
            (one.metadata.namespace, one.metadata.name) == (made.namespace, named) for one in self._inventory.quotas
        ):
            return structs.replace(made, last_message=last)
        return structs.replace(made, verdict="Refused", node_name="", victims=[], last_message=last)

    @cached_property
    def _forbidden(self) -> dict[Owner, list[NotCreated]]:
        """Return the admission errors of pods that are not created, by owner."""
        found: dict[Owner, list[NotCreated]] = {}
        for each in self._run.not_made:
            for owner in dict.fromkeys(self._owners_of.of(each.pod)):
                found.setdefault(owner, []).append(each)
        return found

    def _refused(self, made: OwnerVerdict, asked: Pod | AnyWorkload) -> OwnerVerdict:
        findings = self._refusals.of(asked)
        if not findings:
            forbidden = self._forbidden.get(Owner(made.kind, made.namespace, made.name))
            if not forbidden:
                return made
            resources = [one.resource for one in forbidden[0].over]
            made = structs.replace(
                made,
                verdict="Refused",
                node_name="",
                victims=[],
                message=(forbidden[0].reason if made.kind != POD else "") or forbidden[0].message,
                over=resources,
                forbidden=len(forbidden),
                forbidden_claim=forbidden[0].claim,
                defaulted=defaulted(self._inventory, asked, resources),
                pods=made.pods + len(forbidden) if made.kind != POD else 0,
            )
            return self._trials.with_quotas(made, Owner(made.kind, made.namespace, made.name))
        made = structs.replace(
            made, verdict="Refused", node_name="", victims=[], findings=list(map(finding_entry, findings))
        )
        return self._trials.with_freed(made, Owner(made.kind, made.namespace, made.name))

    def _with_admin_access(self, namespace: str) -> Inventory:
        labelled = with_admin_access(self._inventory, namespace)
        return accepted(labelled, self._view.target, everybody, self._question.runtime_config).inventory

    def _with_fates(self, made: OwnerVerdict, owner: Owner, fates: Sequence[Fate], fate: Fate) -> OwnerVerdict:
        """Return the verdict on several pods: that of the decisive one."""
        record, run = fate.record, self._run
        made = structs.replace(
            made,
            verdict=fate.verdict,
            victims=list(fate.victims),
            held_by=fate.held_by or "",
            held=list(fate.held),
            not_tried=run.not_tried,
            pods=len(fates) if owner.kind != POD else 0,
            would_bind=sum(fate.is_good for fate in fates) if owner.kind != POD else 0,
        )
        if record is None:
            return made
        if fate.held_by == "SchedulingGates":
            made = structs.replace(made, **queue_of(self._inventory, record.pod))
        if fate.held_by == "Preemption":
            made = structs.replace(made, until=self._gone_by(fate.held))
        if fate.held_by == "MissingClaim":
            made = structs.replace(made, leaving_claims=leaving_claims(self._inventory, record.pod))
        if fate.held_by == "BindingConditions":
            made = structs.replace(made, awaited=awaited_conditions(self._inventory, record.pod))
        node = record.pod.status.nominated_node_name if fate.held_by == "Preemption" else record.node
        made = structs.replace(made, node_name=node, message=record.message, waiting=record.waiting)
        made = self._with_group(structs.replace(made, kubelet=self._older_kubelet(record)), record.pod)
        made, record = self._of_gang(made, record)
        if fate.verdict == "Unschedulable" and record.refusals is not None:
            made = self._with_nodes(made, owner, record, record.refusals, run)
            priority = run.priority(record.pod)
            preempts = priority > 0 and record.pod.spec.preemption_policy != "Never"
            made = structs.replace(
                made, low_priority=priority if priority < 0 else None, priority=priority if preempts else None
            )
            if preempts:
                made = structs.replace(made, nodes=[with_priorities(each, run, priority) for each in made.nodes])
        if fate.verdict in _CONTESTED and owner in self._closely and not run.came_first(record.pod):
            made = self._with_rivals(made, owner)
        made = self._with_missing(made, owner, record)
        return self._trials.with_remedies(self._trials.with_spared(made, owner, record.pod), owner)

    def _gone_by(self, names: Sequence[str]) -> str:
        """Return when the last of these pods has to be gone: the API server adds the grace period to the time."""
        times = [pod.metadata.deletion_timestamp or "" for pod in self._inventory.pods if pod.key in names]
        return max(times, default="")

    @cached_property
    def _trials(self) -> OwnerTrials:
        ground = TrialGround(
            index=self._accepted,
            about=self._about,
            question=self._question,
            run=self._run,
            common=self._common,
            owners_of=self._owners_of,
            fates=self._fates,
            closely=self._closely,
            is_explained=self._is_explained,
            at_length=bool(self._question.owners) or len(self.owners) <= MOST_HELPED,
            with_nodes=self._with_nodes,
            with_admin_access=self._with_admin_access,
            plan_of=self._plan_of,
        )
        return OwnerTrials(ground)

    def _summary_of(self, pod: Pod) -> GroupSummary | None:
        """Return what the run says of the pod's group."""
        group = pod.spec.scheduling_group
        named = (pod.metadata.namespace, group.pod_group_name) if group is not None else None
        return next((each for each in self._run.result.groups if (each.namespace, each.name) == named), None)

    def _with_group(self, made: OwnerVerdict, pod: Pod) -> OwnerVerdict:
        """Return the verdict with the existing and the required pods of a group, if the group holds the pod back."""
        found = self._summary_of(pod)
        if made.held_by != "PodGroup" or found is None:
            return made
        return structs.replace(made, group_pods=found.pods, group_least=found.min_count)

    def _of_gang(self, made: OwnerVerdict, record: PodRecord) -> tuple[OwnerVerdict, PodRecord]:
        """Return the verdict with the gang that finds too few nodes, and the first of its pods without one.

        The others find a node as long as the cycle of the group runs, so only that pod has reasons.
        """
        summary = self._summary_of(record.pod)
        if made.verdict != "Unschedulable" or summary is None or not summary.min_count:
            return made, record
        found = summary.bound + sum(bool(each.node) for each in summary.last)
        keys = [each.pod for each in summary.last if not each.node]
        refused = [each for key in keys for each in self._run.result.pods if each.pod.key == key and each.refusals]
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
        plan = self._plan_of(owner) if made.gang is None else None  # devices of other pods of the gang count
        attempt = run.attempts.get(pod_uid(record.pod))
        of_devices = DeviceReasons(plan, attempt, self._inventory, self._question.max_steps)
        plugins = Counter(found[0].plugin for found in refusals.of_nodes.values())
        of_plugins = {each.plugin for found in refusals.of_nodes.values() for each in found}
        of_volumes = not of_plugins.isdisjoint(OF_VOLUMES)
        return structs.replace(
            made,
            of_all_nodes=refusals.of_all,
            total_nodes=len(refusals.of_nodes),
            nodes=refusing_nodes(
                self._of_interest(refusals),
                of_devices,
                OnNodes(
                    record.pod,
                    run.pods_on,
                    self._inventory.limit_ranges,
                    [pod for pod in self._inventory.pods if ended(pod)],
                    self._nodes,
                ),
            ),
            refused_by=[plugin for plugin, _ in plugins.most_common()],
            absent=of_devices.absent,
            volume_claims=needs_of(self._inventory, record.pod) if of_volumes else [],
            volumes_apart=volumes_apart(self._inventory, record.pod) if of_volumes else None,
            label_conflict=label_conflict(record.pod) if plugin_names.NODE_AFFINITY in of_plugins else None,
        )

    def _plan_of(self, owner: Owner) -> ClaimSetPlan | None:
        """Return the first of the plans of the owner's claim sets."""
        return next(iter(self._sets.get(owner, ())), None)

    def _of_interest(self, refusals: NodeRefusals) -> NodeRefusals:
        """Return the rejections of the nodes in question."""
        wanted = self._question.nodes
        if not wanted or refusals.of_all:
            return refusals
        return replace(
            refusals, of_nodes={name: refusals.of_nodes[name] for name in wanted if name in refusals.of_nodes}
        )

    def _with_rivals(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """Return the verdict without the other pending pods, if it differs, and the pods that take the capacity."""
        run = self._run
        rivals = [
            record
            for record in run.result.pods
            if record.attempts and record.node and owner not in self._owners_of.of(record.pod)
        ]
        if not rivals and not run.not_tried:
            return made
        alone = VerdictRun(
            self._about,
            self._owners_of,
            self._common,
            self._is_explained,
            lambda pod: owner in self._owners_of.of(pod),
        )
        fate = next(iter(self._fates.of(alone, owner)), None)
        if fate is None or fate.record is None or fate.verdict == made.verdict:
            return made
        node = fate.record.node
        if made.verdict == "Undecided":
            made = structs.replace(made, verdict=fate.verdict, node_name=node, victims=list(fate.victims))
            refusals = fate.record.refusals
            return made if refusals is None else self._with_nodes(made, owner, fate.record, refusals, alone)
        first = [rival for rival in rivals if rival.node == node] or rivals
        return structs.replace(
            made,
            alone=AloneVerdict(verdict=fate.verdict, node_name=node),
            first=[other_pod(run, rival.pod, rival.node) for rival in first[:MOST_FIRST]] if fate.is_good else [],
        )

    def _with_missing(self, made: OwnerVerdict, owner: Owner, record: PodRecord) -> OwnerVerdict:
        """Return Unknown if the input lacks every object of a deciding kind, and nothing else excludes all nodes.

        The verdict includes the result without what holds the pod back, or what excludes all nodes alike.
        """
        missing = self._missing(made, record)
        unknown = structs.replace(made, verdict="Unknown", missing=missing)
        if not missing:
            return self._trials.with_freed(made, owner)
        if made.of_all_nodes:
            made = self._trials.with_freed(structs.replace(made, missing=missing), owner)
        is_certain = self._certainty.is_refused(record)
        return structs.replace(made, missing=missing) if is_certain else unknown

    @cached_property
    def _certainty(self) -> Certainty:
        return Certainty(self._inventory, self._run.priority)

    def _missing(self, made: OwnerVerdict, record: PodRecord) -> list[str]:
        """Return the deciding objects that the input lacks, in kubectl's terms."""
        pod, missing = record.pod, list[str]()
        if made.verdict in ("Unschedulable", "Error"):
            missing = self._certainty.missing(record)
        if made.verdict == "Held" and made.held_by == "MissingClaim" and not was_listed(self._inventory, CLAIM):
            made_claims = [one for one in pod.status.resource_claim_statuses if one.resource_claim_name]
            missing += ["resourceclaims"] if made_claims and not self._inventory.claims else []
        return missing


_OF_SETS: dict[Outcome, Verdict] = {
    Outcome.REFUSED: "Refused",
    Outcome.UNKNOWN: "Unknown",
    Outcome.FITS: "WouldBind",
    Outcome.DOES_NOT_FIT: "Unschedulable",
    Outcome.NODE_ERROR: "Unschedulable",
    Outcome.ERROR: "Error",
    Outcome.UNDECIDED: "Undecided",
}
"""The verdicts for unused claims, by the result for their devices."""


def is_ready(pod: Pod) -> bool:
    """Return whether the kubelet reports the pod as ready."""
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def _number(minor: str) -> list[int]:
    return [int(part) for part in minor.split(".")]


def _called(record: PodRecord | None) -> Any:
    return record.outcome if record is not None else ""
