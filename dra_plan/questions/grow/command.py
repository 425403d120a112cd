"""`dra-plan grow`: how many new nodes the pending pods need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dra_plan.cli import options
from dra_plan.cli.declared import takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.grow import ask

if TYPE_CHECKING:
    from dra_plan.cli.inputs import Opened


@takes(
    options.Sources,
    options.EveryNamespace,
    ask.GrowOptions,
    Edits,
    ReleaseOptions,
    ServedVersions,
    options.Ended,
    options.Messages,
)
def grow(
    context: typer.Context,
    *,
    allow_empty: options.AllowNoPods = False,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    report: options.Pages = None,
) -> Exit:
    """Find out how many new nodes the pending pods need.

    Examples:
      dra-plan grow cluster.json --like gpu-node-1
      dra-plan grow cluster.json --like a.yaml --like b.yaml --cost b.yaml=3
      dra-plan grow --live --like gpu-node-1 -n team-a

    Finds the smallest number of copies of the --like node that lets kube-scheduler bind all pending pods. If --like is
    repeated, dra-plan finds the cheapest combination of these nodes. To plan for only some of the pods, use -n, -l or
    names (pod/train, deploy/serve). Pods that cannot be scheduled, however many nodes are added, are listed first, and
    make the exit status 1. PATH is a file, a directory, or - for standard input.

    """
    from dra_plan.cli.inputs import opened, options_of
    from dra_plan.cli.printing import nothing_to_do, print_document, print_hint
    from dra_plan.cli.repeating import command_line
    from dra_plan.errors import UsageError
    from dra_plan.questions.grow.gate import JUDGE
    from dra_plan.questions.grow.text import one_node_fewer, parse

    with Reporting(context, report, pages_only=True) as reports:
        form = parse(output)
        gate = options.gate(fail_on=fail_on)
        ask.read_prices(context.params["cost"])
        asked = opened(context)
        if not context.params["like"]:
            raise UsageError(_without_like(context, asked))
        found = ask.grow(asked.cluster, *asked.owners, **options_of(context, asked, ask.GrowOptions))
        document = found.document
        if not (document.pods or document.refusals or allow_empty):
            raise nothing_to_do(document.warnings, options.NO_PODS)
        reports.tell(None, page_of(asked.cluster, found))
        print_document(document, form)
        fewer = one_node_fewer(document)
        if fewer and output in ("table", "wide"):
            command = command_line(context, "place", fewer, without=("like", "cost", "limit"))
            print_hint(f"To try one node fewer: {command}")
        return of_document(document, JUDGE, gate)


def _without_like(context: typer.Context, asked: Opened) -> str:
    """Return that no node to copy is given, with the nodes that have suitable devices and a command for the first."""
    from dra_plan.cli.inputs import options_of
    from dra_plan.cli.repeating import command_line
    from dra_plan.questions.grow.candidates import candidates
    from dra_plan.text.words import listed

    said = "give the nodes to add with --like NODE or --like FILE"
    question = asked.cluster.question(asked.owners, options_of(context, asked, ask.GrowOptions))
    found = list(candidates(asked.cluster.inventory, asked.cluster.view, question))
    if not found:
        return said
    have = "has" if len(found) == 1 else "have"
    command = command_line(context, "grow", ["--like", found[0]])
    return f"{said}; {listed(found)} {have} devices like those requested: `{command}`"
