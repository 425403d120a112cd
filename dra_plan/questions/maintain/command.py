"""`dra-plan maintain`: an order in which nodes can be drained and returned to service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import options
from dra_plan.cli.declared import given, takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.maintain import ask

if TYPE_CHECKING:
    from dra_plan.questions.maintain.document import MaintenanceDocument
    from dra_plan.text.gate import Gate
    from dra_plan.text.reports.claim_sets import Origins
    from dra_plan.text.reports.content import Content


@takes(options.Sources, ask.MaintainOptions, Edits, ReleaseOptions, ServedVersions, options.Ended, options.Messages)
def maintain(
    context: typer.Context,
    *,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="PATH",
            help=(
                "Read new ResourceSlices and Nodes from PATH. The new objects replace the current ones "
                "when the drained nodes return. Can be repeated."
            ),
        ),
    ] = None,
    fail_on: options.FailOn = "error",
    output: options.MarkdownOutput = "table",
    report: options.Reports = None,
) -> Exit:
    """Find a safe order in which to drain nodes.

    Examples:
      dra-plan maintain cluster.json --nodes rack=r2
      dra-plan maintain --live --nodes pool=gpu --at-once 2
      dra-plan maintain cluster.json --nodes node-1,node-2 -o json
      dra-plan maintain cluster.json --nodes rack=r2 --surge 1=node-1
      dra-plan maintain cluster.json --to driver-2-slices.yaml

    Simulates draining the nodes in waves. As with `kubectl drain`, disruption budgets limit how many pods are evicted
    at a time. Controllers recreate the evicted pods, and the scheduler schedules the new pods. The nodes of a wave are
    uncordoned before the next wave begins. The output shows an order in which every evicted pod is rescheduled. If no
    order works, the output shows the node and the pod at which the best attempt stopped. PATH is a file, a directory,
    or - for standard input.

    """
    from dra_plan.cli.inputs import load_cluster, opened
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import UsageError
    from dra_plan.questions.maintain.gate import JUDGE
    from dra_plan.questions.maintain.text import parse

    with Reporting(context, report) as reports:
        form, gate = parse(output), options.gate(fail_on=fail_on)
        asked = opened(context)
        if asked.owners:
            raise UsageError(f"{asked.owners[0]}: no such file. maintain takes nodes (--nodes), not pods")
        changed = load_cluster(to, None, recursive=context.params["recursive"], progress=False) if to else None
        found = ask.maintain(asked.cluster, to=changed, **given(context, ask.MaintainOptions))
        origins = asked.cluster.inventory.origins
        reports.tell(lambda: _content(found.document, gate, origins, reports.anchor), page_of(asked.cluster, found))
        print_document(found.document, form)
        return of_document(found.document, JUDGE, gate)


def _content(document: MaintenanceDocument, gate: Gate, origins: Origins, anchor: str) -> Content:
    """Return the content of CI reports; the code that builds it is imported only if there are reports."""
    from dra_plan.questions.maintain.report import content

    return content(document, gate, origins, anchor=anchor)
