"""`dra-plan impact`: the effect of applying objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import live, options
from dra_plan.cli.declared import given, takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.impact import ask

if TYPE_CHECKING:
    from dra_plan.questions.impact.document import ImpactDocument
    from dra_plan.text.gate import Gate
    from dra_plan.text.reports.claim_sets import Origins
    from dra_plan.text.reports.content import Content


@takes(
    options.Directories,
    options.EveryNamespace,
    ask.ImpactOptions,
    Edits,
    ReleaseOptions,
    ServedVersions,
    options.Ended,
    options.Messages,
)
def impact(
    context: typer.Context,
    *,
    paths: Annotated[list[str] | None, typer.Argument(metavar="CLUSTER", hidden=True)] = None,
    objects: Annotated[
        list[str] | None,
        typer.Option(
            "--filename", "-f", metavar="PATH", help=("Apply the objects in this file or directory. Can be repeated.")
        ),
    ] = None,
    fail_on: options.FailOn = "error",
    output: options.MarkdownOutput = "table",
    report: options.Reports = None,
) -> Exit:
    """Show what would happen to running pods if you applied objects.

    Examples:
      dra-plan impact -f taint-rule.yaml cluster.json
      dra-plan impact -f quota.yaml --live
      kubectl dra-plan impact -f new-slices/
      dra-plan impact --to-kubernetes-version 1.37 cluster.json

    Applies the objects in -f, such as a taint rule, a class, the slices of a new driver, or a quota. With
    --to-kubernetes-version, also simulates an upgrade; -f is then optional. CLUSTER is a file or directory that
    contains the cluster. To read a live cluster, use --live. The controllers and the scheduler are simulated until
    nothing changes. The output shows which pods are terminated and when, where their replacements run, which pods
    cannot be scheduled, which pending pods start, and which selectors no longer match any device. The exit status is 1
    if a terminated pod is not rescheduled, or if an allocated claim loses its devices.

    """
    from dra_plan.cli.inputs import load_cluster, loaded, namespace_of, refuse_missing_files, selected, tell_apart
    from dra_plan.cli.printing import print_document
    from dra_plan.cli.whatif import changed
    from dra_plan.errors import UsageError
    from dra_plan.questions.impact.gate import JUDGE
    from dra_plan.questions.impact.text import parse

    with Reporting(context, report) as reports:
        form, gate, wanted = parse(output), options.gate(fail_on=fail_on), selected(context)
        if not objects and context.params["to_kubernetes_version"] is None:
            told = "give the objects to apply with -f FILE, and the cluster with CLUSTER or --live"
            raise UsageError(told + _instead(context))
        may_ask = live.asked(context).wanted or live.is_plugin()
        clusters, owners = tell_apart(paths, None, command="impact", live=may_ask)
        is_live = live.is_wanted(context, clusters, None)
        namespace = namespace_of(context, owners, is_live=is_live)
        cluster = changed(context, loaded(context, clusters))
        refuse_missing_files(owners, [cluster.inventory])
        own = context.params.get("namespace") or (live.namespace(context) if is_live else None)
        recursive = context.params["recursive"]
        change = load_cluster(objects, None, recursive=recursive, namespace=own, progress=False) if objects else None
        chosen = {**given(context, ask.ImpactOptions), "namespace": namespace, "selector": wanted}
        found = ask.impact(cluster, change, *owners, **chosen)
        origins = change.inventory.origins if change is not None else {}
        reports.tell(lambda: _content(found.document, gate, origins, reports.anchor), page_of(cluster, found))
        print_document(found.document, form)
        return of_document(found.document, JUDGE, gate)


def _instead(context: typer.Context) -> str:
    """Return the advice to use `diff`, which shows the effect of what-if options alone; "" without such options."""
    from dra_plan.cli.whatif import NAMES

    given = [f"--{name.replace('_', '-')}" for name in NAMES if context.params.get(name)]
    return (
        f"; for the effect of {' and '.join(given)} alone, run `dra-plan diff` with the same options" if given else ""
    )


def _content(document: ImpactDocument, gate: Gate, origins: Origins, anchor: str) -> Content:
    """Return the content of CI reports; the code that builds it is imported only if there are reports."""
    from dra_plan.questions.impact.report import content

    return content(document, gate, origins, anchor=anchor)
