"""What a change is: what documents tell of it, and how to make the placement in which it is applied.

Which changes are worth trying is `candidates.py`, trying them `trials.py`, where and for whom `search.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import asdict

from dra_plan.allocator.requests import Want
from dra_plan.documents.suggestions import CHANGES, SuggestedChange
from dra_plan.explanation import edits
from dra_plan.explanation.placement import Placement

RANKS = tuple(CHANGES)
"""All codes, from what changes least: the order of suggestions."""


@dataclass(slots=True, frozen=True)
class Change:
    """One change. `told` says what it is, for documents.

    `size` is what is still asked for, where that is a number: of two changes that differ in it alone the larger one
    changes less.
    """

    told: SuggestedChange
    apply: Callable[[Placement], Placement]
    size: int | None = None

    @property
    def code(self) -> str:
        """Its kind."""
        return self.told.code

    @property
    def rank(self) -> int:
        """Its place in the order of suggestions."""
        return RANKS.index(self.code)

    @property
    def key(self) -> tuple[str, ...]:
        """What changes must agree on to be one, however much of it each leaves."""
        told = asdict(self.told).items()
        return tuple(f"{name}={value}" for name, value in told if name not in ("to", "replacement"))


def edit_want(want: Want, edit: edits.Edit) -> Callable[[Placement], Placement]:
    """How to make a placement in which the want's request, or alternative, is edited."""
    return lambda placement: edits.edit_request(placement, want.claim_index, want.full_name, edit)
