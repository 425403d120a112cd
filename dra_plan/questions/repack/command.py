"""`dra-plan repack`: which pods have to move to free devices."""

from __future__ import annotations

from typing import Annotated

import typer

from dra_plan.cli import completing, options
from dra_plan.cli.declared import given, takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.repack import ask


@takes(options.Sources, ask.RepackOptions, Edits, ReleaseOptions, ServedVersions, options.Ended, options.Messages)
def repack(
    context: typer.Context,
    *,
    fail_on: options.FailOn = "error",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.repackings,
            metavar="FORMAT",
            help=(
                "The output format: table, wide, json, yaml, name, markdown, script (kubectl commands) or"
                " jsonpath=TEMPLATE."
            ),
        ),
    ] = "table",
    report: options.Pages = None,
) -> Exit:
    """Find the fewest pod moves that make room for other pods.

    Examples:
      dra-plan repack cluster.json --free 8xH100=3
      dra-plan repack --live --for deploy/serve=5 --max-moves 10
      dra-plan repack cluster.json --most --movable bare -o script

    Finds moves of running pods that make room for other pods. The moves are grouped into waves that respect disruption
    budgets. Each wave is simulated, including the scheduler and the controllers. The output also shows a proven lower
    bound on the number of moves. -o script prints the kubectl commands that make the moves, but does not run the
    commands. PATH is a file, a directory, or - for standard input.

    """
    from dra_plan.cli.inputs import opened
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import UsageError
    from dra_plan.questions.repack.gate import JUDGE
    from dra_plan.questions.repack.text import parse

    with Reporting(context, report, pages_only=True) as reports:
        form, gate = parse(output), options.gate(fail_on=fail_on)
        asked = opened(context)
        if asked.owners:
            raise UsageError(f"{asked.owners[0]}: no such file. To make room for a workload, use --for")
        found = ask.repack(asked.cluster, **given(context, ask.RepackOptions))
        reports.tell(None, page_of(asked.cluster, found))
        print_document(found.document, form)
        return of_document(found.document, JUDGE, gate)
