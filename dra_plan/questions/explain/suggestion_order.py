"""`explain`: the order of the suggestions for an owner.

A new node comes before nodes that taints reserve for other pods, but after nodes whose taints only mark the hardware
that the owner requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_plan.api.core import PodSpec
from dra_plan.documents.cluster_changes import NodeAdded, NodeTaintMet
from dra_plan.documents.suggestions import SuggestedChange, TriedChanges
from dra_plan.explanation.suggest.admissions import suggestion_rank
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.questions.explain.vendors import vendor_of


def ordered(found: Iterable[TriedChanges], hardware: frozenset[str]) -> list[TriedChanges]:
    """Return the suggestions, the best one first.

    `hardware` are the domains of the devices that the owner requests.
    """
    every = sorted(found, key=lambda one: suggestion_rank(one.changes))
    added = [one for one in every if any(isinstance(change, NodeAdded) for change in one.changes)]
    if not added:
        return every
    last = max(suggestion_rank(one.changes) for one in added)
    reserved = [one for one in every if _is_reserved(one.changes, hardware) and suggestion_rank(one.changes) < last]
    rest = [one for one in every if one not in reserved]
    at = rest.index(added[-1]) + 1
    return [*rest[:at], *reserved, *rest[at:]]


def _is_reserved(changes: Sequence[SuggestedChange], hardware: frozenset[str]) -> bool:
    """Return whether they bring the owner onto a node that a taint reserves for others."""
    met = [one for one in changes if isinstance(one, NodeTaintMet) and one.code != "correct-toleration"]
    return any(vendor_of(one.taint.key) not in hardware for one in met)


def hardware_domains(spec: PodSpec | None, plan: ClaimSetPlan | None) -> frozenset[str]:
    """Return the domains of the extended resources and device classes that pods request."""
    containers = [*spec.containers, *spec.init_containers] if spec is not None else []
    names = {name for one in containers for name in (*one.resources.requests, *one.resources.limits) if "/" in name}
    requests = [one for claim in plan.claim_set.claims for one in claim.spec.devices.requests] if plan else []
    names |= {one.exactly.device_class_name for one in requests if one.exactly is not None}
    names |= {option.device_class_name for one in requests for option in one.first_available}
    return frozenset(filter(None, map(vendor_of, names)))
