"""What other components report about pods: warnings in Events, and Kueue's reasons for not admitting a workload.

Planning does not use these reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra_plan.api.inventory import HeardEvent, ObjectKey

EVENTS = ("Event", "Event.events.k8s.io")
"""Event as KIND.GROUP, in both of its API groups."""

_OF_SCHEDULER = "FailedScheduling"
"""The reason of the scheduler's events, which the status of a pod repeats."""


def heard(value: Mapping[str, Any]) -> HeardEvent | None:
    """Return the warning about a pod in an Event.

    Return None if the Event is about another object, is not a warning, or cannot be read.
    """
    about = _part(value, "involvedObject") or _part(value, "regarding")
    reason, message = _text(value, "reason"), _text(value, "message") or _text(value, "note")
    if about.get("kind") != "Pod" or value.get("type") != "Warning" or not message or reason in ("", _OF_SCHEDULER):
        return None
    series = _part(value, "series")
    times = (
        _text(value, "lastTimestamp"),
        _text(series, "lastObservedTime"),
        _text(value, "deprecatedLastTimestamp"),
        _text(value, "eventTime"),
        _text(value, "firstTimestamp"),
        _text(_part(value, "metadata"), "creationTimestamp"),
    )
    counts = (value.get("count"), series.get("count"), value.get("deprecatedCount"))
    said_by = _text(_part(value, "source"), "component") or _text(value, "reportingComponent")
    return HeardEvent(
        namespace=_text(about, "namespace") or _text(_part(value, "metadata"), "namespace"),
        pod=_text(about, "name"),
        uid=_text(about, "uid"),
        reason=reason,
        message=message,
        said_by=said_by or _text(value, "reportingController"),
        time=next(filter(None, times), ""),
        times=next((count for count in counts if isinstance(count, int) and count > 0), 1),
    )


KUEUE_WORKLOAD = "Workload.kueue.x-k8s.io"
"""The object in which Kueue tracks a pod, Job or other workload, as KIND.GROUP."""


def queued(value: Mapping[str, Any]) -> Iterator[tuple[ObjectKey, str]]:
    """Yield each owner of a Kueue Workload, with the reason why Kueue has not admitted it yet.

    Nothing is yielded if Kueue has admitted the Workload or gives no reason.
    """
    metadata, said = _part(value, "metadata"), ""
    for condition in _list(_part(value, "status"), "conditions"):
        if condition.get("type") == "QuotaReserved" and condition.get("status") == "False":
            said = _text(condition, "message")
    for owner in _list(metadata, "ownerReferences") if said else []:
        yield (_text(owner, "kind"), _text(metadata, "namespace"), _text(owner, "name")), said


def _list(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = value.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _part(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
