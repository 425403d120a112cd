"""Options that several commands share, each written once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import completing

if TYPE_CHECKING:
    from dra_plan.output.gate import Gate


def _split_names(given: list[str] | None) -> list[str] | None:
    """The names of an option that takes several at once."""
    return [name for names in given or () for name in names.split(",") if name] or given


Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", hidden=True, autocompletion=completing.owners),
]
Filenames = Annotated[
    list[str] | None,
    typer.Option("--filename", "-f", metavar="PATH", help="As PATH, for those used to kubectl; repeatable."),
]
Recursive = Annotated[bool, typer.Option("--recursive", "-R", help="Read directories with their subdirectories.")]
Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        autocompletion=completing.nodes,
        metavar="NAME,...",
        help="Look at these nodes only; repeatable.",
        callback=_split_names,
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        autocompletion=completing.namespaces,
        metavar="NAME",
        help="Plan only what is in this namespace.",
    ),
]
AllNamespaces = Annotated[
    bool,
    typer.Option(
        "--all-namespaces", "-A", help="Plan what is in any namespace, as without -n: for those used to kubectl."
    ),
]
Selector = Annotated[
    str | None,
    typer.Option(
        "--selector", "-l", metavar="LABELS", help="Plan only what has these labels, for example a=b,c!=d,e in (f,g)."
    ),
]
KubernetesVersion = Annotated[
    str | None,
    typer.Option(
        "--kubernetes-version",
        autocompletion=completing.versions,
        metavar="VERSION",
        help="Answer as this release does (default: the input's, or 1.36).",
    ),
]
StrictVersion = Annotated[
    bool,
    typer.Option("--strict-version", help="Exit with 2 where outcomes of that version are not recorded."),
]
FeatureGates = Annotated[
    list[str] | None,
    typer.Option(
        "--feature-gates",
        autocompletion=completing.gates,
        metavar="A,B=false",
        help="Gates that differ from the release's defaults.",
    ),
]
Quirks = Annotated[
    str,
    typer.Option(
        "--quirks",
        autocompletion=completing.of("upstream", "fixed"),
        metavar="upstream|fixed",
        help="upstream: with the release's known defects; fixed: as the API promises.",
    ),
]
InferNodes = Annotated[
    bool,
    typer.Option("--infer-nodes", help="Without Node objects: make them from the slices; their labels stay unknown."),
]
DevicesOnly = Annotated[
    bool,
    typer.Option("--devices-only", help="Leave out the node's own rules: cordon, taints, node name and affinity."),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        autocompletion=completing.outputs,
        metavar="FORMAT",
        help="table, wide, json, yaml, name or jsonpath=TEMPLATE.",
    ),
]
NO_PODS = "nothing to do: no pod waits for a node"
AllowNoPods = Annotated[
    bool, typer.Option("--allow-empty", help="Exit with 0 if no pod waits for a node, instead of 2.")
]
MaxSteps = Annotated[
    int | None,
    typer.Option(
        "--max-steps",
        min=1,
        metavar="N",
        help="Search steps per node before the answer is Undecided (default: 250,000).",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.0, metavar="SECONDS", help="Wall clock for the whole run; no limit by default."),
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", min=1, metavar="N", help="Share the claim sets between N processes."),
]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        autocompletion=completing.reports,
        metavar="FORM",
        help="Also write a page that a browser opens, html=FILE, or reports for CI: junit=FILE, sarif=FILE, github or "
        "gitlab=FILE; repeatable.",
    ),
]
Pages = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        autocompletion=completing.pages,
        metavar="FORM",
        help="Also write a page that a browser opens: html=FILE.",
    ),
]
RequireFit = Annotated[
    bool,
    typer.Option("--require-fit", help="Exit with 1 unless everything is known to fit: what is undecided, too, fails."),
]
MinNodes = Annotated[
    int,
    typer.Option("--min-nodes", min=1, metavar="N", help="Exit with 1 unless every claim set fits on N nodes."),
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        autocompletion=completing.of("error", "warning"),
        metavar="error|warning",
        help="warning: exit with 1 if there is any warning, too.",
    ),
]
Progress = Annotated[
    bool,
    typer.Option("--progress/--no-progress", help="A progress bar on standard error, if that is a terminal."),
]


def one_namespace(namespace: str | None, *, all_namespaces: bool) -> str | None:
    """The namespace that is chosen, None for all: `-A` goes before `-n`, as kubectl has it."""
    return None if all_namespaces else namespace


def gate(*, require_fit: bool = False, min_nodes: int = 1, min_copies: int = 0, fail_on: str = "error") -> Gate:
    """The gate that the options describe. UsageError for an unknown `--fail-on`."""
    from dra_plan.errors import UsageError
    from dra_plan.output.gate import Gate

    if fail_on not in ("error", "warning"):
        raise UsageError(f"--fail-on: {fail_on!r} is neither error nor warning")
    return Gate(require_fit=require_fit, min_nodes=min_nodes, min_copies=min_copies, no_warnings=fail_on == "warning")


_TRUTHS = {"true": True, "false": False, "1": True, "0": False, "t": True, "f": False}


def parse_gates(options: list[str] | None) -> dict[str, bool]:
    """Feature gates from `A=true,B=false,C`, where a name alone is true; a later one wins. UsageError otherwise."""
    from dra_plan.errors import UsageError

    gates: dict[str, bool] = {}
    for item in (part.strip() for option in options or () for part in option.split(",")):
        if not item:
            continue
        name, equals, value = item.partition("=")
        truth = _TRUTHS.get(value.strip().lower()) if equals else True
        if truth is None or not name.strip():
            raise UsageError(f"--feature-gates: {item!r} is not NAME=true or NAME=false")
        gates[name.strip()] = truth
    return gates
