"""Run independent work in several processes, on this machine or others.

On Linux, processes are forked, share the loaded cluster, and take items until none are left. On other systems, while
threads are running, or if the caller has chosen a backend with `joblib.parallel_config` (Dask, Ray), joblib starts the
processes. Results do not depend on which process computes them.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec.structs import replace

from dra_plan.allocator import View
from dra_plan.api.core import Node
from dra_plan.claims.sets import ClaimSet
from dra_plan.interpreter import uncollected
from dra_plan.planner.claim_sets import PlannedSet, SetPlanner

from .question import Question

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Given = TypeVar("Given")
Item = TypeVar("Item")
Result = TypeVar("Result")


def plan_sets(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    """Return the plans of all claim sets, in order. `jobs` is the number of processes.

    The results do not depend on `jobs`, unless a deadline ends the search. A deadline is in wall-clock time.
    """
    seconds = None if planner.deadline is None else planner.deadline - time.monotonic()
    view = planner.view
    _ = view.gatherer, view.state  # created once, before the processes start
    given = _SharedWork(view, planner.nodes, planner.max_steps, seconds)
    planned = in_shares(_plan_share, given, sets, jobs, lambda each: planner.answered(len(each.plan)))
    # The results refer to copies; only the originals show which claims are created from one template.
    return [each._replace(plan=replace(each.plan, claim_set=own)) for each, own in zip(planned, sets, strict=True)]


def in_shares(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]],
    given: Given,
    items: Sequence[Item],
    jobs: int,
    heard: Callable[[Result], None] = lambda _: None,
    first: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Return the results of `work` for the items, in order. `jobs` processes share the items.

    `work` must be a module-level function that yields the result for an item before it takes the next item. Its
    arguments and results must support pickle. `heard` is called in this process with each result as it arrives, and
    `first` once while the other processes start.
    """
    if _may_fork():
        return _forked(work, given, items, jobs, heard, first)
    first()
    answers = _started(work, given, items, jobs)
    for answer in answers:
        heard(answer)
    return answers


# Processes of this machine that share the memory of this one

MOST_PORTIONS = 256
"""The maximum number of portions into which the items are divided.

The number of a portion is one byte, and a single write can put all numbers into any pipe.
"""

PIPE_SIZE = 1 << 20
"""How many bytes a process can write before they are read. Linux allows this size to every user."""


def _may_fork() -> bool:
    """Return whether forking is safe and the caller has not chosen another backend."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    if "joblib" not in sys.modules:
        return True
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    return type(get_active_backend()[0]) is BACKENDS[DEFAULT_BACKEND]


def _forked(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]],
    given: Given,
    items: Sequence[Item],
    jobs: int,
    heard: Callable[[Result], None],
    first: Callable[[], None],
) -> list[Result]:
    """Return the results for the items; each process takes another portion when it has finished one.

    Portions taken by a process that ends without a result are computed here.
    """
    found: dict[int, Result] = {}

    def keep(answers: Iterable[tuple[int, Result]]) -> None:
        for number, answer in answers:
            found[number] = answer
            heard(answer)

    tickets, issued = os.pipe()
    try:
        os.write(issued, bytes(range(min(len(items), MOST_PORTIONS))))
        os.close(issued)  # readers after the last ticket find the end
        others = [_start(work, given, items, tickets) for _ in range(jobs - 1)]
        first()
        for answer in _answers(work, given, items, tickets):
            keep([answer])
            keep(_received(others, waits=False))
        keep(_received(others, waits=True))
    finally:
        os.read(tickets, MOST_PORTIONS)  # after an error, the others need not continue
        os.close(tickets)
    missing = [number for number in range(len(items)) if number not in found]
    keep(zip(missing, work(given, [items[number] for number in missing]), strict=True))
    return [found[number] for number in range(len(items))]


def _start(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]], given: Given, items: Sequence[Item], tickets: int
) -> Connection:
    """Start another process, and return the connection for its results."""
    from fcntl import F_SETPIPE_SZ, fcntl
    from multiprocessing import get_context

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    with contextlib.suppress(OSError):  # a process with many pipes may not be allowed longer ones
        fcntl(sender.fileno(), F_SETPIPE_SZ, PIPE_SIZE)
    with contextlib.suppress(OSError):  # if no more processes may be started, fewer are used
        context.Process(target=_answer, args=(sender, work, given, items, tickets), daemon=True).start()
    sender.close()
    return receiver


def _received(receivers: list[Connection], *, waits: bool) -> Iterator[tuple[int, Any]]:
    """Yield the available results, or all remaining results, each with its number; drop processes that have ended."""
    for receiver in [*receivers]:
        try:
            with uncollected():
                while waits or receiver.poll():
                    yield receiver.recv()
        except (EOFError, OSError):  # the latter occurs in the middle of a result
            receivers.remove(receiver)


def _answers(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]], given: Given, items: Sequence[Item], tickets: int
) -> Iterator[tuple[int, Result]]:
    """Yield the results for the items of portions that no other process has taken, each with its number."""
    taken: list[int] = []

    def portions() -> Iterator[Item]:
        while ticket := os.read(tickets, 1):
            for number in range(ticket[0], len(items), MOST_PORTIONS):
                taken.append(number)
                yield items[number]

    for answer in work(given, portions()):
        yield taken[-1], answer


def _answer(
    sender: Connection,
    work: Callable[[Given, Iterable[Item]], Iterable[Result]],
    given: Given,
    items: Sequence[Item],
    tickets: int,
) -> None:
    """Run a forked process. After an error, the parent process runs into the same error, and reports it."""
    with contextlib.suppress(Exception, KeyboardInterrupt):
        for answer in _answers(work, given, items, tickets):
            sender.send(answer)


# Processes that joblib starts


def _started(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]], given: Given, items: Sequence[Item], jobs: int
) -> list[Result]:
    """Return the results for the items; each process gets an equal share of the items."""
    from joblib import Parallel, delayed

    # The data is pickled once; otherwise, it would be pickled again for every share.
    written = pickle.dumps(given, protocol=5)
    tasks = (delayed(_do_share)(work, written, items[first::jobs]) for first in range(jobs))
    answers = list(Parallel(n_jobs=jobs, prefer="processes")(tasks))
    return [answers[number % jobs][number // jobs] for number in range(len(items))]


def _do_share(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]], written: bytes, share: Sequence[Item]
) -> list[Result]:
    with uncollected():
        given = pickle.loads(written)
    return list(work(given, share))


class _SharedWork(NamedTuple):
    """All data about a cluster that planning needs, and the time limit."""

    view: View
    nodes: Sequence[Node]
    max_steps: int | None
    seconds: float | None


def _plan_share(given: _SharedWork, sets: Iterable[ClaimSet]) -> Iterator[PlannedSet]:
    """Yield the plans of one process's share."""
    view, nodes, max_steps, seconds = given
    deadline = None if seconds is None else time.monotonic() + seconds
    planner = SetPlanner(view, nodes, Question(max_steps=max_steps), deadline)
    return map(planner.plan, sets)
