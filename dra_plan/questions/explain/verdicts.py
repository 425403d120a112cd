"""`explain`: the verdict on each owner from the whole scheduler, with the obstacles of its pods on nodes.

The verdict on a pod is that of `schedule` with all pending pods of the input (`pending.py`). Conditions that no
scheduling can change take precedence: an object that the API server rejects, and a bound pod without its devices. The
wording is in `text/headlines.py` and `text/verdicts.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import structs

from dra_plan.allocator import Outcome, View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.well_known import KUEUE_QUEUE
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.expand import waiting_owners
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import ended, is_over, is_ready, is_waiting, wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.verdict_parts import LastMessage, Verdict
from dra_plan.documents.verdicts import GOOD, OwnerVerdict
from dra_plan.explanation.unready_pods import gate_controllers, unready_pod
from dra_plan.planner.creation import NotCreated
from dra_plan.planner.owners import CLAIM, POD, OwnerStates
from dra_plan.planner.question import Question
from dra_plan.planner.refused import OwnerRefusals, finding_entry
from dra_plan.planner.rivals import other_pod
from dra_plan.questions.allocate.answer import AllocationPlan
from dra_plan.questions.explain.bindings import queue_of
from dra_plan.questions.explain.doubts import doubted
from dra_plan.questions.explain.fates import decisive
from dra_plan.questions.explain.peaks import defaulted
from dra_plan.questions.explain.pending import PendingPods
from dra_plan.questions.explain.placed import PlacedPods
from dra_plan.questions.explain.reasons import (
    class_named,
    last_message,
    quota_named,
    replica_failure,
)
from dra_plan.questions.explain.rollouts import StuckRollout, stuck_rollout
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.new_pods import is_ordered

SLICES = "resourceslices"
"""What the input lacks if it contains no devices."""


def verdicts(
    inventory: Inventory,
    view: View,
    question: Question,
    plan: AllocationPlan,
    refusals: OwnerRefusals,
    deadline: float | None,
) -> list[OwnerVerdict]:
    """Return the verdicts on all pods and workloads, followed by those on all claims, in the order of `plan`.

    `inventory` must already contain its nodes. After the `deadline`, on the monotonic clock, open results are
    Undecided.
    """
    found = _Verdicts(inventory, view, question, plan, refusals, deadline)
    return [*(found.of_owner(owner) for owner in found.owners), *found.of_claims()]


class _Verdicts:
    """Examines one owner after another."""

    def __init__(
        self,
        inventory: Inventory,
        view: View,
        question: Question,
        plan: AllocationPlan,
        refusals: OwnerRefusals,
        deadline: float | None,
    ) -> None:
        self._refusals = refusals
        self._inventory, self._view, self._question, self._plan = inventory, view, question, plan
        self._index = Index(inventory)
        self._states = OwnerStates(self._index, view.target)
        self._pods = {owner_of(pod): pod for pod in inventory.pods}
        self._workloads = {owner_of(workload): workload for workload in inventory.workloads}
        self._nodes = {node.metadata.name for node in inventory.nodes}
        self.owners = self._asked()
        self._pending = PendingPods(self._index, view, question, plan, self.owners, refusals, deadline)

    # The subjects

    def _asked(self) -> list[Owner]:
        """Return the pods and workloads: the named ones, or all pending ones and blocked ones."""
        of_sets = dict.fromkeys(each.claim_set.owner for each in self._plan.claim_sets if each.claim_set.owner)
        if self._question.owners or self._question.names_groups:
            named = {Owner(one.owner.kind, one.owner.namespace, one.owner.name): None for one in self._plan.unplanned}
            return [owner for owner in {**of_sets, **named} if owner.kind != CLAIM]
        namespace, selector = self._question.namespace, self._question.selector
        waiting = waiting_owners(self._inventory, namespace=namespace, selector=selector)
        return list(dict.fromkeys([*waiting, *of_sets, *self._stuck_owners()]))

    def _stuck_owners(self) -> Iterator[Owner]:
        for pod in self._inventory.pods:
            if self._question.chooses(pod.metadata) and self._lacks_devices(pod):
                yield owner_of(pod)
        for workload in self._inventory.workloads:
            is_top = self._index.owners.of(workload.metadata) is None
            if is_top and replica_failure(workload) is not None and self._question.chooses(workload.metadata):
                yield owner_of(workload)

    def _lacks_devices(self, pod: Pod) -> list[str]:
        """Return the claims without devices of a bound pod that does not run yet."""
        if not pod.spec.node_name or not pod.spec.resource_claims or ended(pod) or pod.metadata.deletion_timestamp:
            return []
        if pod.status.phase not in ("", "Pending"):
            return []
        state = self._states.of(owner_of(pod))
        return [claim.name for claim in state.pending_claims] if state is not None else []

    # The simulation

    # Verdicts

    def of_claims(self) -> Iterator[OwnerVerdict]:
        """Yield the verdicts on unused claims, and on named claims that already have devices."""
        for plan in self._plan.claim_sets:
            claim_set = plan.claim_set
            if claim_set.owner is None and len(claim_set.claims) == 1:
                yield self._of_claim(claim_set.claims[0], _OF_SETS[plan.outcome])
        for one in self._plan.unplanned:
            if one.owner.kind == CLAIM:
                claim = self._index.claim(one.owner.namespace, one.owner.name)
                assert claim is not None, "a claim of the input"
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
        return self._with_failing(self._with_unready(made, owner), owner)

    def _with_failing(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """Return the verdict with the pods of drivers that fail on the node that the pod gets."""
        plan = self._pending.plan_of(owner) if made.verdict in GOOD else None
        if plan is None or not plan.claim_set.claims:
            return made
        return structs.replace(made, failing=self._placed.drivers.failing_on(made.node_name, plan.claim_set.claims))

    def _of_pod(self, owner: Owner, pod: Pod) -> OwnerVerdict:
        made = OwnerVerdict(kind=owner.kind, namespace=owner.namespace, name=owner.name, verdict="Finished")
        made = structs.replace(made, total_nodes=len(self._nodes))
        if ended(pod) or pod.metadata.deletion_timestamp:
            return structs.replace(made, node_name=pod.spec.node_name)
        if pod.spec.node_name:
            return self._of_bound(made, pod)
        fates = self._pending.fates(owner)
        fate = decisive(fates)
        if fate is None:
            return self._refused(self._evicted(made, pod), pod)
        made = self._pending.verdict(made, owner, fates, fate)
        last = last_message(pod, fates[0].record, self._inventory.cluster_info)
        if last is not None and made.verdict == "Unknown":  # nothing is found that it could be compared with
            last = structs.replace(last, same_today=False, changed=[])
        called = "Unknown" if made.verdict == "Unknown" else _called(fates[0].record)
        made = structs.replace(made, scheduled=called, last_message=last)
        return doubted(self._refused(made, pod), self._inventory, [pod])

    def _with_unready(self, made: OwnerVerdict, owner: Owner) -> OwnerVerdict:
        """Return the verdict with the pods of DaemonSets that are not ready, if a driver publishes nothing."""
        plan = self._pending.plan_of(owner)
        absent = plan.explanation.absent if plan is not None and plan.explanation is not None else []
        if SLICES not in made.missing and not any(one.reference.kind == "driver" for one in absent):
            return made
        return structs.replace(made, unready_pods=self._placed.drivers.unready())

    def _evicted(self, made: OwnerVerdict, pod: Pod) -> OwnerVerdict:
        """Return the verdict on a pod that gets a node and is then evicted for another one."""
        run = self._pending.run
        found = next((each for each in run.result.evictions if each.victim == pod.key), None)
        if found is None:
            return made
        others = [each.pod for each in run.result.pods if each.pod.key == found.preemptor]
        made = structs.replace(made, verdict="Unschedulable", node_name=found.node)
        return structs.replace(
            made, evicted_for=[other_pod(other, run.priority(other), found.node) for other in others]
        )

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
        fates = self._pending.fates(owner)
        pods = [pod for pod in self._index.pods_of(workload) if not ended(pod)]
        made = structs.replace(made, wanted=max(wanted(workload, pods).number, len(pods)))
        fate = decisive(fates)
        if fate is None and owner not in self._forbidden:
            if pods:
                return self._of_placed(made, workload, pods)
            about = queue_of(self._inventory, workload)
            made = structs.replace(made, verdict="Suspended", held=[about["queue"]] if about["queue"] else [], **about)
            if made.queue:
                keepers = gate_controllers(self._inventory.pods, [KUEUE_QUEUE])
                made = structs.replace(made, gate_controllers=keepers)
            made = self._refused(made, workload)
            shows_devices = made.verdict != "Suspended" or self._pending.plan_of(owner) is not None
            return made if shows_devices else self._pending.trials.with_freed(made, owner)
        made = self._pending.verdict(made, owner, fates, fate) if fate is not None else made
        made = self._refused_last(self._refused(made, workload), workload)
        return doubted(made, self._inventory, [pod for pod in pods if is_waiting(pod)])

    def _of_placed(self, made: OwnerVerdict, workload: AnyWorkload, pods: Sequence[Pod]) -> OwnerVerdict:
        """Return the verdict on a workload without pending pods: a StatefulSet may wait before it creates the next."""
        made = structs.replace(made, verdict="Bound", evictions=self._placed.evictions(pods))
        stuck = stuck_rollout(self._index, self._view, owner_of(workload), self._question)
        if stuck is not None:
            return _of_rollout(made, stuck)
        if not is_ordered(workload) or len(pods) >= made.wanted:
            starting = [pod for pod in pods if not (is_ready(pod) or pod.metadata.deletion_timestamp)]
            return structs.replace(made, awaited_pods=[unready_pod(pod, pod.spec.node_name) for pod in starting])
        waiting = [pod for pod in pods if not is_ready(pod)][:1]
        return structs.replace(
            made,
            verdict="Held",
            held_by="Order",
            held=[pod.metadata.name for pod in waiting],
            pods=made.wanted - len(pods),
            awaited_pods=[unready_pod(pod, pod.spec.node_name) for pod in waiting if pod.spec.node_name],
        )

    def _refused_last(self, made: OwnerVerdict, workload: AnyWorkload) -> OwnerVerdict:
        """Return Refused if the cluster reports that its API server rejects the pods for an unknown reason.

        A quota or a PriorityClass of the input is known: that it would admit the pods now was checked, and differs from
        the report.
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
        if self._is_known(made.namespace, quota_named(failure.message), class_named(failure.message)):
            return structs.replace(made, last_message=last)
        return structs.replace(made, verdict="Refused", node_name="", victims=[], last_message=last)

    def _is_known(self, namespace: str, quota: str, priority_class: str) -> bool:
        """Return whether the input has this quota, or this PriorityClass."""
        quotas = ((one.metadata.namespace, one.metadata.name) for one in self._inventory.quotas)
        classes = (one.metadata.name for one in self._inventory.priority_classes)
        return (namespace, quota) in quotas or priority_class in classes

    @cached_property
    def _forbidden(self) -> dict[Owner, list[NotCreated]]:
        """Return the admission errors of pods that are not created, by owner."""
        found: dict[Owner, list[NotCreated]] = {}
        for each in self._pending.run.not_made:
            for owner in dict.fromkeys(self._pending.owners_of.of(each.pod)):
                found.setdefault(owner, []).append(each)
        return found

    def _refused(self, made: OwnerVerdict, asked: Pod | AnyWorkload) -> OwnerVerdict:
        findings = self._refusals.of(asked)
        if not findings:
            forbidden = self._forbidden.get(Owner(made.kind, made.namespace, made.name))
            if not forbidden:
                return made
            over = forbidden[0].over
            made = structs.replace(
                made,
                verdict="Refused",
                node_name="",
                victims=[],
                message=(forbidden[0].reason if made.kind != POD else "") or forbidden[0].message,
                over=[*over],
                forbidden=len(forbidden),
                forbidden_claim=forbidden[0].claim,
                defaulted=defaulted(self._inventory, asked, [one.resource for one in over]),
                pods=made.pods + len(forbidden) if made.kind != POD else 0,
            )
            return self._pending.trials.with_quotas(made, Owner(made.kind, made.namespace, made.name))
        made = structs.replace(
            made, verdict="Refused", node_name="", victims=[], findings=list(map(finding_entry, findings))
        )
        return self._pending.trials.with_freed(made, Owner(made.kind, made.namespace, made.name))


def _of_rollout(made: OwnerVerdict, stuck: StuckRollout) -> OwnerVerdict:
    """Return the verdict on a Deployment whose rollout creates no pods because the API server rejects them."""
    return structs.replace(
        made,
        verdict="Refused",
        outdated=stuck.outdated,
        forbidden=1,
        message=stuck.rejected.reason or stuck.rejected.message,
        over=[*stuck.rejected.over],
        suggestions=stuck.suggestions,
    )


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


def _called(record: PodRecord | None) -> Any:
    return record.outcome if record is not None else ""
