"""Claim sets that ask for the same are searched once: 300 pods of one template cost what one costs.

What alike means is in `claims.sets`; that names differ is minded here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_plan.claims.sets import ClaimSet, asked

from .set_planner import PlannedSet, SetPlanner


def plan_alike(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    """The plans of all claim sets, in order, of which the first of those that are alike was searched, by `jobs`.

    Where a search ended with an error, which names claims, the others are searched, too.
    """
    first_of: dict[Hashable, int] = {}
    firsts = [first_of.setdefault(_key(claim_set), at) for at, claim_set in enumerate(sets)]
    chosen = list(dict.fromkeys(firsts))
    found = dict(zip(chosen, _searched(planner, [sets[at] for at in chosen], jobs), strict=True))
    unlike = [at for at, first in enumerate(firsts) if at not in found and not found[first].tells_of_all_alike]
    found.update(zip(unlike, _searched(planner, [sets[at] for at in unlike], jobs), strict=True))
    for at, first in enumerate(firsts):
        if at not in found:
            found[at] = found[first].told_of(sets[at])
            planner.answered(len(found[at].plan))
    return [found[at] for at in range(len(sets))]


def _searched(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    if min(jobs, len(sets)) > 1:
        from .parallel import plan_sets

        return plan_sets(planner, sets, min(jobs, len(sets)))
    return [planner.plan(claim_set) for claim_set in sets]


def _key(claim_set: ClaimSet) -> Hashable:
    same = asked(claim_set)
    return id(claim_set) if same is None else same
