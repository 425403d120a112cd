"""`dra-plan schedule`: pods that compete, through the whole scheduling cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import completing, options, watching, whatif
from .exits import Exit, of_document
from .reporting import Reporting, of_pods, page_of

if TYPE_CHECKING:
    from dra_plan.documents.schedule import ScheduleDocument
    from dra_plan.output.formats import Formats
    from dra_plan.scheduler.framework.extender import Extender


def schedule(
    context: typer.Context,
    paths: options.Paths = None,
    filenames: options.Filenames = None,
    recursive: options.Recursive = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = None,
    then: Annotated[
        list[str] | None,
        typer.Option("--then", metavar="PATH", help="The next state of the cluster; repeatable, in order."),
    ] = None,
    config: Annotated[
        str | None, typer.Option("--config", metavar="FILE", help="A KubeSchedulerConfiguration (v1).")
    ] = None,
    allow_extenders: Annotated[
        bool, typer.Option("--allow-extenders", help="Contact the extenders that the configuration names.")
    ] = False,
    api_server: Annotated[
        str | None,
        typer.Option(
            "--api-server",
            autocompletion=completing.of("recorded", "real"),
            metavar="recorded|real",
            help="real: as in a cluster; recorded: finished pods count, and no write is refused as outdated.",
            hidden=True,
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            "--order",
            autocompletion=completing.of("arrival", "name"),
            metavar="arrival|name",
            help="arrival: pods as they were created; name: as a restarted scheduler lists them.",
        ),
    ] = "arrival",
    infer_nodes: options.InferNodes = False,
    cordon: whatif.Cordon = None,
    drain: whatif.Drain = None,
    without: whatif.WithoutObject = None,
    add_nodes: whatif.AddNodes = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Exit with 0 if there is no pod, instead of 2.")
    ] = False,
    kubernetes_version: options.KubernetesVersion = None,
    strict_version: options.StrictVersion = False,
    feature_gates: options.FeatureGates = None,
    quirks: options.Quirks = "upstream",
    max_steps: options.MaxSteps = None,
    timeout: options.Timeout = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show what every plugin said of every node, and what woke which pod.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say why each pod without a node was refused devices, down to the device."),
    ] = False,
    settle: Annotated[
        bool,
        typer.Option("--settle", help="Go on with what controllers do, until nothing changes: evictions, successors."),
    ] = False,
    events: Annotated[
        str | None,
        typer.Option("--events", metavar="FILE", help="Steps that happen then, JSON lines; needs --settle."),
    ] = None,
    never_ready: Annotated[
        list[str] | None,
        typer.Option("--never-ready", metavar="POD", help="With --settle: starts and never becomes ready; repeatable."),
    ] = None,
    require_fit: options.RequireFit = False,
    fail_on: options.FailOn = "error",
    output: options.Output = "table",
    watch: watching.Watch = False,
    report: options.Reports = None,
) -> Exit:
    """Put pods through the scheduler and say where each one goes.

    PATH... hold the cluster and its pods, bound and pending: files, directories, or - for standard input. Pods are
    taken in the scheduler's order and compete for nodes and devices; workloads count with their replicas. -n and -l
    choose which pending pods are scheduled, or arguments that are no files: pod/train, deploy/serve, po train, train.
    """
    from dra_plan.output.formats import parse_lazily

    from .loading import load_cluster
    from .opening import opened
    from .printing import nothing_to_do, print_document

    with Reporting("schedule", report, paths, filenames) as reports:
        form = parse_lazily(output, _tables)
        gate = options.gate(require_fit=require_fit, fail_on=fail_on)
        document, extenders = _configuration(config, allow=allow_extenders)
        cluster, owners, namespace, wanted = opened(context)
        later = [load_cluster([path], None, recursive=recursive) for path in then or ()]
        origins = {
            key: origin for state in (*reversed(later), cluster) for key, origin in state.inventory.origins.items()
        }
        found = cluster.schedule(
            *owners,
            namespace=namespace,
            selector=wanted,
            then=later,
            config=document,
            extenders=extenders,
            api_server=api_server,
            order=order,
            infer_nodes=infer_nodes,
            requires_nodes=True,
            trace=trace or output == "wide",
            explain=explain or reports.has_pages,
            settle=settle,
            events=_steps(events),
            never_ready=never_ready or (),
            max_steps=max_steps,
            timeout=timeout,
        )
        plan = found.document if explain else found.unexplained
        missing = _nothing(plan, selecting=namespace is not None or wanted is not None, named=bool(owners))
        if missing and not allow_empty:
            raise nothing_to_do(plan.warnings, f"nothing to schedule: {missing}")
        reports.tell(
            lambda: of_pods(plan, gate, origins, command="schedule", anchor=reports.anchor), page_of(cluster, found)
        )
        print_document(plan, form)
        return of_document(plan, gate)


def _nothing(plan: ScheduleDocument, *, selecting: bool, named: bool) -> str:
    """Why there was nothing to do, or "". A cluster whose pods all have their places is no reason to complain."""
    if not plan.pods and plan.settled:
        return "" if plan.settled.evicted or plan.settled.refused else "no pod is left, and none has ended"
    if not plan.pods:
        return "what is named has no pod and wants none" if named else "the input has no pod and no workload"
    concerned = any(pod.attempts or pod.outcome not in ("Bound", "Skipped") for pod in plan.pods)
    return "" if concerned or not selecting else "-n and -l choose no pod that waits for a node"


def _steps(path: str | None) -> list[Any]:
    """The decoded lines of the events file. InputError, with the line, for what is no JSON."""
    if path is None:
        return []
    from dra_plan.manifests.json_lines import read_lines

    return read_lines(path)


def _configuration(path: str | None, *, allow: bool) -> tuple[dict[str, Any] | None, list[Extender] | None]:
    """The decoded configuration, and its extenders if they may be contacted."""
    from dra_plan.errors import UsageError
    from dra_plan.manifests.faults import Fault, ManifestErrors
    from dra_plan.manifests.load import load_items
    from dra_plan.manifests.paths import render
    from dra_plan.scheduler import config
    from dra_plan.scheduler.config import unknown_fields

    if path is None:
        if allow:
            raise UsageError("--allow-extenders needs --config: extenders stand in the configuration")
        return None, None
    found = load_items([path])
    if len(found) != 1:
        raise UsageError(f"--config {path}: wanted one {config.KIND}, found {len(found)} documents")
    [item] = found
    document = item.value
    config.check_kind(document)
    unknown = unknown_fields(document)
    if unknown:
        places = zip(unknown, item.place.lines(unknown), strict=True)
        raise ManifestErrors([Fault(path, config.UNKNOWN, line, path=render(field)) for field, line in places])
    if not allow:
        return document, None
    from .extenders import make

    return document, list(make(config.read(document)))


def _tables() -> Formats[ScheduleDocument]:
    from dra_plan.output.schedule import FORMATS

    return FORMATS
