"""The table of pods of `schedule`: where each goes and with which devices, or why it stays; the numbers below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import get_args

from dra_plan.documents.schedule import PodOutcome, ScheduleDocument, ScheduledPod

from . import text
from .columns import Part, Screen, Table

NARROW = 120
"""On a screen with fewer columns messages stand below the table, where they have its whole width."""


def pods_table(
    document: ScheduleDocument, pods: Sequence[ScheduledPod], screen: Screen | None, *, every: bool
) -> list[Part]:
    """The table and its totals; unless `every` pod is told, those that got no node and are alike are told once.

    On a narrow screen messages stand below the table, one by one; so they do where attempts are explained, but for the
    messages that stand with an explanation.
    """
    if not pods:
        return []
    explained = {f"{pod.namespace}/{pod.name}" for told in document.explanations or () for pod in told.pods}
    below = bool(explained) or (screen is not None and screen.width < NARROW)
    headers = ("POD", "OUTCOME", "NODE", "DEVICES", *([] if below else ["MESSAGE"]))
    made = Table(headers, flexible=(0, 3) if below else (0, 3, 4))
    devices = _devices_by_pod(document)
    messages: list[Part] = []
    for alike in [[pod] for pod in pods] if every else _alike(pods):
        pod, said = alike[0], _message(alike[0])
        full = f"{pod.namespace}/{pod.name}"
        name = f"{full} and {len(alike) - 1} like it" if len(alike) > 1 else full
        cells = (name, pod.outcome, pod.node_name or "", ", ".join(devices.get(full, ())))
        made.add(*cells, *([] if below else [said]))
        if said and below and full not in explained:
            messages.append(f"{name}: {said}")
    return [made, totals(pods), *messages]


def totals(pods: Iterable[ScheduledPod]) -> str:
    """How many pods came to what: `3 Bound, 37 Unschedulable.`."""
    counts = Counter(pod.outcome for pod in pods)
    return f"{', '.join(f'{counts[outcome]} {outcome}' for outcome in get_args(PodOutcome) if counts[outcome])}."


def _message(pod: ScheduledPod) -> str:
    told = pod.message or pod.waiting
    return f"{told} (nominated: {pod.nominated_node_name})".strip() if pod.nominated_node_name else told


def _alike(pods: Iterable[ScheduledPod]) -> list[list[ScheduledPod]]:
    """Pods without a node that the same was said of and that are named as copies of one thing; others alone."""
    groups: dict[tuple[str, ...], list[ScheduledPod]] = {}
    for pod in pods:
        stem = pod.name.rpartition("-")[0] or pod.name
        own = pod.name if pod.node_name else ""
        groups.setdefault((pod.namespace, stem, own, pod.outcome, _message(pod)), []).append(pod)
    return list(groups.values())


def _devices_by_pod(document: ScheduleDocument) -> dict[str, list[str]]:
    """The devices of the claims that are reserved for each pod."""
    found: dict[str, list[str]] = {}
    for claim in document.claims:
        if claim.allocation is None:
            continue
        names = [text.device_name(result) for result in claim.allocation.devices.results]
        for user in claim.reserved_for:
            found.setdefault(f"{claim.namespace}/{user.name}", []).extend(names)
    return found
