"""`dra-plan autoscale`: what the Cluster Autoscaler does about pending pods and idle nodes."""

from __future__ import annotations

from typing import Annotated

import typer

from dra_plan.cli import options
from dra_plan.cli.declared import given, takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.autoscale import ask


@takes(options.Sources, ask.AutoscaleOptions, Edits, ReleaseOptions, ServedVersions, options.Ended, options.Messages)
def autoscale(
    context: typer.Context,
    *,
    groups: Annotated[  # noqa: ARG001  (`node_groups` reads it, and the settings)
        str | None,
        typer.Option(
            "--groups",
            metavar="FILE",
            help="Read the autoscaler's options, and the node groups with their templates, from this file.",
        ),
    ] = None,
    fail_on: options.FailOn = "error",
    output: options.MarkdownOutput = "table",
    report: options.Pages = None,
) -> Exit:
    """Show what the Cluster Autoscaler would do and why.

    Examples:
      dra-plan autoscale cluster.json --groups groups.yaml
      dra-plan autoscale --live --group gpu-pool,max=8
      dra-plan autoscale cluster.json --group gpu-pool=gpu-1,max=8

    Simulates one loop of the Cluster Autoscaler. The output shows which pending pods fit on existing nodes, which node
    groups would grow for the other pods, which pods kube-scheduler would bind to the new nodes, and which nodes could
    be removed. --groups reads the node groups from a file, and --group adds a node group on the command line. If
    neither option is set, dra-plan finds the node groups from the node labels that GKE, EKS, AKS and Cluster API set.
    PATH is a file, a directory, or - for standard input. The exit status is 1 if there is a pod that no node group can
    help, or if the loop stops with an error.

    """
    from dra_plan.cli.inputs import node_groups, opened
    from dra_plan.cli.printing import print_document
    from dra_plan.errors import UsageError
    from dra_plan.questions.autoscale.gate import JUDGE
    from dra_plan.questions.autoscale.text import parse

    with Reporting(context, report, pages_only=True) as reports:
        form, gate = parse(output), options.gate(fail_on=fail_on)
        asked = opened(context)
        if asked.owners:
            raise UsageError(
                f"{asked.owners[0]}: no such file. autoscale does not take pods; it always plans all pending pods"
            )
        found = ask.autoscale(asked.cluster, **node_groups(context) | given(context, ask.AutoscaleOptions))
        reports.tell(None, page_of(asked.cluster, found))
        print_document(found.document, form)
        return of_document(found.document, JUDGE, gate)
