"""`dra-plan place`: a placement of all pending pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import completing, options
from dra_plan.cli.declared import takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.place import ask

if TYPE_CHECKING:
    from dra_plan.questions.place.document import PlacementDocument
    from dra_plan.text.formats import Format


@takes(
    options.Sources, options.EveryNamespace, ask.PlaceOptions, Edits, ReleaseOptions, ServedVersions, options.Messages
)
def place(
    context: typer.Context,
    *,
    allow_empty: options.AllowNoPods = False,
    fail_on: options.FailOn = "error",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.placements,
            metavar="FORMAT",
            help="The output format: table, wide, json, yaml, name, patches (for kubectl) or jsonpath=TEMPLATE.",
        ),
    ] = "table",
    report: options.Pages = None,
    progress: options.Progress = True,
) -> Exit:
    """Find out whether all pending pods can run together.

    Examples:
      dra-plan place cluster.json
      dra-plan place cluster.json podgroup/train --most
      dra-plan place --live -n team-a --timeout 10

    Searches for a choice of nodes and devices that lets all pending pods run at the same time. kube-scheduler may place
    the pods differently. To place only some of the pods, use -n, -l or names (pod/train, deploy/serve, podgroup/gang).
    The exit status is 0 if the outcome is Placed, 1 if it is Impossible, and 3 if it is Undecided. If the outcome is
    Impossible, the output names a set of pods that cannot run together. If the outcome is Undecided, the output shows
    lower and upper bounds on the number of pods that fit. Press Ctrl-C to stop the search and print the best result so
    far. PATH is a file, a directory, or - for standard input.

    """
    from dra_plan.cli.inputs import opened, options_of
    from dra_plan.cli.live import progress_bar
    from dra_plan.cli.printing import nothing_to_do, print_document
    from dra_plan.cli.stopping import stoppable
    from dra_plan.questions.place.gate import JUDGE
    from dra_plan.text.formats import parse_lazily

    with Reporting(context, report, pages_only=True) as reports:
        form = parse_lazily(output, _parse)
        gate = options.gate(fail_on=fail_on)
        asked = opened(context)
        with progress_bar(wanted=progress) as advance, stoppable() as stopped:
            given = options_of(context, asked, ask.PlaceOptions)
            found = ask.place(asked.cluster, *asked.owners, **given, progress=advance, stopped=stopped)
        document = found.document
        if not (document.pods or document.refusals or allow_empty):
            raise nothing_to_do(document.warnings, options.NO_PODS)
        reports.tell(None, page_of(asked.cluster, found))
        print_document(document, form)
        return of_document(document, JUDGE, gate)


def _parse(option: str) -> Format[PlacementDocument]:
    from dra_plan.questions.place.text import parse

    return parse(option)
