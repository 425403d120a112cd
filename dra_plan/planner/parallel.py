"""Questions answered side by side in other processes, of this machine or of others: claim sets, and whatever else.

On Linux this process takes a share itself and forks for the others, which have the cluster without reading it again.
Elsewhere, where threads are at work, and with whatever backend the caller has chosen with `joblib.parallel_config`
(Dask, Ray), joblib starts them. The questions do not know of each other, so nothing depends on who answers which.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dra_plan.allocator import View
from dra_plan.api.core import Node
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.planner.question import Question
from dra_plan.planner.set_planner import PlannedSet, SetPlanner

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Given = TypeVar("Given")
Item = TypeVar("Item")
Result = TypeVar("Result")


def plan_sets(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    """The plans of all claim sets, in order, made by `jobs` processes as the planner makes them.

    Each gets its own copy of the cluster and an equal share of the claim sets. The answers are those of one process;
    only a deadline, which is wall clock, may come earlier or later.
    """
    seconds = None if planner.deadline is None else planner.deadline - time.monotonic()
    view = planner.view
    _ = view.gatherer, view.state  # made once, before processes part
    given = _SharedWork(view, planner.nodes, planner.max_steps, seconds)
    planned = in_shares(_plan_share, given, sets, jobs)
    # What came back is about copies; which claims are made from one template only the originals tell.
    return [each._replace(plan=replace(each.plan, claim_set=own)) for each, own in zip(planned, sets, strict=True)]


def in_shares(
    work: Callable[[Given, Sequence[Item]], list[Result]], given: Given, items: Sequence[Item], jobs: int
) -> list[Result]:
    """What `work` makes of the items, in order, with `jobs` processes, each of which gets an equal share of them.

    `work` is a function of a module: what it is given may be written and read by pickle, as are the answers.
    """
    shares = [items[first::jobs] for first in range(jobs)]
    answers = _forked(work, given, shares) if _may_fork() else _started(work, given, shares)
    return [answers[number % jobs][number // jobs] for number in range(len(items))]


# Processes of this machine that have all that this one has


def _may_fork() -> bool:
    """Whether forking is safe here, and the caller has not chosen another way."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    if "joblib" not in sys.modules:
        return True
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    return type(get_active_backend()[0]) is BACKENDS[DEFAULT_BACKEND]


def _forked(
    work: Callable[[Given, Sequence[Item]], list[Result]], given: Given, shares: Sequence[Sequence[Item]]
) -> list[list[Result]]:
    """What becomes of each share. The first is done here, and so is that of a process that ends without an answer."""
    from multiprocessing import get_context

    context = get_context("fork")
    first, *others = shares
    started = []
    for share in others:
        receiver, sender = context.Pipe(duplex=False)
        context.Process(target=_answer, args=(sender, work, given, share), daemon=True).start()
        sender.close()
        started.append(receiver)
    found = [work(given, first)]
    for share, receiver in zip(others, started, strict=True):
        try:
            found.append(receiver.recv())
        except EOFError:
            found.append(work(given, share))
    return found


def _answer(
    sender: Connection, work: Callable[[Given, Sequence[Item]], list[Result]], given: Given, share: Sequence[Item]
) -> None:
    """What a forked process does. What goes wrong is found again, and told, by the process that forked it."""
    with contextlib.suppress(Exception, KeyboardInterrupt):
        sender.send(work(given, share))


# Processes that joblib starts


def _started(
    work: Callable[[Given, Sequence[Item]], list[Result]], given: Given, shares: Sequence[Sequence[Item]]
) -> list[list[Result]]:
    """What becomes of each share."""
    from joblib import Parallel, delayed

    # Written once: every share would be written anew otherwise.
    written = pickle.dumps(given, protocol=5)
    tasks = (delayed(_do_share)(work, written, share) for share in shares)
    return list(Parallel(n_jobs=len(shares), prefer="processes")(tasks))


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
