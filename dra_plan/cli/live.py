"""The options for reading a live cluster, which all planning commands share.

Only this module acts on them. A cluster is contacted only if one of these options is given, or if the kubectl plugin is
called without a path, and never because of a file or a setting.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dra_plan import shown
from dra_plan.cli.stopping import tidied

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.status import Status

    from dra_plan.live.snapshot import Snapshot


_OF_DEVICES = "pools"
"""The command that shows only devices, and therefore reads only a third of the kinds."""
PLUGIN = "kubectl-dra_plan"
"""The name by which kubectl finds the program for `kubectl dra-plan`."""


NAMES = ("live", "context", "kubeconfig", "scheduler_metrics")


_ASKED = "dra_plan.live"


_NAMESPACE = "dra_plan.live.namespace"


READ = "dra_plan.live.snapshot"
"""The key in the context's `meta` under which the snapshot is stored."""


SchedulerMetrics = Annotated[
    str | None,
    typer.Option(
        "--scheduler-metrics",
        metavar="URL|FILE",
        help="Read the feature gates from kube-scheduler's /metrics page, or from a saved copy of the page.",
    ),
]


class Asked(NamedTuple):
    """The values of the options that select a live cluster."""

    live: bool = False
    context: str | None = None
    kubeconfig: str | None = None
    scheduler_metrics: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether these options ask for a live cluster."""
        return self.live or self.context is not None or self.kubeconfig is not None


def _options(
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help=(
                "Read the cluster in the current kubectl context. Objects in PATH override the objects in the cluster."
            ),
        ),
    ] = False,
    context: Annotated[
        str | None, typer.Option("--context", metavar="NAME", help="Read the cluster in this kubeconfig context.")
    ] = None,
    kubeconfig: Annotated[
        str | None, typer.Option("--kubeconfig", metavar="FILE", help="Read the cluster with this kubeconfig file.")
    ] = None,
    scheduler_metrics: SchedulerMetrics = None,
) -> None:
    """Declare the options, once for all commands."""


@functools.cache
def declared() -> tuple[Any, ...]:
    """Return the options that select a live cluster, as parameters of the parser."""
    declaring = typer.Typer(add_completion=False)
    declaring.command()(_options)
    return tuple(typer.main.get_command(declaring).params)


def put_aside(context: Any) -> None:
    """Move the options that select a live cluster from the command's arguments to the context's `meta`."""
    given = {name: context.params.pop(name, None) for name in NAMES}
    context.meta[_ASKED] = Asked(bool(given.pop("live")), **given)


def is_plugin() -> bool:
    """Return whether the program runs as a kubectl plugin, under the name `kubectl-dra_plan`."""
    return PLUGIN in sys.argv[0].replace("\\", "/").rpartition("/")[2]


def of_cluster(command: str, owner: str = "") -> str:
    """Return a command line that reads the cluster in kubectl's current context."""
    return f"dra-plan {command} --live{f' {owner}' if owner else ''}"


def asked(context: typer.Context) -> Asked:
    """Return the values of the options that select a live cluster."""
    found: Asked = context.meta.get(_ASKED, Asked())
    return found


def is_wanted(context: typer.Context, paths: list[str] | None, filenames: list[str] | None) -> bool:
    """Return whether to read a live cluster.

    This is the case if an option asks for it, or if the kubectl plugin is called without a path.
    """
    return asked(context).wanted or (is_plugin() and not paths and not filenames)


def snapshot(context: typer.Context, *, progress: bool = True) -> Snapshot:
    """Return a snapshot of the cluster, which is read only once per run.

    Raises InputError in the same cases as `dra_plan.live.read_cluster`.
    """
    found = context.meta.get(READ)
    if found is None:
        only_devices = context.info_name == _OF_DEVICES
        found = context.meta[READ] = read(asked(context), progress=progress, only_devices=only_devices)
        told(found)
    snapshot: Snapshot = found
    return snapshot


def namespace(context: typer.Context) -> str | None:
    """Return the namespace of kubectl's current context, or None if there is no current context.

    kubectl is called only once per run.
    """
    if _NAMESPACE not in context.meta:
        from dra_plan.live import namespace_of_context

        options = asked(context)
        context.meta[_NAMESPACE] = namespace_of_context(options.context, options.kubeconfig)
    found: str | None = context.meta[_NAMESPACE]
    return found


def read(options: Asked, *, progress: bool = True, only_devices: bool = False) -> Snapshot:
    """Return a snapshot of the cluster that the options select. Shows progress on a terminal."""
    from dra_plan.live import read_cluster

    name = f"the cluster of context {options.context}" if options.context else "the cluster"
    with tidied(), reading([name], wanted=progress) as say:

        def heard(kinds: int, total: int, objects: int) -> None:
            say(f"reading {name}: {kinds} of {total} kinds, {objects:,} objects")

        return read_cluster(options.context, options.kubeconfig, progress=heard, only_devices=only_devices)


def told(snapshot: Snapshot) -> None:
    """Print a note that states where the version and the feature gates come from."""
    from dra_plan.cli.printing import print_note

    info = snapshot.info
    version = info.server_version.removeprefix("v") or "of an unknown version"
    if info.emulation_version:
        version += f", which emulates {info.emulation_version}"
    gates = (
        (
            f"feature gates were read from the API server ({info.feature_gates_from.split()[-1]}). If "
            "the scheduler's gates differ, use --scheduler-metrics or --feature-gates"
        )
        if info.feature_gates_from
        else (
            "its feature gates could not be read (/metrics, /flagz), so the release's defaults "
            "apply; to change the gates, use --feature-gates"
        )
    )
    print_note(f"the cluster is Kubernetes {version}; {gates}")


def gates_of_scheduler(place: str | None, *, live: bool) -> dict[str, bool] | None:
    """Return the feature gates in kube-scheduler's metrics, or None if `place` is None.

    Raises UsageError for metrics that report no gates.
    """
    from dra_plan.errors import UsageError

    if place is None:
        return None
    from dra_plan.live.snapshot import of_metrics, text_of

    found = of_metrics(text_of(place, may_ask=live))
    if not found:
        raise UsageError(f"--scheduler-metrics {place}: it has no kubernetes_feature_enabled, so it reports no gates")
    return found


SHOWN_AFTER = 1.0
"""The number of seconds before the bar appears. Short runs show none."""


_NAMED = 3


Advance = Callable[[int, int], None]
"""A function that is called with the amount of work done and the total amount."""


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Advance | None]:
    """Show a progress bar while the block runs, and yield a function that updates it.

    Yields None, and shows no bar, if standard error is not a terminal.
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.advance
    finally:
        bar.close()


@contextmanager
def reading(names: Sequence[str], *, wanted: bool = True) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being read while the block runs, and yield a function that changes the text."""
    if not wanted or not sys.stderr.isatty():
        yield lambda _text: None
        return
    line = _Reading(f"reading {', '.join(names[:_NAMED])}{' ...' if len(names) > _NAMED else ''}")
    timer = threading.Timer(SHOWN_AFTER, line.open)
    timer.daemon = True
    timer.start()
    try:
        yield line.say
    finally:
        timer.cancel()
        line.close()


class _Reading:
    """A progress line drawn by a thread, because reading is one long operation."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._drawn: Status | None = None
        self._closed = False

    def say(self, text: str) -> None:
        from rich.text import Text

        with self._lock:
            self._text = text
            if self._drawn is not None:
                self._drawn.update(Text(shown.line(text)))

    def open(self) -> None:
        from rich.console import Console
        from rich.text import Text

        with self._lock:
            if not self._closed:
                self._drawn = Console(stderr=True).status(Text(shown.line(self._text)))
                self._drawn.start()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.stop()


class _Bar:
    """A progress bar drawn with rich, which is imported only for long runs."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn: Progress | None = None
        self._task: TaskID | None = None

    def advance(self, done: int, total: int) -> None:
        if self._drawn is None:
            if time.monotonic() - self._started < SHOWN_AFTER:
                return
            self._drawn = self._open()
            self._task = self._drawn.add_task("planning")
        if self._task is not None:
            self._drawn.update(self._task, completed=done, total=total)

    @staticmethod
    def _open() -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("planning"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("node checks"),
            TimeRemainingColumn(),
        )
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        progress.start()
        return progress

    def close(self) -> None:
        if self._drawn is not None:
            self._drawn.stop()
