"""Options that several commands share and that exist only on the command line.

All other shared options are in `dra_plan/options.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from . import completing
from .telling import COLOURS, paint

if TYPE_CHECKING:
    from dra_plan.text.gate import Gate


class Directories(TypedDict, total=False):
    """The option for reading directories."""

    recursive: Annotated[bool, typer.Option("--recursive", "-R", help="Read directories recursively.")]


class Sources(TypedDict, total=False):
    """The options that name the manifests to read."""

    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", hidden=True, autocompletion=completing.owners),
    ]
    filenames: Annotated[
        list[str] | None,
        typer.Option(
            "--filename",
            "-f",
            metavar="PATH",
            help="Read this file or directory, as if it were given as PATH. Can be repeated.",
        ),
    ]
    recursive: Annotated[bool, typer.Option("--recursive", "-R", help="Read directories recursively.")]


TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0.0,
        metavar="SECONDS",
        help="Stop after this many seconds and exit with status 3, without a result.",
    ),
]


class Ended(TypedDict, total=False):
    """The option that limits the time of a command without partial results.

    Commands with partial results have the options in `Timed` instead.
    """

    time_limit: TimeLimit


Color = Annotated[
    str,
    typer.Option(
        "--color",
        "--colour",
        autocompletion=completing.of(*COLOURS),
        callback=paint,
        metavar="WHEN",
        help="When to use colors: always, never, or auto (depends on the terminal, NO_COLOR and FORCE_COLOR).",
    ),
]


class Screens(TypedDict, total=False):
    """The options that control how text is displayed."""

    color: Color
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Do not print notes and warnings."),
    ]


class Messages(TypedDict, total=False):
    """The options that control which notes and warnings are printed."""

    color: Color

    ignore_warnings: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore-warning",
            metavar="CODE,...",
            help="Do not print warnings with these codes, and do not let them affect the exit status. Can be repeated.",
        ),
    ]
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help=("Do not print notes and warnings. Warnings still affect the exit status.")),
    ]


class EveryNamespace(TypedDict, total=False):
    """The option that selects all namespaces."""

    all_namespaces: Annotated[
        bool,
        typer.Option("--all-namespaces", "-A", help="Use objects in all namespaces, as in kubectl."),
    ]


Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        autocompletion=completing.outputs,
        metavar="FORMAT",
        help="The output format: table, wide, json, yaml, name or jsonpath=TEMPLATE.",
    ),
]
MarkdownOutput = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FORMAT",
        help=("The output format: table, wide, markdown, json, yaml, name or jsonpath=TEMPLATE."),
    ),
]
NO_PODS = "nothing to do: no pod is pending"
AllowNoPods = Annotated[
    bool, typer.Option("--allow-empty", help="Exit with status 0 instead of 2 if no pods are pending.")
]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        autocompletion=completing.reports,
        metavar="FORM",
        help=(
            "Also write a web page (html=FILE) or a CI report (junit=FILE, sarif=FILE, gitlab=FILE or"
            " github). Can be repeated."
        ),
    ),
]
Pages = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        autocompletion=completing.pages,
        metavar="FORM",
        help="Also write a web page (html=FILE).",
    ),
]
SchedulerConfig = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help=("Read the scheduler's configuration from this file (KubeSchedulerConfiguration v1)."),
    ),
]
RequireFit = Annotated[
    bool,
    typer.Option(
        "--require-fit",
        help=("Exit with status 1 unless every pod is certain to be scheduled. Undecided counts as a failure."),
    ),
]
CompetingFit = Annotated[
    bool,
    typer.Option(
        "--require-fit",
        help=(
            "Exit with status 1 unless all pods and replicas are certain to fit together. Undecided "
            "counts as a failure."
        ),
    ),
]
MinNodes = Annotated[
    int,
    typer.Option(
        "--min-nodes", min=1, metavar="N", help=("Exit with status 1 unless every workload fits on at least N nodes.")
    ),
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        autocompletion=completing.of("error", "warning"),
        metavar="error|warning",
        help="Set this to warning to exit with status 1 if there are any warnings.",
    ),
]
Progress = Annotated[
    bool,
    typer.Option("--progress/--no-progress", help=("Show a progress bar if standard error is a terminal.")),
]


def one_namespace(namespace: str | None, *, all_namespaces: bool) -> str | None:
    """Return the selected namespace, or None for all namespaces. As in kubectl, `-A` overrides `-n`."""
    return None if all_namespaces else namespace


def gate(*, require_fit: bool = False, min_nodes: int = 1, min_copies: int = 0, fail_on: str = "error") -> Gate:
    """Return the gate for these options. Raises UsageError for an unknown `--fail-on`."""
    from dra_plan.errors import UsageError
    from dra_plan.text.gate import Gate

    if fail_on not in ("error", "warning"):
        raise UsageError(f"--fail-on: {fail_on!r} is neither error nor warning")
    return Gate(require_fit=require_fit, min_nodes=min_nodes, min_copies=min_copies, no_warnings=fail_on == "warning")
