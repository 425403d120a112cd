"""What a change is: its code, its data for documents, and how to make the placement in which it is applied.

Which changes are worth trying is `candidates.py`, trying them `trials.py`, where and for whom `search.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dra_plan.allocator.requests import Want
from dra_plan.documents.suggestions import CHANGES
from dra_plan.explanation import edits
from dra_plan.explanation.placement import Placement

Data = dict[str, Any]

RANKS = tuple(CHANGES)
"""All codes, from what changes least: the order of suggestions."""


@dataclass(slots=True, frozen=True)
class Change:
    """One change. `data` says what it is about, for documents.

    `size` is what is still asked for, where that is a number: of two changes that differ in it alone the larger one
    changes less.
    """

    code: str
    data: Data
    apply: Callable[[Placement], Placement]
    size: int | None = None

    @property
    def rank(self) -> int:
        """Its place in the order of suggestions."""
        return RANKS.index(self.code)

    @property
    def key(self) -> tuple[str, ...]:
        """What changes must agree on to be one, however much of it each leaves."""
        told = (f"{name}={value}" for name, value in self.data.items() if name not in ("to", "replacement"))
        return (self.code, *told)


def about(want: Want) -> Data:
    """The claim and request of a want, as documents name them."""
    metadata = want.claim.metadata
    return {"claim": {"namespace": metadata.namespace, "name": metadata.name}, "request": want.full_name}


def edit_want(want: Want, edit: edits.Edit) -> Callable[[Placement], Placement]:
    """How to make a placement in which the want's request, or alternative, is edited."""
    return lambda placement: edits.edit_request(placement, want.claim_index, want.full_name, edit)
