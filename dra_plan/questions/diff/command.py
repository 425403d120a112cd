"""`dra-plan diff`: what two states, or two releases, answer differently."""

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
    options.Messages,
)
def diff(
    context: typer.Context,
    *,
    paths: Annotated[list[str] | None, typer.Argument(metavar="BEFORE [AFTER]", hidden=True)] = None,
    to_kubernetes_version: Annotated[
        str | None, typer.Option("--to-kubernetes-version", metavar="VERSION", help="The release of the state after.")
    ] = None,
    to_feature_gates: Annotated[
        list[str] | None,
        typer.Option("--to-feature-gates", metavar="A,B=false", help="The gates of the state after."),
    ] = None,
    to_quirks: Annotated[
        str | None, typer.Option("--to-quirks", metavar="upstream|fixed", help="The quirks of the state after.")
    ] = None,
    fail_on: options.FailOn = "error",
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FORMAT", help="table, wide, markdown, json, yaml, name or jsonpath=TEMPLATE."
        ),
    ] = "table",
    report: options.Pages = None,
) -> Exit:
    """Say what changes, and for whom.

    BEFORE and AFTER are files or directories with two states of a cluster. Without AFTER, the state after is the first
    one, changed by what-if options, or under another release (--to-...). Compared are claim sets, pods as
    kube-scheduler takes them, pools, and what selectors match. --drain each drains each node in turn, and says whose
    pods would have no place. Exit status 1 if anything is lost. With --live BEFORE is the cluster, and AFTER the
    cluster with the files applied.
    """
    from dra_plan.cli.inputs import loaded, namespace_of, selected
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
        told_apart = tell_apart(paths, None, command="diff", live=may_ask)
        if len(told_apart.paths) > 2:
            raise UsageError(f"two states are compared, BEFORE and AFTER: here are {len(told_apart.paths)} paths")
        is_live = live.is_wanted(context, told_apart.paths, None)
        namespace = namespace_of(context, told_apart.owners, is_live=is_live)
        states = [loaded(context, each) for each in _states(context, told_apart.paths)]
        refuse_missing_files(told_apart.owners, [state.inventory for state in states])
        before, after = states[0], states[-1]
        after = _under(after, to_kubernetes_version, to_feature_gates, to_quirks)
        after = whatif.changed(context, after)
        if after is before:
            names = " and ".join(map(repr, told_apart.owners))
            raise UsageError(
                f"nothing to compare: {f'no file is named {names}; ' if names else ''}name a second state, or say what"
                " changes (--drain, --to-..., see --help)"
            )
        chosen = {**given(context, ask.DiffOptions), "namespace": namespace, "selector": wanted}
        found = ask.diff(before, after, *told_apart.owners, **chosen)
        document = found.document
        reports.tell(None, page_of(after, found))
        print_document(document, form)
        return of_document(document, JUDGE, gate)


def _states(context: typer.Context, paths: list[str]) -> list[list[str]]:
    """The paths of each state; that of a cluster that is asked has none, and the state after has all over it."""
    if not live.is_wanted(context, paths, None):
        return [[path] for path in paths]
    return [[], paths] if paths else [[]]


def _under(cluster: LoadedCluster, version: str | None, gates: list[str] | None, quirks: str | None) -> LoadedCluster:
    if version is None and gates is None and quirks is None:
        return cluster
    return cluster.at(version, parse_gates(gates), quirks=quirks)
