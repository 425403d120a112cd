"""Explained sets that fit nowhere: what would let their pods onto excluded nodes that have room, and where to write it.

What to try is `explanation.suggest.admissions`; the rules are `scheduler.refusals`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dra_plan.allocator import NodeOutcome, Outcome
from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import UNSCHEDULABLE
from dra_plan.api.workloads import CustomWorkload, Job, pod_template
from dra_plan.claims.index import pod_owner, workload_owner
from dra_plan.claims.sets import ClaimSet, Owner
from dra_plan.explanation.suggest.admissions import AdmissionSearch, Tolerating
from dra_plan.manifests import kinds
from dra_plan.releases import Target
from dra_plan.scheduler.refusals import NodeRules

from .claim_set_plan import ClaimSetPlan


class Admissions:
    """Adds what was found to one plan after the other."""

    def __init__(self, nodes: Sequence[Node], inventory: Inventory, target: Target) -> None:
        self._nodes = {node.metadata.name: node for node in nodes}
        self._target = target
        self._pods = {pod_owner(pod): pod for pod in inventory.pods}
        self._workloads = {workload_owner(workload): workload for workload in inventory.workloads}

    def of(self, plan: ClaimSetPlan) -> ClaimSetPlan:
        """The plan with what would let its pods onto excluded nodes on which all claims fit.

        Nothing for one that fits already, or whose attempt an error ends.
        """
        if plan.explanation is None or plan.outcome not in (Outcome.DOES_NOT_FIT, Outcome.UNDECIDED):
            return plan
        room = [self._nodes[answer.node] for answer in self._excluded(plan, Outcome.FITS)]
        if not room:
            return plan
        failing = [self._nodes[answer.node] for answer in self._excluded(plan, Outcome.ERROR)]
        search = AdmissionSearch(self._excludes, UNSCHEDULABLE, plan.claim_set.pods, failing)
        found = tuple(search.found(room, self._tolerating(plan.claim_set)))
        told = replace(plan.explanation, admissions=found, admissions_tried=search.tried)
        return replace(plan, explanation=told)

    def _excluded(self, plan: ClaimSetPlan, outcome: Outcome) -> list[NodeOutcome]:
        return [answer for answer in plan.nodes if answer.outcome is outcome and answer.node in plan.excluded]

    def _excludes(self, nodes: Sequence[Node], pods: Sequence[Pod]) -> Mapping[str, object]:
        return NodeRules(nodes, self._target).exclusions(pods)

    def _tolerating(self, claim_set: ClaimSet) -> list[Tolerating]:
        """Where the tolerations of all its pods stand; nothing where that is not known of one of them."""
        owners = [claim_set.owner] if claim_set.owner is not None else list(map(pod_owner, claim_set.pods))
        found = [self._place(owner) for owner in owners]
        known = [place for place in found if place is not None]
        return known if len(known) == len(found) else []

    def _place(self, owner: Owner) -> Tolerating | None:
        pod, workload = self._pods.get(owner), self._workloads.get(owner)
        if pod is not None:
            return Tolerating(owner, pod.api_version, _path(pod.kind), tuple(pod.spec.tolerations))
        if workload is None or isinstance(workload, CustomWorkload):
            return None  # where such a kind keeps its template, and in which form, is its own affair
        tolerations = tuple(pod_template(workload).spec.tolerations)
        is_fixed = isinstance(workload, Job)
        return Tolerating(owner, workload.api_version, _path(workload.kind), tolerations, recreate=is_fixed)


def _path(kind: str) -> str:
    """Where objects of the kind have the tolerations of pods."""
    found = kinds.named(kind)
    assert found is not None, "an object of a kind that planning reads"
    return "/".join(("", *found.pod_spec, "tolerations"))
