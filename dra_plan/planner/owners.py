"""The owners that a question names: which of them are planned, and what the others are instead.

How names are read is in `ownernames`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan import claims
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index, pod_owner, workload_owner
from dra_plan.claims.owners import DEPLOYMENT, deployment_of, is_over, is_waiting
from dra_plan.claims.sets import ClaimSet, Expansion, Owner, joined
from dra_plan.documents.owners import UnplannedOwner
from dra_plan.errors import UsageError
from dra_plan.releases import Target

from .ownernames import CLAIM, Known, find
from .ownerstates import OwnerStates
from .question import Question


@dataclass(frozen=True, slots=True)
class ChosenSets:
    """The claim sets that a question asks for, and the owners that it names and that have none to plan."""

    expansion: Expansion
    unplanned: tuple[UnplannedOwner, ...] = ()


def choose_sets(inventory: Inventory, target: Target, question: Question) -> ChosenSets:
    """The claim sets of the question: those of the owners that it names, or all that `-n` and `-l` choose.

    A named pod or workload is planned whoever controls it; a named claim with those who use it. With `together` all of
    it is one set. Raises UsageError for names that nothing has.
    """
    if not question.owners and question.names_groups:
        return ChosenSets(Expansion([], []))
    if not question.owners:
        return ChosenSets(
            claims.expand(
                inventory,
                namespace=question.namespace,
                selector=question.selector,
                together=question.together,
                group_claims=target.features.group_claims,
            )
        )
    _check_choice(question)
    index = Index(inventory)
    states = OwnerStates(index, target)
    group_claims = target.features.group_claims
    named = _named(inventory, index, states, question, group_claims=group_claims)
    unplanned = {key: state for key in named if (state := states.of(key)) is not None}
    expansion = claims.expand(inventory, named=frozenset(named) - unplanned.keys(), group_claims=group_claims)
    if question.together:
        expansion = Expansion([joined(expansion.sets)], expansion.notices)
    return ChosenSets(expansion, tuple(unplanned.values()))


def chosen_pods(inventory: Inventory, target: Target, question: Question) -> PodChoice | None:
    """Which pods the names mean, those of named workloads included; None without names. Raises as `choose_sets`."""
    if not question.owners:
        return None
    _check_choice(question)
    index = Index(inventory)
    states, group_claims = OwnerStates(index, target), target.features.group_claims
    return PodChoice(index, frozenset(_named(inventory, index, states, question, group_claims=group_claims)))


class PodChoice:
    """Whether a pod, of the input or made for a workload of it, is among those that were named."""

    def __init__(self, index: Index, named: frozenset[ObjectKey]) -> None:
        self._index, self._named = index, named

    def __call__(self, pod: Pod) -> bool:
        """Whether the pod, or a workload that controls it, was named."""
        return any(map(self._is_named, (pod, *self._index.owners.above(pod.metadata))))

    def _is_named(self, obj: Pod | AnyWorkload) -> bool:
        metadata = obj.metadata
        names = ((obj.kind, metadata.name), (DEPLOYMENT, deployment_of(metadata)))
        return any((kind, metadata.namespace, name) in self._named for kind, name in names)

    def has_claim(self, namespace: str, name: str) -> bool:
        """Whether this claim was named."""
        return (CLAIM, namespace, name) in self._named


def _check_choice(question: Question) -> None:
    if question.selector is not None:
        raise UsageError("names and a label selector (-l) can't be given together: either of them chooses")


def _named(
    inventory: Inventory, index: Index, states: OwnerStates, question: Question, *, group_claims: bool
) -> list[ObjectKey]:
    """The objects that the names mean; for a pending claim those who use it, if one of them can be planned."""
    waiting = [pod_owner(pod) for pod in inventory.pods if is_waiting(pod)]
    working = [workload_owner(workload) for workload in inventory.workloads if not is_over(workload)]
    expanded = claims.expand(inventory, named={*waiting, *working}, group_claims=group_claims).sets
    made = {(CLAIM, c.metadata.namespace, c.metadata.name): one for one in expanded for c in one.claims}
    found: dict[ObjectKey, None] = {}
    for key in find(question.owners, Known(inventory, made), question.namespace):
        users = _users(key, index, made) if key[0] == CLAIM else []
        users = [user for user in users if states.of(user) is None]
        found.update(dict.fromkeys(users if users and states.of(key) is None else [key]))
    return list(found)


def _users(claim: ObjectKey, index: Index, made: dict[ObjectKey, ClaimSet]) -> list[Owner]:
    _, namespace, name = claim
    owner = made[claim].owner if claim in made else None
    return list(index.used_claims.get((namespace, name), ())) or ([owner] if owner is not None else [])
