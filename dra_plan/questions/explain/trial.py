"""`explain`: the result of one changed input for the pods of an owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.documents.suggestions import ObjectPatch, PodsGone, SuggestedChange, TriedChanges


class Trial(NamedTuple):
    """The result for the owner's pods in a changed input.

    It contains the node of the first pod that fits, and the number of pods that fit. `evicts` are the pods
    (NAMESPACE/NAME) that make room for the first pod. Of the removed pods, `without_place` are those whose new pod gets
    no node, and `placed` those whose new pod gets one.
    """

    node: str
    bound: int
    is_whole: bool
    evicts: tuple[str, ...] = ()
    without_place: frozenset[str] = frozenset()
    placed: frozenset[str] = frozenset()

    def helps(self, before: int) -> bool:
        """Return whether all pods fit, or more pods than `before`."""
        return self.is_whole or self.bound > before

    def after(self, changes: Iterable[SuggestedChange], made: Sequence[ObjectPatch]) -> TriedChanges:
        """Return the suggestion of the changes that led to this result."""
        return TriedChanges(
            changes=[_without_place(one, self) for one in changes],
            node=self.node,
            evicts=list(self.evicts),
            patches=list(made),
            would_bind=0 if self.is_whole else self.bound,
        )


Tries = Callable[[Inventory], Trial | None]
"""Returns the result of a changed input for the owner's pods; None if it is useless."""


def _without_place(change: SuggestedChange, trial: Trial) -> SuggestedChange:
    """Return the change; if it removes a pod whose new pod then gets no node, it says so."""
    if isinstance(change, PodsGone) and not trial.without_place.isdisjoint(change.pods):
        return structs.replace(change, stays="WithoutPlace")
    return change
