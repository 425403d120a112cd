"""`schedule -o table` and `-o wide`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import text
from .columns import Screen, Table
from .formats import Formats


def table(document: dict[str, Any], _screen: Screen | None) -> list[Table | str]:
    """One row per pod: where it goes and with which devices, or why it stays; below, who is evicted and woken."""
    parts: list[Table | str] = []
    if document["pods"]:
        parts.append(_pods(document))
    if "trace" in document:
        parts += [part for attempt in document["trace"]["attempts"] for part in _attempt(attempt)]
    parts += [part for part in (_evictions(document), _wakes(document)) if part.rows]
    return [*parts, text.target(document)]


def wide(document: dict[str, Any], _screen: Screen | None) -> list[Table | str]:
    """The pods, and for the last attempt of each a matrix: one row per node, one column per plugin."""
    last = {attempt["pod"]: attempt for attempt in document.get("trace", {}).get("attempts", ())}
    parts: list[Table | str] = [_pods(document)] if document["pods"] else []
    parts += [part for attempt in last.values() for part in _attempt(attempt)]
    parts += [part for part in (_evictions(document), _wakes(document)) if part.rows]
    return [*parts, text.target(document)]


def _pods(document: dict[str, Any]) -> Table:
    made = Table(("POD", "OUTCOME", "NODE", "DEVICES", "MESSAGE"), flexible=(0, 3, 4))
    devices = _devices_by_pod(document)
    for pod in document["pods"]:
        name = f"{pod['namespace']}/{pod['name']}"
        told = pod["message"] or pod.get("waiting", "")
        if pod.get("nominatedNodeName"):
            told = f"{told} (nominated: {pod['nominatedNodeName']})".strip()
        made.add(name, pod["outcome"], pod["nodeName"] or "", ", ".join(devices.get(name, ())), told)
    return made


def _devices_by_pod(document: dict[str, Any]) -> dict[str, list[str]]:
    """The devices of the claims that are reserved for each pod."""
    found: dict[str, list[str]] = {}
    for claim in document["claims"]:
        if not claim["allocation"]:
            continue
        names = [text.device_name(result) for result in claim["allocation"]["devices"].get("results", ())]
        for user in claim["reservedFor"]:
            found.setdefault(f"{claim['namespace']}/{user['name']}", []).extend(names)
    return found


def _attempt(attempt: dict[str, Any]) -> Iterator[Table | str]:
    went = attempt.get("node") or attempt.get("message", "")
    yield f"{attempt['pod']}, attempt {attempt['attempt']}: {went}"
    refused = [entry for entry in attempt.get("preFilter", ()) if entry["status"] not in ("Success", "Skip")]
    if refused:
        made = Table(("PLUGIN", "PREFILTER"), flexible=(1,))
        for entry in refused:
            made.add(entry["plugin"], _cell(entry))
        yield made
    if attempt.get("filter"):
        yield _matrix(attempt)


def _matrix(attempt: dict[str, Any]) -> Table:
    """What each plugin said of each node; points where the plugin scored it."""
    scores = attempt.get("score", {})
    filters = {entry["plugin"] for node in attempt["filter"] for entry in node["verdicts"]}
    ordered = [*dict.fromkeys(e["plugin"] for node in attempt["filter"] for e in node["verdicts"])]
    ordered += [plugin for plugin in scores if plugin not in filters]
    headers = ("NODE", *(plugin.upper() for plugin in ordered), *(["TOTAL"] if scores else []))
    made = Table(headers, flexible=range(1, len(ordered) + 1))
    for node in attempt["filter"]:
        name = node["node"]
        said = {entry["plugin"]: _cell(entry) for entry in node["verdicts"]}
        points = {plugin: by_node[name] for plugin, by_node in scores.items() if name in by_node}
        cells = [" ".join(filter(None, (said.get(p, ""), str(points.get(p, ""))))) for p in ordered]
        total = [str(sum(points.values())) if points else ""] if scores else []
        made.add(name, *cells, *total)
    return made


def _cell(entry: dict[str, Any]) -> str:
    return "ok" if entry["status"] == "Success" else entry.get("message") or entry["status"]


def _evictions(document: dict[str, Any]) -> Table:
    made = Table(("EVICTED POD", "NODE", "FOR POD"))
    for eviction in document["evictions"]:
        made.add(eviction["pod"], eviction["node"], eviction["preemptor"])
    return made


def _wakes(document: dict[str, Any]) -> Table:
    made = Table(("WOKEN POD", "BY EVENT", "OBJECT", "PLUGIN", "QUEUE"))
    for wake in document.get("trace", {}).get("wakes", ()):
        made.add(wake["pod"], wake["event"], wake["object"], wake["plugin"], wake["queue"])
    return made


def names(document: dict[str, Any]) -> str:
    """`pod/NAMESPACE/NAME node/NODE` for every bound pod."""
    bound = (pod for pod in document["pods"] if pod["nodeName"])
    return "".join(f"pod/{pod['namespace']}/{pod['name']} node/{pod['nodeName']}\n" for pod in bound)


FORMATS = Formats(table=table, wide=wide, name=names)
