"""`allocate --trace`: the steps of one search as lines of text.

docs/internals/search.md explains how the search works.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from dra_plan.allocator import DeviceID, Outcome, PoolDevice, Probe
from dra_plan.allocator.reasons import DeviceReason, InUse, NothingMatches, RequestReason, SelectorRefused
from dra_plan.allocator.requests import Want
from dra_plan.documents.devices import DeviceCheck
from dra_plan.explanation.reasons import code, refusal_fields
from dra_plan.questions.allocate.document import AllocationDocument
from dra_plan.text import words
from dra_plan.text.columns import Screen, render
from dra_plan.text.devices import removed
from dra_plan.text.formats import Format
from dra_plan.text.naming import claim_set_name

MOST_EVENTS = 1_000
"""The maximum number of recorded events. Later events are only counted."""


_DEEPEST = 10
"""The maximum indentation, in devices taken."""


class _Event(NamedTuple):
    """An event for some devices at a slot, while `depth` devices were taken."""

    depth: int
    want: Want | None
    slot: int
    before: str
    devices: list[DeviceID]
    after: str


class SearchTrace(Probe):
    """A recorder of the events of one search."""

    def __init__(self, most: int = MOST_EVENTS) -> None:
        self._most, self._left_out = most, 0
        self._events: list[_Event] = []
        self._depth = 0
        self._restarted = False

    def lines(self) -> Iterator[str]:
        """Yield a line for each event, indented by the number of devices taken. Equal rejections share a line."""
        if self._restarted:
            yield "started again with pruning, because the plain search takes long"
        named = _TraceNames(self._events)
        for event in self._events:
            indent = "  " * min(event.depth, _DEEPEST)
            devices = words.listed([named.device(device) for device in event.devices]) if event.devices else ""
            what = f"{event.before}{devices}{event.after}"
            yield f"{indent}{named.slot(event.want, event.slot)}: {what}" if event.want else f"{indent}{what}"
        if self._left_out:
            yield f"{words.counted(self._left_out, 'more event')} left out"

    def rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        """Record a device that cannot be used at present."""
        after = f": {_why_not(reason)}"
        last = self._events[-1] if self._events and not self._left_out else None
        if last is not None and last.before == "not " and (last.want, last.slot, last.after) == (want, slot, after):
            last.devices.append(device.id)
        else:
            self._add(want, slot, "not ", device, after)

    def refused(self, want: Want, slot: int, reason: RequestReason) -> None:
        """Record that a request cannot be met, which is known before any device is tried."""
        if isinstance(reason, NothingMatches):
            self._add(want, slot, "no device of the node matches")
        else:
            self._add(want, slot, (f"{reason.need} devices for the claim, which can have at most {reason.limit}"))

    def taken(self, want: Want, slot: int, device: PoolDevice) -> None:
        """Record that a device was taken. Later events are indented."""
        self._add(want, slot, "take ", device)
        self._depth += 1

    def retreated(self, want: Want, slot: int, device: PoolDevice) -> None:
        """Record that a device was released, because the search found no solution with it."""
        self._depth -= 1
        self._add(want, slot, "give ", device, " back")

    def pruned(self, want: Want, slot: int) -> None:
        """Record that there is no solution from this slot on."""
        self._add(want, slot, "pruned: there is no solution from here on")

    def restarted(self) -> None:
        """Discard all recorded events."""
        self._events.clear()
        self._depth = self._left_out = 0
        self._restarted = True

    def solved(self) -> None:
        """Record that all claims got their devices."""
        self._add(None, 0, "solved")

    def _add(
        self, want: Want | None, slot: int, before: str, device: PoolDevice | None = None, after: str = ""
    ) -> None:
        if len(self._events) == self._most:
            self._left_out += 1
        else:
            self._events.append(_Event(self._depth, want, slot, before, [device.id] if device else [], after))


def ending(outcome: Outcome, steps: int) -> str:
    """Return the last line of a trace."""
    return f"{outcome.value}, {words.counted(steps, 'step')}"


def with_trace(trace: SearchTrace, form: Format[AllocationDocument]) -> Format[AllocationDocument]:
    """Return a format that prints the trace, followed by the document in the given format."""
    return Format(lambda document, screen: chain([_text(trace, document, screen)], form.parts(document, screen)))


def _text(trace: SearchTrace, document: AllocationDocument, screen: Screen | None) -> str:
    """Return the trace and the document; an empty string if there was nothing to plan."""
    if not document.claim_sets:
        return ""
    [claim_set] = document.claim_sets
    [node] = claim_set.nodes
    heading = f"{claim_set_name(claim_set)} on node {node.name}, step by step"
    return render([[heading, *trace.lines(), ending(node.outcome, node.steps)], []], screen)


class _TraceNames:
    """Names that are just long enough to distinguish the claims and devices of the events."""

    def __init__(self, events: Sequence[_Event]) -> None:
        devices = {device for event in events for device in event.devices}
        self._with_pool = len({device.pool_id for device in devices}) > 1
        self._with_driver = len({device.driver for device in devices}) > 1
        self._with_namespace = len({event.want.claim.metadata.namespace for event in events if event.want}) > 1

    def device(self, device: DeviceID) -> str:
        """Return DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE."""
        if self._with_driver:
            return f"{device.driver}/{device.pool}/{device.device}"
        return f"{device.pool}/{device.device}" if self._with_pool else device.device

    def slot(self, want: Want, slot: int) -> str:
        """Return CLAIM/REQUEST[SLOT]. If the claims are in several namespaces, the namespace comes first."""
        claim = want.claim.key if self._with_namespace else want.claim.metadata.name
        return f"{claim}/{want.full_name}[{slot}]"


def _why_not(reason: DeviceReason) -> str:
    if isinstance(reason, InUse):
        return f"in use by claim {reason.claim}" if reason.claim is not None else "already taken"
    if isinstance(reason, SelectorRefused):
        return f"{words.selector(reason.position, reason.class_name)} is false"
    return removed(DeviceCheck(step=code(reason).step, passed=False, **refusal_fields(reason)))
