"""`dra-plan diff`: what two states, or two releases, answer differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import live, options, whatif
from .arguments import refuse_missing_files, tell_apart
from .exits import Exit, of_document
from .reporting import Reporting, page_of

if TYPE_CHECKING:
    from dra_plan.cluster import Cluster


def diff(
    context: typer.Context,
    paths: Annotated[list[str] | None, typer.Argument(metavar="BEFORE [AFTER]", hidden=True)] = None,
    recursive: options.Recursive = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = None,
    together: Annotated[
        bool, typer.Option("--together", help="Compare all pending claims as one set, and no pods.")
    ] = False,
    devices_only: options.DevicesOnly = False,
    infer_nodes: options.InferNodes = False,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    kubernetes_version: options.KubernetesVersion = None,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
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
    max_steps: options.MaxSteps = None,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", min=1, metavar="N", help="Share the nodes of --drain each between N processes."),
    ] = 1,
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
    from dra_plan.errors import UsageError
    from dra_plan.output.diff import parse

    from .opening import loaded, namespace_of, selected
    from .printing import print_document

    if whatif.EACH in (drain or ()):
        return _drain_each(context)
    with Reporting("diff", report, paths, pages_only=True) as reports:
        form = parse(output)
        gate = options.gate(fail_on=fail_on)
        wanted = selected(context)
        may_ask = live.asked(context).wanted or live.is_plugin()
        told_apart = tell_apart(paths, None, command="diff", live=may_ask)
        if len(told_apart.paths) > 2:
            raise UsageError(f"two states are compared, BEFORE and AFTER: here are {len(told_apart.paths)} paths")
        is_live = live.is_wanted(context, told_apart.paths, None)
        namespace = namespace_of(context, told_apart.owners, is_live=is_live)
        states = [loaded(context, given) for given in _states(context, told_apart.paths)]
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
        found = before.diff(
            after,
            *told_apart.owners,
            namespace=namespace,
            selector=wanted,
            together=together,
            devices_only=devices_only,
            infer_nodes=infer_nodes,
            max_steps=max_steps,
        )
        document = found.document
        reports.tell(None, page_of(after, found))
        print_document(document, form)
        return of_document(document, gate)


def _states(context: typer.Context, paths: list[str]) -> list[list[str]]:
    """The paths of each state; that of a cluster that is asked has none, and the state after has all over it."""
    if not live.is_wanted(context, paths, None):
        return [[path] for path in paths]
    return [[], paths] if paths else [[]]


def _drain_each(context: typer.Context) -> Exit:
    """`diff --drain each`: of one state, after the other edits, whose options are read from the context."""
    from dra_plan.errors import UsageError
    from dra_plan.output.drains import parse

    from .opening import opened
    from .printing import print_document

    given = context.params
    with Reporting("diff", given["report"], given["paths"], pages_only=True) as reports:
        form, gate = parse(given["output"]), options.gate(fail_on=given["fail_on"])
        names = ("to_kubernetes_version", "to_feature_gates", "to_quirks", "together")
        unfit = [name.replace("_", "-") for name in names if given[name]]
        if unfit:
            raise UsageError(f"--drain each is about one state, and about pods: it does not go with --{unfit[0]}")
        may_ask = live.asked(context).wanted or live.is_plugin()
        if len(tell_apart(given["paths"], None, command="diff", live=may_ask).paths) > 1:
            raise UsageError("--drain each is about one state: name one path")
        asked = opened(context)
        found = asked.cluster.drain_each(
            *asked.owners,
            namespace=asked.namespace,
            selector=asked.selector,
            infer_nodes=given["infer_nodes"],
            max_steps=given["max_steps"],
            jobs=given["jobs"],
        )
        reports.tell(None, page_of(asked.cluster, found))
        print_document(found.document, form)
        return of_document(found.document, gate)


def _under(cluster: Cluster, version: str | None, gates: list[str] | None, quirks: str | None) -> Cluster:
    if version is None and gates is None and quirks is None:
        return cluster
    return cluster.at(version, options.parse_gates(gates) if gates is not None else None, quirks=quirks)
