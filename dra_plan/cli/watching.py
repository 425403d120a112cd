"""`--watch`, which reads the cluster repeatedly, and runs the command again when something relevant has changed.

Watching ends when no watched pod (the named pods, or all pending pods) is waiting for a node.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypedDict

import typer

from . import live
from .whatif import PlanningCommand

if TYPE_CHECKING:
    from dra_plan.cli.inputs import Opened
    from dra_plan.live.snapshot import Snapshot

PAUSE = 5.0
"""The number of seconds between two reads of the cluster."""
MOST_FAILURES = 3
"""The maximum number of consecutive reads that may fail, after a successful one."""

_MOST_TOLD = 5


class Watching(TypedDict, total=False):
    """The `--watch` option."""

    watch: Annotated[
        bool,
        typer.Option(
            "--watch", "-w", help=("With --live, update the output after every change until the pods are bound.")
        ),
    ]


class WatchingCommand(PlanningCommand):
    """A planning command that `--watch` runs again until the pods are scheduled."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command, or run it for each state of the cluster if `--watch` is set."""
        if not ctx.params.get("watch"):
            return super().invoke(ctx)
        from dra_plan.errors import UsageError

        given = {name: value for name, value in ctx.params.items() if name in live.NAMES}
        if not (live.is_plugin() or any(given[name] for name in ("live", "context", "kubeconfig"))):
            raise UsageError("--watch needs --live")
        # At the end no pods are left to plan, which is not an error here.
        arguments = {name: True if name == "allow_empty" else value for name, value in ctx.params.items()}

        def ask() -> None:
            ctx.params = dict(arguments)
            super(WatchingCommand, self).invoke(ctx)

        from dra_plan.cli.inputs import giving_back

        with giving_back():
            raise SystemExit(_watch(ctx, live.Asked(**given), ask))


def _watch(context: Any, options: live.Asked, ask: Callable[[], None]) -> int:
    """Run the command for one state after another. The exit status is that of the last run."""
    from dra_plan.cli.inputs import OPENED

    from .printing import print_note

    status, before, answered = 0, None, ""
    watched: set[str] | None = None
    for found in _states(options):
        if before is None:
            live.told(found)
        else:
            print_note(f"changed: {_difference(before, found)}")
        before = found
        context.meta[live.READ] = found
        status, text = _answer(ask)
        if text != answered:
            sys.stdout.write(text if not answered else f"\n{text}")
            sys.stdout.flush()
        elif answered:
            print_note("the result is the same")
        answered = text
        opened: Opened | None = context.meta.get(OPENED)
        if opened is None:
            return status  # the command could not start, for example because of an unknown owner
        waiting = _waiting(opened)
        watched = waiting if watched is None else watched
        if not watched & waiting:
            return status
        context.meta.pop(OPENED)
    return status


def _states(options: live.Asked) -> Iterator[Snapshot]:
    """Yield the current cluster, and then each changed one. Raises InputError if it cannot be read."""
    from dra_plan.live import UnreadClusterError
    from dra_plan.live.snapshot import without_time

    from .printing import print_note

    found = live.read(options)
    failures = 0
    while True:
        yield found
        before = without_time(found)
        while without_time(found) == before:
            time.sleep(PAUSE)
            try:
                found = live.read(options, progress=False)
                failures = 0
            except UnreadClusterError as error:
                failures += 1
                if failures >= MOST_FAILURES:
                    raise
                print_note(f"{error}; trying again in {PAUSE:g} s")


class _Heard(io.StringIO):
    """A buffer of the output that is a terminal if the stream it replaces is one."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def isatty(self) -> bool:
        """Return whether the replaced stream is a terminal."""
        return self._stream.isatty()


def _answer(ask: Callable[[], None]) -> tuple[int, str]:
    """Return the exit status and the output of one run."""
    heard = _Heard(sys.stdout)
    status: object = 0
    with contextlib.redirect_stdout(heard):
        try:
            ask()
        except SystemExit as left:
            status = left.code
    return (int(status) if isinstance(status, int) else 0), heard.getvalue()


def _waiting(opened: Opened) -> set[str]:
    """Return the subjects that are pods waiting for a node."""
    from dra_plan.api.selectors import labels_match
    from dra_plan.arguments import question
    from dra_plan.claims.owners import is_waiting
    from dra_plan.planner.owners import chosen_pods

    inventory = opened.cluster.inventory
    chosen = chosen_pods(inventory, opened.cluster.target, question(opened.owners, {"namespace": opened.namespace}))
    return {
        pod.key
        for pod in inventory.pods
        if is_waiting(pod)
        and (chosen(pod) if chosen is not None else opened.namespace in (None, pod.metadata.namespace))
        and (opened.selector is None or labels_match(opened.selector, pod.metadata.labels or {}))
    }


def _difference(before: Snapshot, after: Snapshot) -> str:
    """Return the new, deleted and changed objects, with the names of the first few."""
    import msgspec

    def names(texts: set[bytes]) -> set[str]:
        values = map(msgspec.json.decode, texts)
        return {_label(value["kind"], **value["metadata"]) for value in values}

    old, new = set(before.objects), set(after.objects)
    gone, come = names(old - new), names(new - old)
    told = [f"{name} is new" for name in sorted(come - gone)] + [f"{name} is gone" for name in sorted(gone - come)]
    told = [*sorted(gone & come), *told]
    if not told:
        return "the release of the cluster"
    more = f" and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    return ", ".join(told[:_MOST_TOLD]) + more


def _label(kind: str, name: str = "", namespace: str = "", **_: object) -> str:
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
