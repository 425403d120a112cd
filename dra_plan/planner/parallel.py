"""Claim sets planned side by side in other processes, of this machine or of others.

joblib starts them: its own on this machine, or those of whatever backend the caller has chosen with
`joblib.parallel_config` (Dask, Ray). Claim sets do not know of each other, so nothing depends on who plans which.
"""

from __future__ import annotations

import gc
import pickle
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dra_plan.allocator import View
from dra_plan.api.core import Node
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.planner.question import Question
from dra_plan.planner.set_planner import PlannedSet, SetPlanner


def plan_sets(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    """The plans of all claim sets, in order, made by `jobs` processes as the planner makes them.

    Each gets its own copy of the cluster and an equal share of the claim sets. The answers are those of one process;
    only a deadline, which is wall clock, may come earlier or later.
    """
    from joblib import Parallel, delayed

    seconds = None if planner.deadline is None else planner.deadline - time.monotonic()
    whole = planner.view
    bare = View(
        whole.target,
        classes=whole.classes,
        slices=whole.slices,
        claims=whole.claims,
        given_rules=whole.given_rules,
    )
    # Written once: every share would be written anew otherwise.
    work = pickle.dumps(_SharedWork(bare, planner.nodes, planner.max_steps, seconds), protocol=5)
    shares = [sets[first::jobs] for first in range(jobs)]
    answers = Parallel(n_jobs=jobs, prefer="processes")(delayed(_plan_share)(work, share) for share in shares)
    planned: list[PlannedSet] = [answers[number % jobs][number // jobs] for number in range(len(sets))]
    # What came back is about copies; which claims are made from one template only the originals tell.
    return [each._replace(plan=replace(each.plan, claim_set=own)) for each, own in zip(planned, sets, strict=True)]


class _SharedWork(NamedTuple):
    """All that planning needs of a cluster, and how long it may take."""

    view: View
    nodes: Sequence[Node]
    max_steps: int | None
    seconds: float | None


def _plan_share(work: bytes, sets: Sequence[ClaimSet]) -> list[PlannedSet]:
    """What one process does."""
    collects = gc.isenabled()
    gc.disable()  # reading a large cluster makes many objects and drops none
    try:
        view, nodes, max_steps, seconds = pickle.loads(work)
    finally:
        if collects:
            gc.enable()
    deadline = None if seconds is None else time.monotonic() + seconds
    planner = SetPlanner(view, nodes, Question(max_steps=max_steps), deadline)
    return [planner.plan(claim_set) for claim_set in sets]
