"""Plan one claim set on all nodes: the search, warnings about time and defects, and the leading reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field, structs
from msgspec.structs import replace

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.allocator.search import pack, unpack
from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.api.well_known import UNSCHEDULABLE
from dra_plan.api.workloads import CustomWorkload, Job, pod_template
from dra_plan.claims.index import not_judged, owner_of
from dra_plan.claims.sets import NOT_AVAILABLE, ClaimSet, Owner, asked
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.claim_sets import NodeExclusion
from dra_plan.documents.reasons import LeadingReason
from dra_plan.explanation.suggest.admissions import AdmissionSearch, Tolerating
from dra_plan.manifests import kinds
from dra_plan.planner import notices
from dra_plan.planner.notices import TimeoutWatch
from dra_plan.planner.question import Question
from dra_plan.planner.refused import RefusedOwner
from dra_plan.releases import Target
from dra_plan.scheduler.refusals import NodeRules

if TYPE_CHECKING:
    from dra_plan.explanation.explainer import SetExplanation


class AllocatedClaim(NamedTuple):
    """A pending claim and its allocation."""

    claim: ResourceClaim
    allocation: AllocationResult

    def __repr__(self) -> str:
        devices = [f"{result.pool}/{result.device}" for result in self.allocation.devices.results]
        return f"<AllocatedClaim {self.claim.key}: {', '.join(devices)}>"


class ClaimSetPlan(Struct, frozen=True):
    """The results for one claim set.

    Iterating over the plan yields the allocator's outcome for each node, in input order. `excluded` lists the nodes
    that are excluded by other rules, such as taints.
    """

    claim_set: ClaimSet
    nodes: tuple[NodeOutcome, ...]
    explanation: SetExplanation | None = None
    excluded: Mapping[str, list[NodeExclusion]] = field(default_factory=dict)
    leading: tuple[LeadingReason, ...] = ()
    """The leading reasons why the set fits on no node, from the nodes that were examined for them."""
    lacking: frozenset[str] = frozenset()
    """The kinds that are missing from the input. If there are any, a set that does not fit is Unknown."""
    refused: tuple[RefusedOwner, ...] = ()
    """The owners of the set that the API server rejects. If there are any, the set fits on no node."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a compact form for sending the plan between processes."""
        packed = pack(self.nodes)
        rest = self.explanation, self.excluded, self.leading, self.lacking, self.refused
        if packed is None:
            return ClaimSetPlan, (self.claim_set, self.nodes, *rest)
        return _unpacked, (self.claim_set, packed, *rest)

    def __iter__(self) -> Iterator[NodeOutcome]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        fits = f"on {len(self.fitting_nodes)} of {len(self.nodes)} nodes"
        return f"<ClaimSetPlan of {self.name}: {self.outcome.value} {fits}>"

    @property
    def name(self) -> str:
        """The owner of the claims as KIND NAMESPACE/NAME.

        If the claims have no owner, this is the names of the claims.
        """
        if self.claim_set.owner is not None:
            part = self.claim_set.part
            return f"{self.claim_set.owner} ({part})" if part else str(self.claim_set.owner)
        return ", ".join(f"ResourceClaim {claim.key}" for claim in self.claim_set.claims) or "no claims"

    @property
    def outcome(self) -> Outcome:
        """The outcome for the whole claim set.

        As in Kubernetes, an error on any node ends the attempt even if the claims fit on another node. Errors on
        excluded nodes do not count, because the scheduler never examines these nodes. Objects that the API server
        rejects are never scheduled.
        """
        if self.refused:
            return Outcome.REFUSED
        if self.lacking and self._found not in (Outcome.FITS, Outcome.UNDECIDED):
            return Outcome.UNKNOWN
        return self._found

    @property
    def _found(self) -> Outcome:
        """The outcome by the contents of the input."""
        found = [node.outcome for node in self.nodes if node.node not in self.excluded]
        if self.claim_set.error is not None:
            return Outcome.ERROR
        for outcome in (Outcome.ERROR, Outcome.FITS, Outcome.UNDECIDED):
            if outcome in found:
                return outcome
        return Outcome.DOES_NOT_FIT

    @property
    def fitting_nodes(self) -> list[str]:
        """The names of the nodes where all claims fit and that no rule excludes.

        The list is empty if the API server rejects an owner of the set.
        """
        if self.refused:
            return []
        return [node.node for node in self.nodes if node.outcome is Outcome.FITS and node.node not in self.excluded]

    def claims_on(self, node: str) -> list[AllocatedClaim]:
        """Return the pending claims with their allocations on the node.

        The list is empty if the claims do not fit there. Raises KeyError if there is no such node.
        """
        for outcome in self.nodes:
            if outcome.node == node:
                return _allocated(self.claim_set.claims, outcome)
        raise KeyError(node)


def _unpacked(claim_set: ClaimSet, packed: bytes, *rest: Any) -> ClaimSetPlan:
    return ClaimSetPlan(claim_set, unpack(packed), *rest)


def _allocated(claims: Sequence[ResourceClaim], outcome: NodeOutcome) -> list[AllocatedClaim]:
    if outcome.outcome is not Outcome.FITS:
        return []
    return [AllocatedClaim(*pair) for pair in zip(claims, outcome.allocations, strict=True)]


def set_summary(plan: ClaimSetPlan) -> dict[str, Any]:
    """Return what every document says about a claim set: the claims and their owner, the outcome and the nodes."""
    return {**set_name(plan), "outcome": plan.outcome, "fitting_nodes": plan.fitting_nodes}


def set_name(plan: ClaimSetPlan) -> dict[str, Any]:
    """Return the owner and the claim names of a claim set, for documents."""
    owner = plan.claim_set.owner
    return {
        "owner": ObjectName(kind=owner.kind, namespace=owner.namespace, name=owner.name) if owner is not None else None,
        "claims": [
            ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name) for claim in plan.claim_set.claims
        ],
        "copies": plan.claim_set.copies,
        "not_judged": list(dict.fromkeys(rule for pod in plan.claim_set.pods for rule in not_judged(pod.spec))),
        "part": plan.claim_set.part,
    }


class PlannedSet(NamedTuple):
    """The plan for a claim set, and notices about it."""

    plan: ClaimSetPlan
    notices: tuple[Notice, ...] = ()

    @property
    def tells_of_all_alike(self) -> bool:
        """Whether the plan also holds for other claim sets with the same requests.

        A plan with an error does not, because the error names a claim.
        """
        return self.plan.claim_set.error is None and all(node.error is None for node in self.plan.nodes)

    def told_of(self, claim_set: ClaimSet) -> PlannedSet:
        """Return the plan for another claim set with the same requests."""
        about, source = notices.about(claim_set)
        told = tuple(structs.replace(notice, object=about, source=source) for notice in self.notices)
        return PlannedSet(ClaimSetPlan(claim_set, self.plan.nodes), told)


class SetPlanner:
    """A planner of claim sets. The plan for one claim set does not affect the others."""

    def __init__(
        self,
        view: View,
        nodes: Sequence[Node],
        question: Question,
        deadline: float | None,
        total: int = 0,
        *,
        reads_few: bool = False,
    ) -> None:
        """Create a planner. With `reads_few`, allocations are not built until they are read."""
        self.view, self.nodes, self.deadline = view, nodes, deadline
        self._pools = view.known_pools if reads_few else None
        self.max_steps = question.max_steps
        self._question, self._total, self._done = question, total, 0

    def plan(self, claim_set: ClaimSet) -> PlannedSet:
        """Return the plan for a claim set on all chosen nodes."""
        if claim_set.error is not None:
            names = [node.metadata.name for node in self.nodes]
            refused = [NodeOutcome(name, Outcome.ERROR, message=str(claim_set.error)) for name in names]
            return PlannedSet(ClaimSetPlan(claim_set, tuple(refused)))
        allocator = Allocator(
            claim_set.claims, self.view, max_steps=self.max_steps, deadline=self.deadline, pools=self._pools
        )
        watch = notices.Watch(self.view, claim_set, self.max_steps, self.deadline)
        clock = TimeoutWatch(self.view.target, claim_set, allocator, self.deadline)
        outcomes = []
        for node in self.nodes:
            outcome = allocator.allocate(node, self._question.probe)
            watch.saw(node, outcome)
            clock.saw(node, outcome)
            outcomes.append(_with_allocated(outcome, claim_set, node))
            self.answered(1)
        return PlannedSet(ClaimSetPlan(claim_set, tuple(outcomes)), (*watch.notices(), *clock.notices()))

    def answered(self, questions: int) -> None:
        """Report that `questions` more nodes have been examined."""
        self._done += questions
        if self._question.progress is not None:
            self._question.progress(self._done, self._total)


def _with_allocated(outcome: NodeOutcome, claim_set: ClaimSet, node: Node) -> NodeOutcome:
    """Return the outcome; allocated claims in the set exclude nodes that their node selector does not match."""
    if outcome.outcome is not Outcome.FITS or not claim_set.out_of_reach(node):
        return outcome
    return NodeOutcome(
        outcome.node, Outcome.DOES_NOT_FIT, message=NOT_AVAILABLE, steps=outcome.steps, out_of_reach=True
    )


class Admissions:
    """A search for changes that would let excluded nodes accept pods."""

    def __init__(self, nodes: Sequence[Node], inventory: Inventory, target: Target) -> None:
        self._nodes = {node.metadata.name: node for node in nodes}
        self._target = target
        self._pods = {owner_of(pod): pod for pod in inventory.pods}
        self._workloads = {owner_of(workload): workload for workload in inventory.workloads}

    def of(self, plan: ClaimSetPlan) -> ClaimSetPlan:
        """Return the plan with changes that would let the pods run on excluded nodes where all claims fit.

        Nothing is added if the claim set fits on a node, or if its scheduling attempt ended with an error.
        """
        if plan.explanation is None or plan.outcome not in (Outcome.DOES_NOT_FIT, Outcome.UNDECIDED):
            return plan
        room = [self._nodes[answer.node] for answer in self._excluded(plan, Outcome.FITS)]
        if not room:
            return plan
        failing = [self._nodes[answer.node] for answer in self._excluded(plan, Outcome.ERROR)]
        search = AdmissionSearch(
            self._excludes, UNSCHEDULABLE, plan.claim_set.pods, failing, list(self._nodes.values())
        )
        found = tuple(search.found(room, self._tolerating(plan.claim_set)))
        told = replace(plan.explanation, admissions=found, admissions_tried=search.tried)
        return replace(plan, explanation=told)

    def _excluded(self, plan: ClaimSetPlan, outcome: Outcome) -> list[NodeOutcome]:
        return [answer for answer in plan.nodes if answer.outcome is outcome and answer.node in plan.excluded]

    def _excludes(self, nodes: Sequence[Node], pods: Sequence[Pod]) -> Mapping[str, object]:
        return NodeRules(nodes, self._target).exclusions(pods)

    def _tolerating(self, claim_set: ClaimSet) -> list[Tolerating]:
        """Return the locations of all its pods' tolerations; nothing if one of them is unknown."""
        owners = [claim_set.owner] if claim_set.owner is not None else list(map(owner_of, claim_set.pods))
        found = [self._place(owner) for owner in owners]
        known = [place for place in found if place is not None]
        return known if len(known) == len(found) else []

    def _place(self, owner: Owner) -> Tolerating | None:
        pod, workload = self._pods.get(owner), self._workloads.get(owner)
        if pod is not None:
            return Tolerating(owner, pod.api_version, _path(pod.kind), tuple(pod.spec.tolerations))
        if workload is None or isinstance(workload, CustomWorkload):
            return None  # it is unknown where such a kind has its template, and in what form
        tolerations = tuple(pod_template(workload).spec.tolerations)
        is_fixed = isinstance(workload, Job)
        return Tolerating(owner, workload.api_version, _path(workload.kind), tolerations, recreate=is_fixed)


def _path(kind: str) -> str:
    """Return the path of the pods' tolerations in objects of the kind."""
    found = kinds.named(kind)
    assert found is not None, "an object of a kind that planning reads"
    return "/".join(("", *found.pod_spec, "tolerations"))


MOST_NODES = 50
"""The maximum number of nodes examined for each claim set."""


MOST_LOOKS = 1_000
"""The maximum number of nodes examined for all claim sets together."""


class Leading:
    """A search for the main reasons why claim sets fit on no node.

    Claim sets with the same requests are searched only once.
    """

    def __init__(self, view: View, nodes: Sequence[Node]) -> None:
        self._view, self._nodes = view, nodes
        self._looks = 0
        self._known: dict[Any, tuple[LeadingReason, ...]] = {}

    def of(self, plan: ClaimSetPlan) -> tuple[LeadingReason, ...]:
        """Return the main reasons why the claim set fits on no node.

        There are none if the claim set fits, if an error or a limit ended the search, or if `MOST_LOOKS` nodes have
        already been examined.
        """
        if plan.outcome not in (Outcome.DOES_NOT_FIT, Outcome.UNKNOWN):
            return ()
        from dra_plan.explanation.document import of_nodes

        claim_set = plan.claim_set
        chosen = self._chosen(plan)
        key = (asked(claim_set), tuple(chosen))
        if key not in self._known and self._looks >= MOST_LOOKS:
            return ()
        if key not in self._known:
            self._looks += len(chosen)
            nodes, answers = [self._nodes[at] for at in chosen], [plan.nodes[at] for at in chosen]
            self._known[key] = tuple(of_nodes(self._view, claim_set, nodes, answers))
        return self._known[key]

    def _chosen(self, plan: ClaimSetPlan) -> list[int]:
        """Return nodes that reject and are not excluded, spread over all of them.

        Nodes with devices of their own come first.
        """
        refusing = [
            at
            for at, answer in enumerate(plan.nodes)
            if answer.outcome is not Outcome.FITS and answer.node not in plan.excluded
        ]
        equipped = [at for at in refusing if self._view.gatherer.local_slices(plan.nodes[at].node)]
        chosen = equipped or refusing
        step = -(-len(chosen) // MOST_NODES) or 1
        return chosen[::step]
