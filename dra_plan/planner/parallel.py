"""Claim sets planned side by side in other processes, of this machine or of others.

joblib starts them: its own on this machine, or those of whatever backend the caller has chosen with
`joblib.parallel_config` (Dask, Ray). Claim sets do not know of each other, so nothing depends on who plans which.
"""

from __future__ import annotations

import gc
import pickle
import time
from collections.abc import Sequence
from typing import NamedTuple

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.planner.allocation import PlannedSet, SetPlanner
from dra_plan.planner.cluster import Cluster
from dra_plan.releases import Target


class _Question(NamedTuple):
    """All that planning needs of a cluster, and how long it may take."""

    inventory: Inventory
    target: Target
    nodes: Sequence[Node]
    max_steps: int | None
    seconds: float | None


def plan_sets(
    cluster: Cluster,
    sets: Sequence[ClaimSet],
    nodes: Sequence[Node],
    jobs: int,
    *,
    max_steps: int | None = None,
    deadline: float | None = None,
) -> list[PlannedSet]:
    """The plans of all claim sets, in order, made by `jobs` processes.

    Each gets its own copy of the cluster and an equal share of the claim sets. The answers are those of one process;
    only a deadline, which is wall clock, may come earlier or later.
    """
    from joblib import Parallel, delayed

    whole = cluster.inventory
    needed = Inventory(slices=whole.slices, classes=whole.classes, claims=whole.claims, taint_rules=whole.taint_rules)
    seconds = None if deadline is None else deadline - time.monotonic()
    # Written once: every share would be written anew otherwise.
    question = pickle.dumps(_Question(needed, cluster.target, nodes, max_steps, seconds), protocol=5)
    shares = [sets[first::jobs] for first in range(jobs)]
    answers = Parallel(n_jobs=jobs, prefer="processes")(delayed(_plan_share)(question, share) for share in shares)
    planned: list[PlannedSet] = [answers[number % jobs][number // jobs] for number in range(len(sets))]
    return planned


def _plan_share(question: bytes, sets: Sequence[ClaimSet]) -> list[PlannedSet]:
    """What one process does."""
    collects = gc.isenabled()
    gc.disable()  # reading a large cluster makes many objects and drops none
    try:
        inventory, target, nodes, max_steps, seconds = pickle.loads(question)
    finally:
        if collects:
            gc.enable()
    deadline = None if seconds is None else time.monotonic() + seconds
    planner = SetPlanner(Cluster(inventory, target), nodes, max_steps, deadline)
    return [planner.plan(claim_set) for claim_set in sets]
