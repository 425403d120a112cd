"""Questions answered side by side in other processes, of this machine or of others: claim sets, and whatever else.

joblib starts them: its own on this machine, or those of whatever backend the caller has chosen with
`joblib.parallel_config` (Dask, Ray). The questions do not know of each other, so nothing depends on who answers which.
"""

from __future__ import annotations

import gc
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from dra_plan.allocator import View
from dra_plan.api.core import Node
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.planner.question import Question
from dra_plan.planner.set_planner import PlannedSet, SetPlanner

Given = TypeVar("Given")
Item = TypeVar("Item")
Result = TypeVar("Result")


def plan_sets(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    """The plans of all claim sets, in order, made by `jobs` processes as the planner makes them.

    Each gets its own copy of the cluster and an equal share of the claim sets. The answers are those of one process;
    only a deadline, which is wall clock, may come earlier or later.
    """
    seconds = None if planner.deadline is None else planner.deadline - time.monotonic()
    whole = planner.view
    bare = View(
        whole.target,
        classes=whole.classes,
        slices=whole.slices,
        claims=whole.claims,
        given_rules=whole.given_rules,
    )
    given = _SharedWork(bare, planner.nodes, planner.max_steps, seconds)
    planned = in_shares(_plan_share, given, sets, jobs)
    # What came back is about copies; which claims are made from one template only the originals tell.
    return [each._replace(plan=replace(each.plan, claim_set=own)) for each, own in zip(planned, sets, strict=True)]


def in_shares(
    work: Callable[[Given, Sequence[Item]], list[Result]], given: Given, items: Sequence[Item], jobs: int
) -> list[Result]:
    """What `work` makes of the items, in order, with `jobs` processes, each of which gets an equal share of them.

    `work` is a function of a module: what it is given is written and read by pickle, once for each process.
    """
    from joblib import Parallel, delayed

    # Written once: every share would be written anew otherwise.
    written = pickle.dumps(given, protocol=5)
    shares = [items[first::jobs] for first in range(jobs)]
    answers = Parallel(n_jobs=jobs, prefer="processes")(delayed(_do_share)(work, written, share) for share in shares)
    return [answers[number % jobs][number // jobs] for number in range(len(items))]


def _do_share(
    work: Callable[[Given, Sequence[Item]], list[Result]], written: bytes, share: Sequence[Item]
) -> list[Result]:
    collects = gc.isenabled()
    gc.disable()  # reading a large cluster makes many objects and drops none
    try:
        given = pickle.loads(written)
    finally:
        if collects:
            gc.enable()
    return work(given, share)


class _SharedWork(NamedTuple):
    """All that planning needs of a cluster, and how long it may take."""

    view: View
    nodes: Sequence[Node]
    max_steps: int | None
    seconds: float | None


def _plan_share(given: _SharedWork, sets: Sequence[ClaimSet]) -> list[PlannedSet]:
    """What one process does."""
    view, nodes, max_steps, seconds = given
    deadline = None if seconds is None else time.monotonic() + seconds
    planner = SetPlanner(view, nodes, Question(max_steps=max_steps), deadline)
    return [planner.plan(claim_set) for claim_set in sets]
