"""`dra-plan diff`: how results differ between two states of a cluster, or between two releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import live, options, whatif
from dra_plan.cli.declared import given, takes
from dra_plan.cli.inputs import refuse_missing_files, tell_apart
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import QuirkOptions, ServedVersions, parse_gates
from dra_plan.questions.diff import ask
from dra_plan.questions.drain_each.ask import DrainEachOptions

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster


@takes(
    options.Directories,
    options.EveryNamespace,
    ask.DiffOptions,
    DrainEachOptions,
    Edits,
    QuirkOptions,
    ServedVersions,
    options.Ended,
    options.Messages,
)
def diff(
    context: typer.Context,
    *,
    paths: Annotated[list[str] | None, typer.Argument(metavar="BEFORE [CHANGE...]", hidden=True)] = None,
    before: Annotated[
        list[str] | None,
        typer.Option(
            "--before",
            metavar="PATH",
            help=("Read the first state of the cluster from PATH. Requires --after. Can be repeated."),
        ),
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option(
            "--after", metavar="PATH", help=("Read the second state of the cluster from PATH. Can be repeated.")
        ),
    ] = None,
    restarted: Annotated[
        bool,
        typer.Option(
            "--restarted", help=("In the second state, schedule all pods again, as if all nodes had been upgraded.")
        ),
    ] = False,
    to_kubernetes_version: Annotated[
        str | None,
        typer.Option(
            "--to-kubernetes-version", metavar="VERSION", help=("Use this Kubernetes release for the second state.")
        ),
    ] = None,
    to_feature_gates: Annotated[
        list[str] | None,
        typer.Option(
            "--to-feature-gates", metavar="A,B=false", help=("Turn these feature gates on or off in the second state.")
        ),
    ] = None,
    to_quirks: Annotated[
        str | None,
        typer.Option(
            "--to-quirks",
            metavar="upstream|fixed",
            help=("Reproduce known bugs in the second state (upstream), or do not reproduce them (fixed)."),
        ),
    ] = None,
    fail_on: options.FailOn = "error",
    output: options.MarkdownOutput = "table",
    report: options.Pages = None,
) -> Exit:
    """Compare two states of a cluster.

    Examples:
      dra-plan diff cluster.json new-class.yaml
      dra-plan diff cluster.json --drain gpu-node-1
      dra-plan diff cluster.json --drain each
      dra-plan diff cluster.json --to-kubernetes-version 1.37

    BEFORE is a file or directory that contains a cluster. The second state is the cluster after the CHANGE files are
    applied. If the CHANGE files contain both nodes and slices, these files are the complete second state. Without
    CHANGE, the what-if options and the --to-... options define the second state. With --live, the first state is the
    live cluster. --before and --after always name complete states.

    The output shows which claims no longer fit, which pods get different nodes or devices, and how pools and selectors
    change. --drain each drains one node at a time. --drain each-by LABEL drains one group of nodes at a time; the nodes
    in a group have the same value for LABEL. The exit status is 1 if a pod or claim loses its node or its devices.

    """
    from dra_plan.cli.inputs import namespace_of, selected
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import UsageError
    from dra_plan.questions.diff.gate import JUDGE
    from dra_plan.questions.diff.text import parse

    if any(map(whatif.drains_each, context.params["drain"] or ())):
        from dra_plan.questions.drain_each.command import drain_each

        return drain_each(context)
    with Reporting(context, report, pages_only=True) as reports:
        form = parse(output)
        gate = options.gate(fail_on=fail_on)
        wanted = selected(context)
        may_ask = live.asked(context).wanted or live.is_plugin()
        told_apart = tell_apart(paths, before, command="diff", live=may_ask)
        is_live = live.is_wanted(context, told_apart.paths, before)
        namespace = namespace_of(context, told_apart.owners, is_live=is_live)
        first, last = _states(context, told_apart.paths, before, after, is_live=is_live)
        refuse_missing_files(told_apart.owners, [first.inventory, last.inventory])
        last = _under(last, to_kubernetes_version, to_feature_gates, to_quirks)
        last = whatif.changed(context, last)
        last = last.restarted() if restarted else last
        if last is first:
            names = " and ".join(map(repr, told_apart.owners))
            raise UsageError(
                f"nothing to compare: {f'no file is named {names}; ' if names else ''}name a second "
                "state, or a change (--drain, --to-..., see --help)"
            )
        chosen = {**given(context, ask.DiffOptions), "namespace": namespace, "selector": wanted}
        found = ask.diff(first, last, *told_apart.owners, **chosen)
        document = found.document
        reports.tell(None, page_of(last, found))
        print_document(document, form)
        return of_document(document, JUDGE, gate)


def _states(
    context: typer.Context, paths: list[str], before: list[str] | None, after: list[str] | None, *, is_live: bool
) -> tuple[LoadedCluster, LoadedCluster]:
    """Return both states.

    With a live cluster, the paths are applied over it. Raises UsageError if one of a pair is missing.
    """
    from dra_plan.cli.inputs import loaded
    from dra_plan.errors import UsageError

    if before or after:
        if not (before and after) or paths:
            raise UsageError("--before and --after must be given together, and without other paths")
        return loaded(context, before), loaded(context, after)
    if is_live:
        first = loaded(context, [])
        return first, loaded(context, paths) if paths else first
    first = loaded(context, paths[:1])
    if len(paths) < 2:
        return first, first
    second = loaded(context, paths[1:])
    if len(paths) == 2 and not _is_change(first, second):
        return first, second
    from dra_plan.cli.printing import print_note

    print_note(f"note: {', '.join(paths[1:])} applied to {paths[0]}; to compare two states, use --before and --after")
    return first, first.applied(second)


def _is_change(first: LoadedCluster, second: LoadedCluster) -> bool:
    """Return whether the second is a partial cluster: it lacks the nodes, or all slices, that the first has."""
    holders = ("nodes", "slices")
    return any(getattr(first.inventory, each) and not getattr(second.inventory, each) for each in holders)


def _under(cluster: LoadedCluster, version: str | None, gates: list[str] | None, quirks: str | None) -> LoadedCluster:
    if version is None and gates is None and quirks is None:
        return cluster
    return cluster.at(version, parse_gates(gates), quirks=quirks)
