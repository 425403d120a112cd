"""`explain`: the result of one changed input for the pods of an owner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.documents.cluster_changes import PodsGone
from dra_plan.documents.suggestions import ObjectPatch, SuggestedChange, TriedChanges


class Trial(NamedTuple):
    """The result for the owner's pods in a changed input.

    It contains the node of the first pod that fits, and the number of pods that fit. `evicts` are the pods
    (NAMESPACE/NAME) that make room for the first pod, and `places` the nodes of the pods that replace removed ones, or
    "" for those that get no node.
    """

    node: str
    bound: int
    is_whole: bool
    evicts: tuple[str, ...] = ()
    places: Mapping[str, str] = MappingProxyType({})

    def helps(self, before: int) -> bool:
        """Return whether all pods fit, or more pods than `before`."""
        return self.is_whole or self.bound > before

    def after(self, changes: Iterable[SuggestedChange], made: Sequence[ObjectPatch]) -> TriedChanges:
        """Return the suggestion for the changes that led to this result."""
        return TriedChanges(
            changes=[_with_places(one, self.places) for one in changes],
            node=self.node,
            evicts=list(self.evicts),
            patches=list(made),
            would_bind=0 if self.is_whole else self.bound,
        )


class Tries(Protocol):
    """A function that returns the result for the owner's pods in a changed input, or None if the change is useless."""

    def __call__(self, changed: Inventory, then: Sequence[Inventory] = ()) -> Trial | None:
        """Return the result. `then` are states that the changed input reaches afterwards, one after another."""


def _with_places(change: SuggestedChange, places: Mapping[str, str]) -> SuggestedChange:
    """Return the change; if it removes pods, it says which nodes take the pods that replace them, or that none does."""
    if not isinstance(change, PodsGone) or change.code != "remove-pods":
        return change
    nodes = [places.get(pod) for pod in change.pods]
    if "" in nodes:
        return structs.replace(change, stays="WithoutPlace")
    then_on = [node for node in nodes if node]
    return structs.replace(change, code="restart-pods", then_on=then_on) if len(then_on) == len(nodes) else change
