"""`dra-plan capacity`: how many more fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import options, whatif
from .exits import Exit, of_document
from .reporting import Reporting, page_of

if TYPE_CHECKING:
    from dra_plan.documents.capacity import CapacityDocument
    from dra_plan.output.formats import Formats


def capacity(
    context: typer.Context,
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    mix: Annotated[
        bool, typer.Option("--mix", help="Count all owners together, in the proportion of their replicas.")
    ] = False,
    possible: Annotated[
        bool | None,
        typer.Option(
            "--possible/--no-possible",
            help="Seek the best placement, whatever the scheduler does, however long it takes; or not at all. Usually"
            " it is sought for a few seconds, and not with --mix.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Try so many copies at most (default: 10,000).")
    ] = None,
    at_least: Annotated[
        int, typer.Option("--at-least", min=0, metavar="N", help="Exit with 1 unless there is room for N copies.")
    ] = 0,
    infer_nodes: options.InferNodes = False,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Exit with 0 if there is nothing to copy, instead of 2.")
    ] = False,
    kubernetes_version: options.KubernetesVersion = None,
    strict_version: options.StrictVersion = False,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
    max_steps: options.MaxSteps = None,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    report: options.Pages = None,
) -> Exit:
    """Say how many copies of a pod there is room for.

    PATH... hold the cluster and the pods: files, directories, or - for standard input. Copies of each waiting pod and
    of each workload's pod, or of those that are named (pod/train, deploy/serve, train), are created one after the other
    beside what is on the nodes, until kube-scheduler refuses one.
    """
    from dra_plan.output.formats import parse_lazily

    from .opening import opened
    from .printing import nothing_to_do, print_document

    with Reporting("capacity", report, paths, filenames, pages_only=True) as reports:
        form = parse_lazily(output, _tables)
        gate = options.gate(min_copies=at_least, fail_on=fail_on)
        asked = opened(context)
        found = asked.cluster.capacity(
            *asked.owners,
            namespace=asked.namespace,
            mix=mix,
            possible=possible,
            limit=limit,
            infer_nodes=infer_nodes,
            max_steps=max_steps,
        )
        document = found.document
        if not document.items and not allow_empty:
            raise nothing_to_do(
                document.warnings,
                "nothing to copy: the input has no pod that waits and no workload; name a pod, whatever has become of"
                " it",
            )
        reports.tell(None, page_of(asked.cluster, found))
        print_document(document, form)
        return of_document(document, gate)


def _tables() -> Formats[CapacityDocument]:
    from dra_plan.output.capacity import FORMATS

    return FORMATS
