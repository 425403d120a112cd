"""The funnel in lines: all devices of a node, those that each check takes away, those left."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dra_plan.documents.base import ClaimName
from dra_plan.documents.devices import RemovedDevices
from dra_plan.documents.explanation import NodeStory, PassedAlternative, RequestDevices, StoryRequest

from . import explain_removed
from . import explain_words as words
from .explain_layout import Lines, indented


def request_lines(story: NodeStory) -> Lines:
    """The requests that can't be met alone, those with the same funnel once."""
    for of, others in alike(failing(story)):
        yield f"{words.capital(words.problem(of))}."
        if others:
            yield f"  The same holds for {words.requests(others)}."
        yield from indented(funnel_lines(of))


def failing(story: NodeStory) -> list[StoryRequest]:
    """The requests that can't be met alone; alternatives only where all of a request fail."""
    stuck: dict[tuple[str, str], bool] = {}
    for of in story.requests:
        key = (of.claim.name, of.request.partition("/")[0])
        stuck[key] = stuck.get(key, True) and of.problem is not None
    return [of for of in story.requests if stuck[of.claim.name, of.request.partition("/")[0]]]


_NO_CLAIM = ClaimName(namespace="", name="")


def alike(requests: list[StoryRequest]) -> list[tuple[StoryRequest, list[StoryRequest]]]:
    """Requests with the same funnel together: the first, and the others."""
    groups: dict[str, tuple[StoryRequest, list[StoryRequest]]] = {}
    for of in requests:
        same = str(replace(of, claim=_NO_CLAIM, request="", alternative=False))
        if same in groups:
            groups[same][1].append(of)
        else:
            groups[same] = (of, [])
    return list(groups.values())


def funnel_lines(of: StoryRequest | PassedAlternative) -> Lines:
    """All devices, those that each check takes away, and those left."""
    width = len(str(of.devices)) + 1
    devices = f"{'device' if of.devices == 1 else 'devices'} on the node"
    yield f"{of.devices:>{width}}  {devices}{devices_spread(of)}"
    for removed in of.removed:
        yield f"{'-' + str(removed.count):>{width}}  {explain_removed.removed(removed)}{removed_spread(removed)}"
        yield from indented(finding_lines(removed), width + 4)
    names = [str(device) for device in of.left_devices]
    more = [f"{of.left - len(names)} more"] if of.left > len(names) else []
    which = f": {words.listed([*names, *more], len(names) + 1)}" if names else ""
    yield f"{of.left:>{width}}  left{which}{left_spread(of)}"


def devices_spread(of: RequestDevices) -> str:
    """How far the number of devices reaches over the nodes that are told of together."""
    return _spread(of.devices_from, of.devices_to) if isinstance(of, StoryRequest) else ""


def left_spread(of: RequestDevices) -> str:
    """How far the number of those left reaches."""
    return _spread(of.left_from, of.left_to) if isinstance(of, StoryRequest) else ""


def removed_spread(removed: RemovedDevices) -> str:
    """How far the number of those that a check takes away reaches."""
    return _spread(removed.count_from, removed.count_to)


def _spread(least: int | None, most: int | None) -> str:
    return f" ({least} to {most} on these nodes)" if least != most else ""


def finding_lines(removed: RemovedDevices) -> Iterator[str]:
    """What decides in a selector, and what the devices have instead."""
    total = sum(finding.count for finding in removed.selectors or ())
    everywhere = " (on all these nodes)" if total > removed.count else ""
    for finding in removed.selectors or ():
        if finding.clause != removed.expression.strip():
            yield f"false on {finding.count}{everywhere}: {words.one_line(finding.clause)}"
        if finding.error:
            yield f"fails on {finding.count}{everywhere}: {finding.error}"
        for item in finding.found:
            yield from (f"{line}{everywhere if item.values else ''}" for line in explain_removed.found(item))
        for part in finding.computed:
            values = [f"{one.value} on {one.count}" for one in part.values]
            yield f"{words.one_line(part.part)} is {', '.join(values)}"
