"""The answers for one claim set on all nodes, and what documents say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from dra_plan.allocator import NodeOutcome, Outcome
from dra_plan.allocator.search import pack, unpack
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.claims.index import not_judged
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.allocation import NodeExclusion
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.leading import LeadingReason

if TYPE_CHECKING:
    from dra_plan.explanation.explainer import SetExplanation


class AllocatedClaim(NamedTuple):
    """A pending claim, and what it gets."""

    claim: ResourceClaim
    allocation: AllocationResult

    def __repr__(self) -> str:
        devices = [f"{result.pool}/{result.device}" for result in self.allocation.devices.results]
        return f"<AllocatedClaim {self.claim.key}: {', '.join(devices)}>"


@dataclass(frozen=True, slots=True, repr=False)
class ClaimSetPlan:
    """The answers for one claim set, by node in input order: what `for` goes through.

    The allocator's word about a node is its outcome; `excluded` are the nodes that other rules keep the pod off.
    """

    claim_set: ClaimSet
    nodes: tuple[NodeOutcome, ...]
    explanation: SetExplanation | None = None
    excluded: Mapping[str, list[NodeExclusion]] = field(default_factory=dict)
    leading: tuple[LeadingReason, ...] = ()
    """What is in the way of a set that fits nowhere, on the nodes that were looked at for that."""

    def __reduce__(self) -> tuple[Any, ...]:
        """How it comes from another process, which may have asked about many nodes."""
        packed = pack(self.nodes)
        rest = self.explanation, self.excluded, self.leading
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
        """KIND NAMESPACE/NAME of the owner or, without one, of the claims."""
        if self.claim_set.owner is not None:
            part = self.claim_set.part
            return f"{self.claim_set.owner} ({part})" if part else str(self.claim_set.owner)
        return ", ".join(f"ResourceClaim {claim.key}" for claim in self.claim_set.claims) or "no claims"

    @property
    def outcome(self) -> Outcome:
        """The set's outcome: an error on any node ends the scheduling attempt upstream, whatever fits elsewhere.

        Excluded nodes are not asked there.
        """
        found = [node.outcome for node in self.nodes if node.node not in self.excluded]
        if self.claim_set.error is not None:
            return Outcome.ERROR
        for outcome in (Outcome.ERROR, Outcome.FITS, Outcome.UNDECIDED):
            if outcome in found:
                return outcome
        return Outcome.DOES_NOT_FIT

    @property
    def fitting_nodes(self) -> list[str]:
        """The names of the nodes on which all claims fit, and which no rule excludes."""
        return [node.node for node in self.nodes if node.outcome is Outcome.FITS and node.node not in self.excluded]

    def claims_on(self, node: str) -> list[AllocatedClaim]:
        """The pending claims with what they get on a node; none where the set does not fit. KeyError: no such node."""
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
    """Whose claims these are, whether they fit and where: the fields that every document has of a claim set."""
    return {**set_name(plan), "outcome": plan.outcome, "fitting_nodes": plan.fitting_nodes}


def set_name(plan: ClaimSetPlan) -> dict[str, Any]:
    """Whose claims these are."""
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
