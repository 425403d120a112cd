"""`schedule -o table` and `-o wide`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan import shown
from dra_plan.documents.schedule import PluginVerdict, ScheduleDocument, ScheduledPod, ScheduledVolume, TracedAttempt

from . import schedule_groups, schedule_reasons, schedule_settled, schedule_trace, text
from .columns import Part, Screen, Table
from .formats import Formats
from .schedule_pods import pods_table

FEW = 10
"""So many pods that had their places already are shown, if there are no others: it may be they that were asked for."""

LEGEND = "ok: passed Filter; numbers: weighted scores."


def table(document: ScheduleDocument, screen: Screen | None) -> list[Part]:
    """One row per pod that was scheduled: where it goes and with which devices, or why it stays.

    Below, with a trace the story of each attempt, who is evicted and woken, and how many pods are left out because they
    had their place already or were not chosen.
    """
    pods = [pod for pod in document.pods if not _aside(pod)]
    if not pods and len(document.pods) <= FEW:
        pods = document.pods
    parts = [*pods_table(document, pods, screen, every=False), *schedule_reasons.paragraphs(document)]
    parts += map(schedule_trace.story, document.trace.attempts if document.trace else ())
    parts += _below(document, pods, [volume for volume in document.volumes if volume.pv or volume.provision])
    aside = [_aside(pod) for pod in document.pods] if pods is not document.pods else []
    told = [f"{aside.count(why)} {why}" for why in dict.fromkeys(filter(None, aside))]
    if told:
        parts.append(f"Not shown (-o wide shows them): {', '.join(told)}.")
    return [*parts, text.target(document)]


def wide(document: ScheduleDocument, screen: Screen | None) -> list[Part]:
    """All pods, and for the last attempt of each a matrix: one row per node, one column per plugin."""
    last = {attempt.pod: attempt for attempt in (document.trace.attempts if document.trace else ())}
    parts = [*pods_table(document, document.pods, screen, every=True), *schedule_reasons.paragraphs(document)]
    parts += _attempts(last.values())
    parts += _below(document, document.pods, document.volumes)
    return [*parts, text.target(document)]


def _aside(pod: ScheduledPod) -> str:
    """Why a pod is no news: it was bound before, or is not one of those that were asked for; otherwise ""."""
    if pod.outcome == "Bound" and not pod.attempts:
        return "bound before"
    return "not chosen" if pod.outcome == "Skipped" and pod.waiting == "not chosen" else ""


def _attempts(attempts: Iterable[TracedAttempt]) -> list[Part]:
    parts = [part for attempt in attempts for part in _attempt(attempt)]
    return [*parts, LEGEND] if any(isinstance(part, Table) for part in parts) else parts


def _attempt(attempt: TracedAttempt) -> Iterator[Part]:
    yield schedule_trace.headline(attempt)
    refused = [entry for entry in attempt.pre_filter if entry.status not in ("Success", "Skip")]
    if refused:
        made = Table(("PLUGIN", "PREFILTER"), flexible=(1,))
        for entry in refused:
            made.add(entry.plugin, _cell(entry))
        yield made
    if attempt.filter:
        yield _matrix(attempt)


def _matrix(attempt: TracedAttempt) -> Table:
    """What each plugin said of each node; points where the plugin scored it."""
    scores = attempt.score
    filters = dict.fromkeys(entry.plugin for node in attempt.filter for entry in node.verdicts)
    ordered = [*filters, *(plugin for plugin in scores if plugin not in filters)]
    headers = ("NODE", *ordered, *(["TOTAL"] if scores else []))
    made = Table(headers, grouped=1, flexible=range(1, len(ordered) + 1))
    for node in attempt.filter:
        said = {entry.plugin: _cell(entry) for entry in node.verdicts}
        points = {plugin: by_node[node.node] for plugin, by_node in scores.items() if node.node in by_node}
        cells = [" ".join(filter(None, (said.get(p, ""), str(points.get(p, ""))))) for p in ordered]
        total = [str(sum(points.values())) if points else ""] if scores else []
        made.add(node.node, *cells, *total)
    return made


def _cell(entry: PluginVerdict) -> str:
    return "ok" if entry.status == "Success" else entry.message or entry.status


def _below(document: ScheduleDocument, pods: list[ScheduledPod], volumes: list[ScheduledVolume]) -> list[Part]:
    """What is told of pod groups, of volumes, of nodes that devices take from, of evictions and of what wakes pods."""
    parts = (
        schedule_groups.table(document.pod_groups),
        _volumes(volumes),
        _taken(pods),
        _evictions(document),
        _wakes(document),
    )
    shown_parts: list[Part] = [part for part in parts if part.rows]
    if document.outlook:
        shown_parts.append(f"This is one pass of the scheduler. Then {'; '.join(document.outlook)} (--settle goes on).")
    return [*shown_parts, *schedule_settled.parts(document.settled)] if document.settled else shown_parts


def _volumes(volumes: list[ScheduledVolume]) -> Table:
    """What claims on volumes get: a volume that is there, or one that is made for a node."""
    made = Table(("VOLUME CLAIM", "VOLUME", "MADE FOR NODE"))
    for volume in volumes:
        made.add(volume.pvc, volume.pv or ("new" if volume.provision else ""), volume.provision)
    return made


def _taken(pods: Iterable[ScheduledPod]) -> Table:
    """What devices take from the nodes of pods themselves."""
    made = Table(("POD", "CLAIM", "TAKES FROM ITS NODE", "FOR CONTAINERS"))
    for pod in pods:
        for entry in pod.node_allocatable:
            amounts = ", ".join(f"{name} {amount}" for name, amount in entry.resources.items())
            name = f"{pod.namespace}/{pod.name}"
            made.add(name, entry.resource_claim_name, amounts, ", ".join(dict.fromkeys(entry.containers)))
    return made


def _evictions(document: ScheduleDocument) -> Table:
    made = Table(("EVICTED POD", "NODE", "FOR POD"))
    for eviction in () if document.settled else document.evictions:
        made.add(eviction.pod, eviction.node, eviction.preemptor)
    return made


def _wakes(document: ScheduleDocument) -> Table:
    made = Table(("WOKEN POD", "BY EVENT", "OBJECT", "PLUGIN", "QUEUE"))
    for wake in document.trace.wakes if document.trace else ():
        made.add(wake.pod, wake.event, wake.object, wake.plugin, wake.queue)
    return made


def names(document: ScheduleDocument) -> str:
    """`pod/NAMESPACE/NAME node/NODE` for every bound pod."""
    bound = (pod for pod in document.pods if pod.node_name)
    return "".join(shown.line(f"pod/{pod.namespace}/{pod.name} node/{pod.node_name}") + "\n" for pod in bound)


FORMATS = Formats(table=table, wide=wide, name=names)
