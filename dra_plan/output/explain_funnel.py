"""The funnel in lines: all devices of a node, those that each check takes away, those left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import explain_words as words
from .explain_layout import Lines, indented

Data = dict[str, Any]


def request_lines(story: Data) -> Lines:
    """The requests that can't be met alone, those with the same funnel once."""
    for of, others in alike(failing(story)):
        yield f"{words.capital(words.problem(of))}."
        if others:
            yield f"  The same holds for {words.requests(others)}."
        yield from indented(funnel_lines(of))


def failing(story: Data) -> list[Data]:
    """The requests that can't be met alone; alternatives only where all of a request fail."""
    stuck: dict[tuple[str, str], bool] = {}
    for of in story["requests"]:
        key = (of["claim"]["name"], of["request"].partition("/")[0])
        stuck[key] = stuck.get(key, True) and of["problem"] is not None
    return [of for of in story["requests"] if stuck[of["claim"]["name"], of["request"].partition("/")[0]]]


def alike(requests: list[Data]) -> list[tuple[Data, list[Data]]]:
    """Requests with the same funnel together: the first, and the others."""
    groups: dict[str, tuple[Data, list[Data]]] = {}
    for of in requests:
        same = str({name: part for name, part in of.items() if name not in ("claim", "request", "alternative")})
        if same in groups:
            groups[same][1].append(of)
        else:
            groups[same] = (of, [])
    return list(groups.values())


def funnel_lines(of: Data) -> Lines:
    """All devices, those that each check takes away, and those left."""
    width = len(str(of["devices"])) + 1
    devices = f"{'device' if of['devices'] == 1 else 'devices'} on the node"
    yield f"{of['devices']:>{width}}  {devices}{spread(of, 'devices')}"
    for removed in of["removed"]:
        yield f"{'-' + str(removed['count']):>{width}}  {words.removed(removed)}{spread(removed, 'count')}"
        yield from indented(finding_lines(removed), width + 4)
    names = [words.device(device) for device in of["leftDevices"]]
    more = [f"{of['left'] - len(names)} more"] if of["left"] > len(names) else []
    which = f": {words.listed([*names, *more], len(names) + 1)}" if names else ""
    yield f"{of['left']:>{width}}  left{which}{spread(of, 'left')}"


def spread(of: Data, name: str) -> str:
    """How far a number reaches over the nodes that are told of together."""
    least, most = of.get(f"{name}From", 0), of.get(f"{name}To", 0)
    return f" ({least} to {most} on these nodes)" if least != most else ""


def finding_lines(removed: Data) -> Iterator[str]:
    """What decides in a selector, and what the devices have instead."""
    total = sum(finding["count"] for finding in removed["selectors"])
    everywhere = " (on all these nodes)" if total > removed["count"] else ""
    for finding in removed["selectors"]:
        if finding["clause"] != removed["expression"].strip():
            yield f"false on {finding['count']}{everywhere}: {words.one_line(finding['clause'])}"
        if finding.get("error"):
            yield f"fails on {finding['count']}{everywhere}: {finding['error']}"
        for item in finding["found"]:
            yield from (f"{line}{everywhere if item['values'] else ''}" for line in words.found(item))
        for part in finding.get("computed", ()):
            values = [f"{one['value']} on {one['count']}" for one in part["values"]]
            yield f"{words.one_line(part['part'])} is {', '.join(values)}"
