"""Questions answered side by side in other processes, of this machine or of others: claim sets, and whatever else.

On Linux this process forks others, which have the cluster without reading it again, and all take questions as long as
there are some. Elsewhere, where threads are at work, and with whatever backend the caller has chosen with
`joblib.parallel_config` (Dask, Ray), joblib starts them. The questions do not know of each other, so nothing depends on
who answers which.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
    """The plans of all claim sets, in order, made by `jobs` processes as the planner makes them.

    Each gets its own copy of the cluster. The answers are those of one process; only a deadline, which is wall clock,
    may come earlier or later.
    """
    seconds = None if planner.deadline is None else planner.deadline - time.monotonic()
    view = planner.view
    _ = view.gatherer, view.state  # made once, before processes part
    given = _SharedWork(view, planner.nodes, planner.max_steps, seconds)
    planned = in_shares(_plan_share, given, sets, jobs, lambda each: planner.answered(len(each.plan)))
    # What came back is about copies; which claims are made from one template only the originals tell.
    return [each._replace(plan=replace(each.plan, claim_set=own)) for each, own in zip(planned, sets, strict=True)]


def in_shares(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]],
    given: Given,
    items: Sequence[Item],
    jobs: int,
    heard: Callable[[Result], None] = lambda _: None,
    first: Callable[[], None] = lambda: None,
) -> list[Result]:
    """What `work` makes of the items, in order, with `jobs` processes.

    `work` is a function of a module, and yields what it makes of an item before it takes the next one. What it is given
    may be written and read by pickle, as may its answers. `heard` is called here with each answer, when it is there.
    `first` is what this process has to do itself, while others have begun if possible.
    """
    if _may_fork():
        return _forked(work, given, items, jobs, heard, first)
    first()
    answers = _started(work, given, items, jobs)
    for answer in answers:
        heard(answer)
    return answers


# Processes of this machine that have all that this one has

MOST_PORTIONS = 256
"""Portions that processes take in turn: the number of each is a byte, and one write fills any pipe with all of them."""

PIPE_SIZE = 1 << 20
"""Bytes of answers for which a process need not wait until they are read; what Linux allows everybody."""


def _may_fork() -> bool:
    """Whether forking is safe here, and the caller has not chosen another way."""
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
    """What becomes of the items, of which each process takes a portion whenever it has done one.

    Those of a process that ends without an answer are done here.
    """
    found: dict[int, Result] = {}

    def keep(answers: Iterable[tuple[int, Result]]) -> None:
        for number, answer in answers:
            found[number] = answer
            heard(answer)

    tickets, issued = os.pipe()
    try:
        os.write(issued, bytes(range(min(len(items), MOST_PORTIONS))))
        os.close(issued)  # who reads after the last ticket finds the end
        others = [_start(work, given, items, tickets) for _ in range(jobs - 1)]
        first()
        for answer in _answers(work, given, items, tickets):
            keep([answer])
            keep(_received(others, waits=False))
        keep(_received(others, waits=True))
    finally:
        os.read(tickets, MOST_PORTIONS)  # where something went wrong, others need not go on
        os.close(tickets)
    missing = [number for number in range(len(items)) if number not in found]
    keep(zip(missing, work(given, [items[number] for number in missing]), strict=True))
    return [found[number] for number in range(len(items))]


def _start(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]], given: Given, items: Sequence[Item], tickets: int
) -> Connection:
    """Where the answers of another process come from."""
    from fcntl import F_SETPIPE_SZ, fcntl
    from multiprocessing import get_context

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    with contextlib.suppress(OSError):  # who has many pipes may be refused longer ones
        fcntl(sender.fileno(), F_SETPIPE_SZ, PIPE_SIZE)
    with contextlib.suppress(OSError):  # where no more processes may be started, there are fewer
        context.Process(target=_answer, args=(sender, work, given, items, tickets), daemon=True).start()
    sender.close()
    return receiver


def _received(receivers: list[Connection], *, waits: bool) -> Iterator[tuple[int, Any]]:
    """The answers that have come, each with its number, or all that will come; who has ended is taken off the list."""
    for receiver in [*receivers]:
        try:
            with uncollected():
                while waits or receiver.poll():
                    yield receiver.recv()
        except (EOFError, OSError):  # the latter in the midst of an answer
            receivers.remove(receiver)


def _answers(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]], given: Given, items: Sequence[Item], tickets: int
) -> Iterator[tuple[int, Result]]:
    """What becomes of the items of portions that no other process has taken, each with its number."""
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
    """What a forked process does. What goes wrong is found again, and told, by the process that forked it."""
    with contextlib.suppress(Exception, KeyboardInterrupt):
        for answer in _answers(work, given, items, tickets):
            sender.send(answer)


# Processes that joblib starts


def _started(
    work: Callable[[Given, Iterable[Item]], Iterable[Result]], given: Given, items: Sequence[Item], jobs: int
) -> list[Result]:
    """What becomes of the items, of which each process gets an equal share."""
    from joblib import Parallel, delayed

    # Written once: every share would be written anew otherwise.
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
    """All that planning needs of a cluster, and how long it may take."""

    view: View
    nodes: Sequence[Node]
    max_steps: int | None
    seconds: float | None


def _plan_share(given: _SharedWork, sets: Iterable[ClaimSet]) -> Iterator[PlannedSet]:
    """What one process does."""
    view, nodes, max_steps, seconds = given
    deadline = None if seconds is None else time.monotonic() + seconds
    planner = SetPlanner(view, nodes, Question(max_steps=max_steps), deadline)
    return map(planner.plan, sets)
