"""`dra-plan allocate`: the main job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import options, whatif
from .exits import Exit, of_document
from .reporting import Reporting, of_claim_sets, page_of

if TYPE_CHECKING:
    from dra_plan.documents.allocation import AllocationDocument
    from dra_plan.output.formats import Formats


def allocate(
    context: typer.Context,
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = None,
    nodes: options.Nodes = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together", help="Plan all claims that wait, those of pods and workloads too, as one set on one node."
        ),
    ] = False,
    devices_only: options.DevicesOnly = False,
    infer_nodes: options.InferNodes = False,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Exit with 0 if there is nothing to plan, instead of 2.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Fill the document's reasons: why each node refuses, by code.")
    ] = False,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Before the answer, show the search step by step, for one claim set on one node (--node).",
        ),
    ] = False,
    kubernetes_version: options.KubernetesVersion = None,
    strict_version: options.StrictVersion = False,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
    max_steps: options.MaxSteps = None,
    timeout: options.Timeout = None,
    jobs: options.Jobs = 1,
    require_fit: options.RequireFit = False,
    min_nodes: options.MinNodes = 1,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    report: options.Reports = None,
    progress: options.Progress = True,
) -> Exit:
    """Say where claims fit and which devices they get.

    PATH... hold the cluster (nodes, resource slices, device classes, allocated claims) and what is to be planned
    (pods, workloads, claims, claim templates), in any order: files, directories, or - for standard input. Each pod,
    workload and lone claim is planned on its own, against the cluster as it is. Arguments that are no files choose
    what is planned, as kubectl names it: pod/train, deploy/serve, po train, train.
    """
    from dra_plan.errors import InputError, UsageError
    from dra_plan.output.formats import parse_lazily

    from .opening import opened
    from .printing import ALLOWED_EMPTY, print_document, print_hint, print_warnings
    from .progress import progress_bar

    with Reporting("allocate", report, paths, filenames) as reports:
        form = parse_lazily(output, _tables)
        if trace and output not in ("table", "wide"):
            raise UsageError(f"--trace is for reading: it goes with -o table or wide, not with {output}")
        heard = None
        if trace:
            from dra_plan.output.search_trace import SearchTrace, with_trace

            heard = SearchTrace()
            form = with_trace(heard, form)
        gate = options.gate(require_fit=require_fit, min_nodes=min_nodes, fail_on=fail_on)
        cluster, owners, namespace, wanted = opened(context)
        with progress_bar(wanted=progress) as advance:
            plan = cluster.allocate(
                *owners,
                nodes=nodes,
                namespace=namespace,
                selector=wanted,
                together=together,
                devices_only=devices_only,
                infer_nodes=infer_nodes,
                explain=explain,
                max_steps=max_steps,
                timeout=timeout,
                jobs=jobs,
                progress=advance,
                probe=heard,
            )
        document = plan.document
        if plan.is_empty and not allow_empty:
            print_warnings(document.warnings)
            if plan.unplanned:
                raise InputError("nothing to plan: what was named waits for no devices (--allow-empty accepts that)")
            where = f", in namespace {namespace}" if namespace else ""
            where += f", with labels {selector}" if wanted is not None else ""
            raise InputError(
                f"nothing to plan: the input has no pending claim, and no pod or workload that uses one{where}"
                f" {ALLOWED_EMPTY}"
            )
        reports.tell(
            lambda: of_claim_sets(document, gate, cluster.inventory.origins, command="allocate", anchor=reports.anchor),
            page_of(cluster, plan),
        )
        print_document(document, form)
        status = of_document(document, gate)
        if status == Exit.DOES_NOT_FIT and output in ("table", "wide"):
            print_hint("dra-plan explain, with the same paths, says why, down to the device")
        return status


def _tables() -> Formats[AllocationDocument]:
    from dra_plan.output.allocation_table import FORMATS

    return FORMATS
