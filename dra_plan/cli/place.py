"""`dra-plan place`: the placement that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import completing, options, whatif
from .exits import Exit, of_document
from .reporting import Reporting, page_of

if TYPE_CHECKING:
    from dra_plan.documents.placement import PlacementDocument
    from dra_plan.output.formats import Formats


def place(
    context: typer.Context,
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = None,
    most: Annotated[
        bool, typer.Option("--most", help="Place as many as possible, pods of high priority before all others.")
    ] = False,
    infer_nodes: options.InferNodes = False,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    allow_empty: options.AllowNoPods = False,
    kubernetes_version: options.KubernetesVersion = None,
    strict_version: options.StrictVersion = False,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
    max_steps: options.MaxSteps = None,
    fail_on: options.FailOn = "error",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.placements,
            metavar="FORMAT",
            help="table, wide, json, yaml, name, patches (for kubectl) or jsonpath=TEMPLATE.",
        ),
    ] = "table",
    report: options.Pages = None,
) -> Exit:
    """Say whether all pods that wait can run together.

    PATH... hold the cluster and its pods: files, directories, or - for standard input. A placement of all of them is
    sought, with nodes and devices, whatever kube-scheduler would do; -n and -l choose which pods, or arguments that are
    no files: pod/train, deploy/serve, podgroup/gang. Placed is exit status 0; Impossible 1, with the smallest set of
    pods that proves it; Undecided 3, with both bounds.
    """
    from dra_plan.output.formats import parse_lazily

    from .opening import opened
    from .printing import nothing_to_do, print_document

    with Reporting("place", report, paths, filenames, pages_only=True) as reports:
        form = parse_lazily(output, _tables)
        gate = options.gate(fail_on=fail_on)
        asked = opened(context)
        found = asked.cluster.place(
            *asked.owners,
            namespace=asked.namespace,
            selector=asked.selector,
            most=most,
            infer_nodes=infer_nodes,
            max_steps=max_steps,
        )
        document = found.document
        if not document.pods and not allow_empty:
            raise nothing_to_do(document.warnings, options.NO_PODS)
        reports.tell(None, page_of(asked.cluster, found))
        print_document(document, form)
        return of_document(document, gate)


def _tables() -> Formats[PlacementDocument]:
    from dra_plan.output.placement import FORMATS

    return FORMATS
