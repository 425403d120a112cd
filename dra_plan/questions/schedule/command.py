"""`dra-plan schedule`: the node that each pod gets, or why it stays pending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dra_plan.cli import options, watching
from dra_plan.cli.configuration import read_configuration, read_events
from dra_plan.cli.declared import takes
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit, of_document
from dra_plan.cli.whatif import Edits
from dra_plan.options import ReleaseOptions, ServedVersions
from dra_plan.questions.schedule import ask

if TYPE_CHECKING:
    from dra_plan.questions.schedule.document import ScheduleDocument
    from dra_plan.scheduler.framework.extender import Extender
    from dra_plan.text.formats import Format
    from dra_plan.text.gate import Gate
    from dra_plan.text.reports.claim_sets import Origins
    from dra_plan.text.reports.content import Content


@takes(
    options.Sources,
    options.EveryNamespace,
    ask.ScheduleOptions,
    Edits,
    ReleaseOptions,
    ServedVersions,
    watching.Watching,
    options.Messages,
)
def schedule(
    context: typer.Context,
    *,
    then: Annotated[
        list[str] | None,
        typer.Option(
            "--then",
            metavar="PATH",
            help=(
                "Read the next state of the cluster from PATH. Can be repeated. The states are applied in"
                " the given order."
            ),
        ),
    ] = None,
    config: options.SchedulerConfig = None,
    allow_extenders: Annotated[
        bool, typer.Option("--allow-extenders", help="Call the extenders that the scheduler's configuration lists.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Exit with status 0 instead of 2 if there are no pods.")
    ] = False,
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help=("Read the events to simulate from this JSON lines file. Requires --settle."),
        ),
    ] = None,
    require_fit: options.RequireFit = False,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    report: options.Reports = None,
) -> Exit:
    """Show which node each pod is scheduled to, or why it stays pending.

    Examples:
      dra-plan schedule cluster.json job.yaml
      dra-plan schedule cluster.json manifests/ --settle --require-fit
      dra-plan schedule --live -n team-a

    Schedules all pending pods, including all replicas of workloads, in kube-scheduler's order. The pods compete for
    nodes and devices. To schedule only some of the pods, use -n, -l or names (pod/train, deploy/serve, po train,
    train). PATH is a file, a directory, or - for standard input. The files contain the cluster and the pods.

    """
    from dra_plan.cli.inputs import load_cluster, opened, options_of
    from dra_plan.cli.printing import nothing_to_do, print_document
    from dra_plan.questions.schedule.gate import JUDGE
    from dra_plan.text.formats import parse_lazily

    with Reporting(context, report) as reports:
        form = parse_lazily(output, _parse)
        gate = options.gate(require_fit=require_fit, fail_on=fail_on)
        document, extenders = _configuration(config, allow=allow_extenders)
        asked = opened(context)
        cluster = asked.cluster
        later = [load_cluster([path], None, recursive=context.params["recursive"]) for path in then or ()]
        origins = {
            key: origin for state in (*reversed(later), cluster) for key, origin in state.inventory.origins.items()
        }
        wanted = options_of(context, asked, ask.ScheduleOptions)
        more = {
            "trace": wanted["trace"] or output == "wide",
            "explain": wanted["explain"] or bool(report) or require_fit,
        }
        found = ask.schedule(
            cluster,
            *asked.owners,
            **{**wanted, **more},
            then=later,
            config=document,
            extenders=extenders,
            requires_nodes=True,
            events=read_events(events),
        )
        plan = found.document if wanted["explain"] else found.unexplained
        selecting = asked.namespace is not None or asked.selector is not None
        missing = _nothing(plan, selecting=selecting, named=bool(asked.owners))
        if missing and not allow_empty:
            raise nothing_to_do(plan.warnings, f"nothing to schedule: {missing}")
        reports.tell(lambda: _content(found.document, gate, origins, anchor=reports.anchor), page_of(cluster, found))
        print_document(plan, form)
        return of_document(found.document, JUDGE, gate)


def _content(document: ScheduleDocument, gate: Gate, origins: Origins, *, anchor: str) -> Content:
    """Return the content of CI reports; the code that builds it is imported only if there are reports."""
    from dra_plan.questions.schedule import report

    return report.content(document, gate, origins, command="schedule", anchor=anchor)


def _nothing(plan: ScheduleDocument, *, selecting: bool, named: bool) -> str:
    """Return why there was nothing to do, or "". A cluster whose pods are all bound is not an error."""
    if plan.refusals:
        return ""
    if not plan.pods and plan.settled:
        return "" if plan.settled.evicted or plan.settled.refused else "no pod is left, and none was terminated"
    if not plan.pods:
        return "the named workloads have no pods and need none" if named else "the input has no pod and no workload"
    concerned = any(pod.attempts or pod.outcome not in ("Bound", "Skipped") for pod in plan.pods)
    return "" if concerned or not selecting else "-n and -l match no pending pod"


def _configuration(path: str | None, *, allow: bool) -> tuple[dict[str, Any] | None, list[Extender] | None]:
    """Return the decoded configuration, and its extenders if they may be contacted."""
    from dra_plan.errors import UsageError
    from dra_plan.scheduler import config

    if path is None:
        if allow:
            raise UsageError("--allow-extenders needs --config")
        return None, None
    document = read_configuration(path)
    if not allow:
        return document, None
    from dra_plan.questions.schedule.extenders import make

    return document, list(make(config.read(document)))


def _parse(option: str) -> Format[ScheduleDocument]:
    from dra_plan.questions.schedule.text import parse

    return parse(option)
