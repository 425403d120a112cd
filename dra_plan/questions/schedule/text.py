"""`schedule -o table` and `-o wide`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from dra_plan import shown
from dra_plan.documents.scheduling import (
    ExplainedAttempt,
    NodeVerdicts,
    PluginVerdict,
    PodRejectedLater,
    ScheduledPod,
    ScheduledPodGroup,
    ScheduledVolume,
    SettledCluster,
    TracedAttempt,
)
from dra_plan.documents.verdict_parts import PodOutcome
from dra_plan.questions.schedule.document import ScheduleDocument, devices_by_pod
from dra_plan.questions.schedule.reasons import MISSING_TEMPLATE, aside, attempt_lines, of_rivals
from dra_plan.text import formats, refusals
from dra_plan.text.columns import WIDEST, Lines, Paragraph, Part, Screen, Table, indented, width_of
from dra_plan.text.folding import by_pool, device_cell
from dra_plan.text.formats import Format, Formats
from dra_plan.text.naming import target, unsettled_words
from dra_plan.text.words import NAMES, capital, counted, listed, scheduler_says, span

FEW = 10
"""If all pods were already bound, the maximum number of them that are shown."""


LEGEND = "ok: passed Filter; numbers: weighted scores."


def table(document: ScheduleDocument, screen: Screen | None) -> list[Part]:
    """Return a row for each scheduled pod, with its node and devices or the reason why it has none.

    Below the table are the traced attempts, the evicted and retried pods, and the number of omitted pods. Pods that
    were already bound or not selected are omitted.
    """
    pods = [pod for pod in document.pods if not aside(pod)]
    if not pods and len(document.pods) <= FEW:
        pods = document.pods
    parts: list[Part] = [*refusals.paragraphs(document.refusals)]
    parts += [*pods_table(document, pods, screen, every=False), *paragraphs(document)]
    parts += map(story, document.trace.attempts if document.trace else ())
    parts += _below(document, pods, [volume for volume in document.volumes if volume.pv or volume.provision])
    reasons = [aside(pod) for pod in document.pods] if pods is not document.pods else []
    told = {why: reasons.count(why) for why in dict.fromkeys(filter(None, reasons))}
    if told:
        omitted = [f"{counted(number, 'pod')} {why}" for why, number in told.items()]
        parts.append(
            f"Not shown: {', '.join(omitted)} (use -o wide to show {'it' if sum(told.values()) == 1 else 'them'})."
        )
    return [*parts, target(document)]


def wide(document: ScheduleDocument, screen: Screen | None) -> list[Part]:
    """Return a row for each pod, and the plugins' results in each pod's last attempt.

    The plugins' results are shown as a matrix of nodes and plugins.
    """
    last = {attempt.pod: attempt for attempt in (document.trace.attempts if document.trace else ())}
    parts: list[Part] = [*refusals.paragraphs(document.refusals)]
    parts += [*pods_table(document, document.pods, screen, every=True), *paragraphs(document)]
    parts += _attempts(last.values())
    parts += _below(document, document.pods, document.volumes)
    return [*parts, target(document)]


def _attempts(attempts: Iterable[TracedAttempt]) -> list[Part]:
    parts = [part for attempt in attempts for part in _attempt(attempt)]
    return [*parts, LEGEND] if any(isinstance(part, Table) for part in parts) else parts


def _attempt(attempt: TracedAttempt) -> Iterator[Part]:
    yield headline(attempt)
    refused = [entry for entry in attempt.pre_filter if entry.status not in ("Success", "Skip")]
    if refused:
        made = Table(("PLUGIN", "PREFILTER"), flexible=(1,))
        for entry in refused:
            made.add(entry.plugin, _cell(entry))
        yield made
    if attempt.filter:
        yield _matrix(attempt)


def _matrix(attempt: TracedAttempt) -> Table:
    """Return the status of each plugin on each node; points where the plugin scored it."""
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
    """Return the parts about pod groups, volumes, node resources of devices, evictions and wake-ups of pods."""
    tables = (
        group_table(document.pod_groups),
        _volumes(volumes),
        _taken(pods),
        _evictions(document),
        _wakes(document),
    )
    shown_parts: list[Part] = [*_without_template(document), *(part for part in tables if part.rows)]
    if document.rejected_later:
        shown_parts += _rejected_later(document.rejected_later)
    if document.outlook:
        shown_parts.append(
            f"This is one pass of the scheduler. Then {'; '.join(document.outlook)} (--settle shows it)."
        )
    if not document.settled:
        return shown_parts
    return [*shown_parts, *parts(document.settled)]


def _rejected_later(pods: Sequence[PodRejectedLater]) -> Iterator[Part]:
    """Yield the pods that are not created after all, with the reasons, and how to see what then happens."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        found.setdefault(pod.message, []).append(f"{pod.namespace}/{pod.name}")
    made = Table(("REJECTED POD", "MESSAGE"), flexible=(0, 1))
    for message, names in found.items():
        made.add(listed(names), message)
    yield (
        f"The scheduler does not know quotas and limits, which reject {counted(len(pods), 'pod')} "
        "(--settle shows what happens then):"
    )
    yield made


def _without_template(document: ScheduleDocument) -> Iterator[str]:
    """Yield why claims cannot be created, which the scheduler's message does not say."""
    for warning in document.warnings:
        if warning.code == MISSING_TEMPLATE:
            yield f"{warning.object}: {warning.message}."


def _volumes(volumes: list[ScheduledVolume]) -> Table:
    """Return the volumes of claims: an existing volume, or one provisioned for a node."""
    made = Table(("VOLUME CLAIM", "VOLUME", "MADE FOR NODE"))
    for volume in volumes:
        made.add(volume.pvc, volume.pv or ("new" if volume.provision else ""), volume.provision)
    return made


def _taken(pods: Iterable[ScheduledPod]) -> Table:
    """Return the resources that devices consume on the nodes of pods."""
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
    """Return a line of the form `pod/NAMESPACE/NAME node/NODE` for each bound pod."""
    bound = (pod for pod in document.pods if pod.node_name)
    return "".join(shown.line(f"pod/{pod.namespace}/{pod.name} node/{pod.node_name}") + "\n" for pod in bound)


FORMATS = Formats(table=table, wide=wide, name=names)


def group_table(groups: Iterable[ScheduledPodGroup]) -> Table:
    """Return a row for each pod group, with its outcome, the numbers of bound and required pods, and the reason."""
    made = Table(("POD GROUP", "OUTCOME", "BOUND", "NEEDS", "MESSAGE"), flexible=(0, 4))
    for group in groups:
        needs = str(group.min_count) if group.policy == "gang" else group.policy
        bound = f"{group.bound} of {group.pods}"
        made.add(f"{group.namespace}/{group.name}", group.outcome, bound, needs, message(group))
    return made


def message(group: ScheduledPodGroup) -> str:
    """Return the message of the group's PodGroupScheduled condition or, without one, what the group waits for."""
    said = next((each.message for each in group.conditions if each.type == "PodGroupScheduled"), "")
    return said or group.waiting


NARROW = 120
"""The screen width below which messages are printed below the table instead of in a column."""


def pods_table(
    document: ScheduleDocument, pods: Sequence[ScheduledPod], screen: Screen | None, *, every: bool
) -> list[Part]:
    """Return the table of pods, and totals. Similar pods without a node share a row unless `every` is set.

    On a narrow terminal, or if there are explanations, messages are printed below the table. A message that is part of
    an explanation is not repeated.
    """
    if not pods:
        return []
    explained = {f"{pod.namespace}/{pod.name}" for told in document.explanations or () for pod in told.pods}
    below = (
        bool(explained)
        or (screen is None and _is_wide(document, pods))
        or (screen is not None and screen.width < NARROW)
    )
    headers = ("POD", "OUTCOME", "NODE", "DEVICES", *([] if below else ["MESSAGE"]))
    made = Table(headers, flexible=(0, 3) if below else (0, 3, 4))
    devices = devices_by_pod(document)
    messages: list[Part] = []
    for alike in [[pod] for pod in pods] if every else _alike(pods):
        pod, said = alike[0], _message(alike[0])
        full = f"{pod.namespace}/{pod.name}"
        name = f"{full} and {len(alike) - 1} like it" if len(alike) > 1 else full
        where = pod.node_name or ""
        cells = (name, pod.outcome, where, device_cell(devices.get(full, ()), where))
        made.add(*cells, *([] if below else [said]))
        if said and below and full not in explained:
            quoted = scheduler_says(said) if pod.message and pod.outcome != "Refused" else said
            messages.append(f"{name}: {quoted}")
    return [made, totals(pods), *messages]


def _is_wide(document: ScheduleDocument, pods: Iterable[ScheduledPod]) -> bool:
    """Return whether the devices push a message out of sight in a file or a log: beyond the widest table."""
    devices = devices_by_pod(document)
    cells = ((f"{pod.namespace}/{pod.name}", pod.node_name or "") for pod in pods)
    row = ((name, node, by_pool(devices.get(name, ()), node)) for name, node in cells)
    return width_of([*(max(map(len, column)) for column in zip(*row, strict=True)), len("Unschedulable")]) > WIDEST


def totals(pods: Iterable[ScheduledPod]) -> str:
    """Return the number of pods with each outcome, for example `3 Bound, 37 Unschedulable.`."""
    counts = Counter(pod.outcome for pod in pods)
    return f"{', '.join(f'{counts[outcome]} {outcome}' for outcome in get_args(PodOutcome) if counts[outcome])}."


def _message(pod: ScheduledPod) -> str:
    told = pod.message or pod.waiting
    return f"{told} (nominated: {pod.nominated_node_name})".strip() if pod.nominated_node_name else told


def _alike(pods: Iterable[ScheduledPod]) -> list[list[ScheduledPod]]:
    """Return groups of pods without a node that have equal messages and names of copies of one object; others alone."""
    groups: dict[tuple[str, ...], list[ScheduledPod]] = {}
    for pod in pods:
        stem = pod.name.rpartition("-")[0] or pod.name
        own = pod.name if pod.node_name else ""
        groups.setdefault((pod.namespace, stem, own, pod.outcome, _message(pod)), []).append(pod)
    return list(groups.values())


def paragraphs(document: ScheduleDocument) -> Iterator[Paragraph]:
    """Yield a paragraph for each explained attempt. Similar pods share a paragraph."""
    rivals = of_rivals(document)
    for attempt in document.explanations or ():
        told = dict.fromkeys(rivals.get(f"{pod.namespace}/{pod.name}", "") for pod in attempt.pods)
        yield Paragraph(list(_reason_lines(attempt, [capital(each) for each in told if each])))


def _reason_lines(of: ExplainedAttempt, rivals: Iterable[str]) -> Lines:
    first, *others = of.pods
    alike = f" and {counted(len(others), 'pod')} like it" if others else ""
    again = f", attempt {of.attempt}" if of.attempt > 1 else ""
    yield f"{first.namespace}/{first.name}{alike}{again}:"
    yield f"  {scheduler_says(of.message)}"
    yield from indented(rivals)
    yield from indented(attempt_lines(of))


MOST_NAMED = 3
"""The maximum number of pod names in a cell. The other pods are counted."""


def parts(settled: SettledCluster) -> list[Part]:
    """Return tables of ended pods, rejected objects and failures of controllers, and a line about the final state."""
    tables = [_ended(settled), _refused(settled), _failures(settled), _later(settled)]
    return [*(table for table in tables if table.rows), _end(settled)]


def _ended(settled: SettledCluster) -> Table:
    made = Table(("TERMINATED POD", "NODE", "BY", "AFTER", "RECREATED AS"), flexible=(2, 4))
    for pod in settled.evicted:
        again = ", ".join(pod.recreated_as[:MOST_NAMED])
        more = len(pod.recreated_as) - MOST_NAMED
        cell = f"{again} and {more} more" if more > 0 else again
        made.add(f"{pod.namespace}/{pod.name}", pod.node_name or "", pod.by, span(pod.second, pod.time), cell)
    return made


def _refused(settled: SettledCluster) -> Table:
    made = Table(("NOT CREATED", "MESSAGE"), flexible=(1,))
    for each in settled.refused:
        kind, _, name = each.object.partition("/")
        made.add(f"{kind}/{each.namespace}/{name}" if each.namespace else each.object, each.message)
    return made


def _failures(settled: SettledCluster) -> Table:
    made = Table(("OBJECT", "EVENT", "MESSAGE"), flexible=(2,))
    for each in settled.events:
        if each.reason.startswith("Failed"):
            made.add(f"{each.kind}/{each.namespace}/{each.name}", each.reason, each.message)
    return made


def _later(settled: SettledCluster) -> Table:
    made = Table(("EVICTED LATER", "BY", "AFTER"))
    for each in settled.later:
        made.add(f"{each.namespace}/{each.name}", each.by, span(each.second, each.time))
    return made


def _end(settled: SettledCluster) -> str:
    waiting = sum(pod.node_name is None for pod in settled.pods)
    placed = len(settled.pods) - waiting
    have = "1 pod has a node" if placed == 1 else f"{placed} pods have a node"
    if settled.unsettled is not None:
        names = ", ".join(f"{pod.namespace}/{pod.name}" for pod in settled.unsettled.pods[:MOST_NAMED])
        return f"The cluster {unsettled_words(settled.unsettled.message)}{f' ({names})' if names else ''}."
    if not settled.rounds:
        return "Nothing more happens after this."
    rounds = counted(settled.rounds, "round")
    return f"Settled after {rounds} of controllers: {have}, {waiting} wait{'s' if waiting == 1 else ''}."


def story(attempt: TracedAttempt) -> Paragraph:
    """Return the result of the attempt, followed by the results of the plugins.

    Plugins are in the order of the scheduling cycle: those that run before nodes are examined, those that run for each
    node, and those that run after all nodes were rejected.
    """
    return Paragraph([headline(attempt), *(f"  {line}" for line in _lines(attempt))])


def headline(attempt: TracedAttempt) -> str:
    """Return a line with the pod, the number of the attempt, and the node or the message."""
    with_group = f" with podgroup/{attempt.pod_group}" if attempt.pod_group else ""
    inside = f" in {attempt.domain}" if attempt.domain else ""
    return f"{attempt.pod}{with_group}, attempt {attempt.attempt}{inside}: {attempt.node or attempt.message}"


def _lines(attempt: TracedAttempt) -> Iterator[str]:
    for entry in attempt.pre_filter:
        if entry.status not in ("Success", "Skip"):
            yield f"before any node: {_said(entry)}"
    alike: dict[str, list[str]] = {}
    for node in attempt.filter:
        alike.setdefault(_of_node(node, attempt), []).append(node.node)
    for said, nodes in alike.items():
        number = f" ({len(nodes)} nodes)" if len(nodes) > NAMES + 1 else ""
        yield f"{listed(nodes)}{number}: {said}"
    if len(attempt.best) > 1:
        yield f"most points: {listed(attempt.best)}"
    for entry in attempt.post_filter:
        yield f"after every node was rejected: {_said(entry)}"


def _of_node(node: NodeVerdicts, attempt: TracedAttempt) -> str:
    refused = list(dict.fromkeys(_said(entry) for entry in node.verdicts if entry.status != "Success"))
    if refused:
        return "; ".join(refused)
    points = {plugin: by_node[node.node] for plugin, by_node in attempt.score.items() if node.node in by_node}
    if not points:
        return "passes"
    parts = ", ".join(f"{plugin} {number}" for plugin, number in points.items() if number) or "none"
    return f"passes, {sum(points.values())} points: {parts}"


def _said(entry: PluginVerdict) -> str:
    return f"{entry.plugin}: {entry.message or entry.status}"


def parse(option: str) -> Format[ScheduleDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return formats.parse(option, FORMATS)
