"""`dra-plan capacity`: how many more copies of a pod fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import options
from dra_plan.cli.declared import takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.capacity import ask

if TYPE_CHECKING:
    from dra_plan.questions.capacity.document import CapacityDocument
    from dra_plan.text.formats import Format


@takes(
    options.Sources,
    options.EveryNamespace,
    ask.CapacityOptions,
    Edits,
    ReleaseOptions,
    ServedVersions,
    options.Ended,
    options.Messages,
)
def capacity(
    context: typer.Context,
    *,
    at_least: Annotated[
        int,
        typer.Option(
            "--at-least",
            min=0,
            metavar="N",
            help="Exit with status 1 if COPIES is less than N.",
        ),
    ] = 0,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help=("Exit with status 0 instead of 2 if there is nothing to copy."))
    ] = False,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    report: options.Pages = None,
) -> Exit:
    """Count how many more copies of a pod fit.

    Examples:
      dra-plan capacity cluster.json pod.yaml
      dra-plan capacity --live deploy/serve
      dra-plan capacity cluster.json deploy/serve --at-least 10

    Adds copies of a pod to the cluster, one at a time, until kube-scheduler rejects a copy. COPIES is the number of
    copies that kube-scheduler binds. Pending replicas are counted as copies, but running pods are not. POSSIBLE is the
    number of copies that fit with the best choice of nodes and devices. If no names are given, the copies of each
    pending pod and of each workload are counted separately. PATH is a file, a directory, or - for standard input.

    """
    from dra_plan.cli.inputs import opened, options_of
    from dra_plan.cli.printing import nothing_to_do, print_document
    from dra_plan.questions.capacity.gate import JUDGE
    from dra_plan.text.formats import parse_lazily

    with Reporting(context, report, pages_only=True) as reports:
        form = parse_lazily(output, _parse)
        gate = options.gate(min_copies=at_least, fail_on=fail_on)
        asked = opened(context)
        found = ask.capacity(asked.cluster, *asked.owners, **options_of(context, asked, ask.CapacityOptions))
        document = found.document
        if not document.items and not allow_empty:
            raise nothing_to_do(
                document.warnings,
                ("nothing to copy: the input has no pending pod and no workload; name a pod in any state"),
            )
        reports.tell(None, page_of(asked.cluster, found))
        print_document(document, form)
        return of_document(document, JUDGE, gate)


def _parse(option: str) -> Format[CapacityDocument]:
    from dra_plan.questions.capacity.text import parse

    return parse(option)
