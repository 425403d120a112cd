"""`dra-plan explain`: why a pod is pending, and which changes would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dra_plan.cli import completing, options, watching
from dra_plan.cli.declared import takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.interpreter import uncollected
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.explain import ask

if TYPE_CHECKING:
    from dra_plan.questions.explain.document import ExplanationDocument
    from dra_plan.text.gate import Gate
    from dra_plan.text.reports.claim_sets import Origins
    from dra_plan.text.reports.content import Content


@takes(
    options.Sources,
    options.EveryNamespace,
    ask.ExplainOptions,
    Edits,
    ReleaseOptions,
    ServedVersions,
    watching.Watching,
    options.Messages,
)
def explain(
    context: typer.Context,
    *,
    require_fit: Annotated[
        bool,
        typer.Option(
            "--require-fit", help="Exit with status 1 unless every pod and claim is certain to fit on a node."
        ),
    ] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            autocompletion=completing.explanations,
            metavar="FORMAT",
            help="The output format: text, markdown, json, yaml or jsonpath=TEMPLATE.",
        ),
    ] = "text",
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help=("Show all groups of nodes. By default, the text is shortened to fit on a screen."),
        ),
    ] = False,
    report: options.Reports = None,
    progress: options.Progress = True,
) -> Exit:
    """Explain why pods are pending and what would help.

    Examples:
      dra-plan explain --live pod/train
      dra-plan explain cluster.json pod/train
      dra-plan explain cluster.json deploy/serve --require-fit
      dra-plan explain cluster.json pod/train --moves 2

    The first line of the output is the verdict, for example that no node fits, that the pod is waiting for something,
    or that the pod would be scheduled. The lines below say why nodes reject the pod. The reasons can be taints, labels,
    CPU, memory, volumes, ports, quotas and devices. Every suggestion has been tried, and says which node the pod would
    then fit on. PATH is a file, a directory, or - for standard input. Arguments that are not files are read as names,
    as in kubectl: pod/train, deploy/serve, po train, train, podgroup/gang.

    Unless --require-fit is set, the exit status is 0 for any verdict.

    """
    from dra_plan.cli.inputs import keep_until_exit, node_groups, opened, options_of
    from dra_plan.cli.live import progress_bar
    from dra_plan.cli.printing import print_document
    from dra_plan.questions.explain.gate import JUDGE
    from dra_plan.questions.explain.owners import Telling
    from dra_plan.questions.explain.text import parse

    with Reporting(context, report) as reports:
        parse(output)
        gate = options.gate(require_fit=require_fit)
        asked = opened(context)
        details = verbose or bool(asked.owners)
        form = parse(output, Telling(verbose=verbose or bool(context.params["nodes"]), details=details))
        with progress_bar(wanted=progress) as advance, uncollected():
            found = ask.explain(
                asked.cluster,
                *asked.owners,
                **options_of(context, asked, ask.ExplainOptions) | node_groups(context),
                progress=advance,
            )
        keep_until_exit(found)
        document = found.document
        reports.tell(
            lambda: content(document, gate, asked.cluster.inventory.origins, anchor=reports.anchor),
            page_of(asked.cluster, found),
        )
        print_document(document, form)
        return of_document(document, JUDGE, gate) if require_fit else Exit.OK


def content(document: ExplanationDocument, gate: Gate, origins: Origins, *, anchor: str) -> Content:
    """Return the content of CI reports. The code that builds it is imported only when it is called."""
    from dra_plan.questions.explain import report

    return report.content(document, gate, origins, anchor=anchor)
