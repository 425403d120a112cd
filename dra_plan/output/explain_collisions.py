"""The wording of what can't be met together: the elements, what each side has, what is needed beside what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dra_plan.documents.reasons import (
    BlockingClaim,
    BlockingConstraint,
    BlockingCounter,
    BlockingElement,
    BlockingRequest,
    NotTogether,
    SeenCounterSet,
    Shortage,
)

from . import explain_words as words
from . import slots
from .explain_layout import Lines, indented


def lines(of: NotTogether) -> Lines:
    """The elements, each with what is to be said of it; then the amounts that are short."""
    for said, below in _told(of.elements):
        yield f"- {said}"
        yield from indented(below, 4)
    yield from (f"{shortage(short)}." for short in of.shortages)


def _told(of: Sequence[BlockingElement]) -> Iterator[tuple[str, list[str]]]:
    """Each element and the lines below it.

    Requests with the same devices to choose from stand together if they are many; so do counters of one set.
    """
    alike: dict[str, list[BlockingElement]] = {}
    for one in of:
        alike.setdefault(_kind(one), []).append(one)
    for group in alike.values():
        several = [one for one in group if isinstance(one, BlockingRequest)]
        counters = [one for one in group if isinstance(one, BlockingCounter)]
        if len(several) > words.NAMES:
            yield f"{words.requests(several)}{_passing(several[0], 'each needs')}", []
        elif len(counters) > words.NAMES:
            names = words.listed([one.counter for one in counters])
            yield f"counters {names} of counter set {counters[0].counter_set}, pool {counters[0].pool}", []
        else:
            yield from ((element(one), _values(one)) for one in group)


def _kind(of: BlockingElement) -> str:
    if isinstance(of, BlockingCounter):
        return f"{of.pool} {of.counter_set}"
    return str(replace(of, request="") if isinstance(of, BlockingRequest) else of)


def _values(of: BlockingElement) -> list[str]:
    """The values that meet at a constraint, request by request."""
    if not isinstance(of, BlockingConstraint):
        return []
    attribute = (of.match_attribute or of.distinct_attribute or "").rpartition("/")[2]
    said = []
    for met in of.values:
        there = [f"{words.value(one.value)} on {one.count}" for one in met.values]
        there += [f"{met.other_values} other values"] if met.other_values else []
        there += [f"missing on {met.missing}"] if met.missing else []
        said.append(f"{attribute} for {met.request}: {', '.join(there)}")
    return said


def shortage(of: Shortage) -> str:
    """What is needed beside what is left: `Counter card/memory: 60Gi needed (a 20Gi + b 40Gi), 40Gi left`."""
    where = f" on {words.listed([str(device) for device in of.devices])}" if of.devices else ""
    which = f"Counter {of.counter_set}/{of.name}" if of.pool is not None else f"Capacity {of.name}"
    said = f"{which}: {_needed(of)}, " if of.needs else f"{which} is overdrawn: "
    return f"{said}{of.left} left{where}"


def _needed(of: Shortage) -> str:
    several = len({need.claim.name for need in of.needs}) > 1
    names = [f"{need.claim.name}/{need.request}" if several else need.request for need in of.needs]
    parts = " + ".join(f"{name} {need.need}" for name, need in zip(names, of.needs, strict=True))
    return f"{of.sum} needed ({parts})" if len(of.needs) > 1 else f"{of.sum} needed by {names[0]}"


def slot_lines(of: Sequence[SeenCounterSet]) -> Iterator[str]:
    """The counters that are places on a device, as lines of free and used ones."""
    for seen in of:
        for line in slots.lines(seen.total, seen.left):
            yield f"Counter set {seen.counter_set} of pool {seen.pool}, {line}"


def element(of: BlockingElement) -> str:
    """An element of a blocking set."""
    if isinstance(of, BlockingRequest):
        return f"{words.request(of)}{_passing(of)}"
    if isinstance(of, BlockingClaim):
        return f"claim {words.holder(of.claim)}, which has devices here"
    if isinstance(of, BlockingCounter):
        left = f" ({of.left} left of {of.total})" if of.left else ""
        return f"counter {of.counter_set}/{of.counter} of pool {of.pool}{left}"
    among = f" among {words.listed(of.requests, 8)}" if of.requests else ""
    rule = f"different {of.distinct_attribute}" if of.match_attribute is None else f"the same {of.match_attribute}"
    return f"constraint #{of.constraint} of claim {of.claim.name}: {rule}{among}"


def _passing(of: BlockingRequest, needs: str = "needs") -> str:
    if of.left_devices is None:
        return ""
    names = [str(one) for one in of.left_devices]
    which = f"only {words.listed(names)}" if of.left == len(names) else f"{of.left} devices"
    verb = "passes" if of.left == 1 else "pass"
    return f" ({needs} {of.need}; {which} {verb} every check)"
