"""Claim sets chosen by name: that of a pod, of a workload, or of a claim."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from dra_plan.api.inventory import ObjectKey
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.errors import UsageError


def choose_sets(sets: Sequence[ClaimSet], owners: Iterable[str]) -> list[ClaimSet]:
    """The sets that the names mean, in their own order; all of them without names.

    A name is NAME, NAMESPACE/NAME, KIND/NAME or KIND/NAMESPACE/NAME, in any case. Raises UsageError for one that
    nothing has.
    """
    wanted = {owner.lower(): owner for owner in owners}
    if not wanted:
        return list(sets)
    forms = [{form.lower() for form in _forms(claim_set)} for claim_set in sets]
    for lowered, owner in wanted.items():
        if not any(lowered in names for names in forms):
            raise _unknown(owner, sets)
    return [claim_set for claim_set, names in zip(sets, forms, strict=True) if not names.isdisjoint(wanted)]


def _unknown(owner: str, sets: Iterable[ClaimSet]) -> UsageError:
    known = sorted({form for claim_set in sets for form in _forms(claim_set)})
    near = difflib.get_close_matches(owner, known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return UsageError(f"no such file, and no pending pod, workload or claim is named {owner!r}{hint}")


def _forms(claim_set: ClaimSet) -> Iterator[str]:
    """Everything that the set can be called by: by its owner, and by its claims."""
    for kind, namespace, name in _keys(claim_set):
        yield from (name, f"{namespace}/{name}", f"{kind}/{name}", f"{kind}/{namespace}/{name}")


def _keys(claim_set: ClaimSet) -> Iterator[ObjectKey]:
    if claim_set.owner is not None:
        yield claim_set.owner
    for claim in claim_set.claims:
        yield "ResourceClaim", claim.metadata.namespace, claim.metadata.name
