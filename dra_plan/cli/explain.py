"""`dra-plan explain`: why not, and what would help."""

from __future__ import annotations

from typing import Annotated

import typer

from dra_plan.interpreter import uncollected

from . import completing, options, watching, whatif
from .exits import Exit, of_document
from .reporting import Reporting, of_claim_sets, page_of


def explain(
    context: typer.Context,
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = None,
    nodes: options.Nodes = None,
    devices: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            autocompletion=completing.devices,
            metavar="DRIVER/POOL/DEVICE",
            help="Tell the whole story of this device; repeatable.",
        ),
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together", help="Take all claims that wait, those of pods and workloads too, as one set on one node."
        ),
    ] = False,
    devices_only: options.DevicesOnly = False,
    moves: Annotated[
        int | None,
        typer.Option("--moves", min=1, metavar="N", help="Seek up to N running pods whose move makes room."),
    ] = None,
    infer_nodes: options.InferNodes = False,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    kubernetes_version: options.KubernetesVersion = None,
    strict_version: options.StrictVersion = False,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
    max_steps: options.MaxSteps = None,
    timeout: options.Timeout = None,
    require_fit: Annotated[
        bool, typer.Option("--require-fit", help="Exit with 1, not 0, unless every claim set is known to fit.")
    ] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.explanations,
            metavar="FORMAT",
            help="text, markdown, json, yaml or jsonpath=TEMPLATE.",
        ),
    ] = "text",
    watch: watching.Watch = False,
    report: options.Reports = None,
    progress: options.Progress = True,
) -> Exit:
    """Say why claims do not fit, and what would make them fit.

    The reasons go down to the device; of what fits, why a device was chosen and not an earlier one. PATH... are as for
    allocate. Arguments that are no files name pods, workloads and claims as kubectl does: pod/train, deploy/serve,
    po train, train; those that run already or have no claims are told, too. podgroup/train says why a pod group starts
    or does not.

    Exit status 0 whatever is found, unless --require-fit is given; 2 and 4 as everywhere.
    """
    from dra_plan.output.explain_formats import parse

    from .loading import keep_until_exit
    from .opening import opened
    from .printing import print_document
    from .progress import progress_bar

    with Reporting("explain", report, paths, filenames) as reports:
        form = parse(output)
        gate = options.gate(require_fit=require_fit)
        cluster, owners, namespace, wanted = opened(context)
        with progress_bar(wanted=progress) as advance, uncollected():
            told = cluster.explain(
                *owners,
                devices=devices,
                nodes=nodes,
                namespace=namespace,
                selector=wanted,
                together=together,
                devices_only=devices_only,
                moves=moves,
                infer_nodes=infer_nodes,
                max_steps=max_steps,
                timeout=timeout,
                progress=advance,
            )
        keep_until_exit(told)
        document = told.document
        reports.tell(
            lambda: of_claim_sets(document, gate, cluster.inventory.origins, command="explain", anchor=reports.anchor),
            page_of(cluster, told),
        )
        print_document(document, form)
        return of_document(document, gate) if require_fit else Exit.OK
