"""The wording of what is possible, and of what is in the way of one more copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dra_plan.documents.capacity import (
    CopyObstacle,
    DevicesInUse,
    NextCopy,
    NodeCopies,
    OwnerReplicas,
    PossibleCopies,
    ScheduledCopies,
)

from . import explain_changes, leading_words
from .explain_words import counted, listed

MOST_OBSTACLES = 4
"""Obstacles that are told; the rest is counted."""

MOST_SUGGESTIONS = 3
"""Suggestions that are told, the most plausible ones; documents have all of them."""

MOST_PROFILES = 8
"""Kinds of parts of one model that are told."""

_LEFT_ALONE = "; what its own pods have was left to them"


def possible(of: PossibleCopies | None) -> str:
    """`7` if that is exact, else both bounds; nothing if it was not sought."""
    if of is None:
        return ""
    if of.at_most is None:
        return f"at least {of.copies}"
    return str(of.copies) if of.at_most == of.copies else f"{of.copies} to {of.at_most}"


OPEN_ENDS = ("Limit", "Undecided")
"""Ends of a count after which there may be room for more copies."""


def replicas(of: OwnerReplicas | None, scheduled: ScheduledCopies) -> Iterator[str]:
    """How many replicas have a node already, and that those without one are among the copies."""
    copies = scheduled.copies
    if of is None or not of.wanted:
        return
    there = of.wanted - of.missing
    number = f"{there:,} of its" if there else "None of its"
    had = f"  {number} {of.wanted:,} replicas {'have' if there > 1 else 'has'} a node"
    if of.wanted == 1:
        had = f"  Its 1 replica has {'a' if there else 'no'} node"
    missing = "the missing one" if of.missing == 1 else f"the {of.missing:,} missing ones"
    if not of.missing:
        yield f"{had}: copies would come beside."
    elif of.missing <= copies:
        yield f"{had}: {missing} {'is' if of.missing == 1 else 'are'} part of the {copies:,} more."
    elif scheduled.ended in OPEN_ENDS:
        some = (
            f"of {missing} at least {copies:,} would get one, more is"
            if copies
            else f"whether {missing} would get one is"
        )
        yield f"{had}: {some} not known."
    else:
        yield f"{had}: of {missing} {copies:,} would get one." if copies else f"{had}: {missing} would get none."


def better(scheduled: ScheduledCopies, of: PossibleCopies | None) -> Iterator[str]:
    """What first fit wastes, and what the bound leaves out."""
    if of is not None and of.copies > scheduled.copies:
        yield f"  {of.copies} are possible: {', '.join(spread(of.nodes))}"
    if of is not None and of.brief and of.at_most not in (None, of.copies):
        yield f"  whether more than {of.copies} are possible stayed open: --possible seeks longer"
    if of is not None and of.besides:
        yield f"  the bound does not count with {listed(of.besides)}"


def spread(nodes: Sequence[NodeCopies]) -> list[str]:
    """How copies fill nodes: so many on each of so many nodes."""
    numbers = Counter(node.copies for node in nodes)
    return [
        f"{copies} {'on 1 node' if many == 1 else f'each on {many} nodes'}"
        for copies, many in sorted(numbers.items(), reverse=True)
    ]


def runs_out(of: NextCopy) -> str:
    """What the nodes with copies lack most; all of what they lack equally often."""
    first = [one for one in of.obstacles if one.nodes_with_copies == of.obstacles[0].nodes_with_copies]
    if not of.obstacles or not first[0].nodes_with_copies:
        first = of.obstacles[:1]
    return ", ".join(_thing(one, of) for one in first)


def _thing(of: CopyObstacle, told: NextCopy) -> str:
    """What is lacking, in a few words."""
    if of.kind == "Resource":
        return of.resource
    if of.kind != "Devices":
        return of.message
    leading = told.ran_out or told.leading
    if leading and leading[0].code == "in-use" and told.in_use:
        used = [one for one in told.in_use if one.on_nodes_with_copies or not told.ran_out]
        drivers = {one.driver: [each for each in used if each.driver == one.driver] for one in used}
        return ", ".join(map(_models, drivers.values()))
    return f"devices: {leading_words.phrase(leading[0])}" if leading else "devices"


def _models(of: list[DevicesInUse]) -> str:
    """A driver, with its models."""
    models = list(dict.fromkeys(one.model for one in of if one.model))
    return f"{of[0].driver} {listed(models)}" if models else of[0].driver


def _used(of: Sequence[DevicesInUse]) -> Iterator[str]:
    """`8 gpu.example.com A100`; of one driver and model the parts together, `2 1g.5gb and 1 3g.20gb of ...`."""
    together: dict[tuple[str, bool], list[DevicesInUse]] = {}
    for one in of:
        together.setdefault((f"{one.driver} {one.model}".strip(), bool(one.profile)), []).append(one)
    for (name, are_parts), devices in together.items():
        if are_parts:
            yield f"{listed([f'{one.devices} {one.profile}' for one in devices], MOST_PROFILES)} of {name}"
        else:
            yield f"{sum(one.devices for one in devices)} {name}"


def lines(of: NextCopy) -> Iterator[str]:
    """What is in the way of one more, and what would help, each on a line."""
    for one in of.obstacles[:MOST_OBSTACLES]:
        yield f"  In the way of one more: {_obstacle(one)}"
        if one.kind == "Devices":
            yield from (f"    {line}" for line in _devices(of))
    if len(of.obstacles) > MOST_OBSTACLES:
        yield f"  and {counted(len(of.obstacles) - MOST_OBSTACLES, 'more reason')}"
    for tried in of.suggestions[:MOST_SUGGESTIONS]:
        yield f"  One more fits: {explain_changes.suggestion(tried)}."
    if of.sought and not of.suggestions:
        yield f"  No change was found with which one more fits{_LEFT_ALONE if of.own_claims else ''}."


def _obstacle(of: CopyObstacle) -> str:
    """`cpu on 3 nodes with copies and 2 others: 4 needed, at most 2 left`."""
    if of.kind == "Resource":
        return f"{of.resource} {_where(of)}: {of.need} needed, {of.left} left{' at most' if _nodes(of) > 1 else ''}"
    return f"{'devices' if of.kind == 'Devices' else of.message} {_where(of)}"


def _nodes(of: CopyObstacle) -> int:
    return of.nodes_with_copies + of.other_nodes


def _where(of: CopyObstacle) -> str:
    with_, others = of.nodes_with_copies, of.other_nodes
    if not with_:
        return f"on {counted(others, 'node')} without copies"
    told = f"on {counted(with_, 'node')} with copies"
    return f"{told} and {others} without" if others else told


def _devices(of: NextCopy) -> Iterator[str]:
    """What was found out about the nodes that refuse devices."""
    if of.leading:
        refusing = sum(_nodes(one) for one in of.obstacles if one.kind == "Devices")
        some = of.looked_at < refusing
        where = f"{of.looked_at:,} of these {refusing:,} nodes looked at" if some else f"of {counted(refusing, 'node')}"
        told = [f"{leading_words.cell(one)} on {one.nodes}" for one in of.leading[: leading_words.MOST]]
        yield f"{where}: {', '.join(told)}"
    if of.in_use:
        yield f"would do, but in use: {listed(list(_used(of.in_use)))}"
