"""`dra-plan allocate`: on which nodes claims fit, and which devices they get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import options
from dra_plan.cli.declared import takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.allocate import ask

if TYPE_CHECKING:
    from dra_plan.questions.allocate.document import AllocationDocument
    from dra_plan.text.formats import Format
    from dra_plan.text.gate import Gate
    from dra_plan.text.reports.claim_sets import Origins
    from dra_plan.text.reports.content import Content


@takes(
    options.Sources,
    options.EveryNamespace,
    ask.AllocateOptions,
    Edits,
    ReleaseOptions,
    ServedVersions,
    options.Messages,
)
def allocate(
    context: typer.Context,
    *,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help=("Exit with status 0 instead of 2 if there is nothing to plan."))
    ] = False,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Show the search step by step. Requires a single workload and a single node (--node).",
        ),
    ] = False,
    require_fit: options.CompetingFit = False,
    min_nodes: options.MinNodes = 1,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    report: options.Reports = None,
    progress: options.Progress = True,
) -> Exit:
    """Show on which nodes claims fit, and which devices they get.

    Examples:
      dra-plan allocate manifests/
      dra-plan allocate cluster.json job.yaml --require-fit
      dra-plan allocate --live pod/train -o wide

    Plans each pod, workload and standalone claim separately, as if nothing else were pending. To make pods compete for
    devices, use `schedule`. PATH is a file, a directory, or - for standard input. The files contain the cluster (nodes,
    slices, classes, claims in use) and the pods to plan, in any order. Arguments that are not files are read as names,
    as in kubectl: pod/train, deploy/serve, po train, train.

    """
    from dra_plan.cli.inputs import opened, options_of
    from dra_plan.cli.live import progress_bar
    from dra_plan.cli.printing import ALLOWED_EMPTY, print_document, print_hint, print_warnings
    from dra_plan.errors import InputError, UsageError
    from dra_plan.questions.allocate.gate import JUDGE
    from dra_plan.text.formats import parse_lazily

    with Reporting(context, report) as reports:
        form = parse_lazily(output, _parse)
        if trace and output not in ("table", "wide"):
            raise UsageError(f"--trace needs -o table or wide, not {output}")
        heard = None
        if trace:
            from dra_plan.questions.allocate.trace import SearchTrace, with_trace

            heard = SearchTrace()
            form = with_trace(heard, form)
        gate = options.gate(require_fit=require_fit, min_nodes=min_nodes, fail_on=fail_on)
        asked = opened(context)
        with progress_bar(wanted=progress) as advance:
            plan = ask.allocate(
                asked.cluster,
                *asked.owners,
                **options_of(context, asked, ask.AllocateOptions),
                competing=require_fit,
                progress=advance,
                probe=heard,
            )
        document = plan.document
        if plan.is_empty and not (document.refusals or allow_empty):
            print_warnings(document.warnings)
            if plan.unplanned:
                raise InputError("nothing to plan: what was named needs no devices (--allow-empty accepts that)")
            where = f", in namespace {asked.namespace}" if asked.namespace else ""
            where += f", with labels {context.params['selector']}" if asked.selector is not None else ""
            raise InputError(
                f"nothing to plan: the input has no pending claim, and no pod or workload that uses one{where}"
                f" {ALLOWED_EMPTY}"
            )
        reports.tell(
            lambda: content(document, gate, asked.cluster.inventory.origins, anchor=reports.anchor),
            page_of(asked.cluster, plan),
        )
        print_document(document, form)
        status = of_document(document, JUDGE, gate)
        if status == Exit.DOES_NOT_FIT and output in ("table", "wide"):
            print_hint("to see why, run dra-plan explain with the same paths")
        return status


def _parse(option: str) -> Format[AllocationDocument]:
    from dra_plan.questions.allocate.text import parse

    return parse(option)


def content(document: AllocationDocument, gate: Gate, origins: Origins, *, anchor: str) -> Content:
    """Return the content of CI reports. The code that builds it is imported only when it is called."""
    from dra_plan.questions.allocate import report

    return report.content(document, gate, origins, anchor=anchor)
