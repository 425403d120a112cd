"""`capacity -o table` and `-o wide`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from dra_plan import shown
from dra_plan.documents.capacity import CapacityDocument, NodeCopies, OwnerCapacity, PossibleCopies, ScheduledCopies

from . import capacity_fleet, capacity_words, text
from .columns import Paragraph, Part, Screen, Table
from .explain_words import counted, listed
from .formats import Formats

_ENDS = {
    "Limit": "as many as were asked for (--limit)",
    "OtherRefused": "a copy of another owner was refused",
    "Undecided": "undecided: the search was cut short (--max-steps)",
}
"""What stands for a message where the scheduler refused nothing."""


def table(document: CapacityDocument, _screen: Screen | None) -> list[Part]:
    """One row per owner: how many copies, and what runs out. Then what the scheduler says, and more of each owner."""
    fleet = capacity_fleet.parts(document)
    return [_owners(document), *_captions(document), *details(document), *fleet, text.target(document)]


def wide(document: CapacityDocument, _screen: Screen | None) -> list[Part]:
    """The same, with every node that holds copies."""
    fleet = capacity_fleet.parts(document)
    told = [*_captions(document), *nodes(document), *details(document)]
    return [_owners(document), *told, *fleet, text.target(document)]


def details(document: CapacityDocument) -> list[Part]:
    """What all owners together come to; how the copies of each fill the nodes, and what is in the way of one more."""
    return [*_mix(document), *_stories(document)]


def nodes(document: CapacityDocument) -> list[Part]:
    """A table of the nodes that hold copies, if there are any."""
    made = Table(("OWNER", "NODE", "MORE", "POSSIBLE"), grouped=1)
    for item in document.items:
        _nodes(made, text.copied_owner(item.owner), item.scheduled.nodes, item.possible)
    if document.mix is not UNSET:
        _nodes(made, "all together", [], document.mix.possible)
    return [made] if made.rows else []


def _nodes(made: Table, name: str, scheduled: Sequence[NodeCopies], possible: PossibleCopies | None) -> None:
    """A row for each node with copies; of those that are scheduled they are in the order of the input."""
    best = {node.name: node.copies for node in possible.nodes} if possible is not None else {}
    done = {node.name: node.copies for node in scheduled}
    for node in dict.fromkeys((*done, *best)):
        made.add(name, node, str(done.get(node, 0)), str(best.get(node, 0)) if possible is not None else "")


def _mix(document: CapacityDocument) -> list[Part]:
    """What all owners together come to."""
    if document.mix is UNSET:
        return []
    shares = listed([f"{share.copies} of {text.copied_owner(share.owner)}" for share in document.mix.shares], 8)
    possible = capacity_words.possible(document.mix.possible)
    scheduled = f"{at_least(document.items)}{counted(document.mix.sets, 'whole set')}"
    best = f"; {possible} with the best choice" if possible else ""
    return [f"All together, {shares} to a set: kube-scheduler binds {scheduled}{best}."]


def _owners(document: CapacityDocument) -> Table:
    made = Table(("OWNER", "MORE", "POSSIBLE", "NODES", "RUNS OUT FIRST"), flexible=(0, 4))
    for item in document.items:
        first = capacity_words.runs_out(item.next_copy) if item.next_copy is not None else ""
        best = capacity_words.possible(item.possible)
        made.add(text.copied_owner(item.owner), _number(item), best, f"{len(item.scheduled.nodes):,}", first)
    return made


def _captions(document: CapacityDocument) -> list[Part]:
    """What the numbers mean, and what the scheduler says of one copy more: once for all owners of whom it says it."""
    if not document.items:
        return []
    mixed = document.mix is not UNSET
    more = "MORE: copies that kube-scheduler binds beside what runs, one after the other"
    more += ", of all owners in turn." if mixed else "."
    best = " POSSIBLE: as many as the best choice of nodes and devices holds."
    sought = any(item.possible is not None for item in document.items)
    return [more + (best if sought else ""), *_said(document.items)]


def _said(items: Sequence[OwnerCapacity]) -> list[Part]:
    owners: dict[str, list[str]] = {}
    for item in items:
        if item.scheduled.message and item.scheduled.ended not in _ENDS:
            owners.setdefault(item.scheduled.message, []).append(text.copied_owner(item.owner))
    if len(owners) == 1:
        [(message, named)] = owners.items()
        whose = "" if len(items) == 1 else " of each" if len(named) == len(items) else f" of {listed(named)}"
        return [f"The scheduler says of one more{whose}: {message}"]
    lines = [f"  {listed(named)}: {message}" for message, named in owners.items()]
    return [Paragraph(["The scheduler says of one more:", *lines])] if lines else []


def _stories(document: CapacityDocument) -> list[Part]:
    """How the copies of each owner fill the nodes, and what is in the way of one more."""
    return [
        Paragraph(
            [
                _spread(item),
                *_end(item.scheduled),
                *capacity_words.replicas(item.replicas, item.scheduled),
                *capacity_words.better(item.scheduled, item.possible),
                *(capacity_words.lines(item.next_copy) if item.next_copy is not None else ()),
            ]
        )
        for item in document.items
    ]


def _number(item: OwnerCapacity) -> str:
    return f"{at_least([item])}{item.scheduled.copies:,}"


def at_least(items: Sequence[OwnerCapacity]) -> str:
    """What stands before a number of copies where there may be room for more; a blank ends it."""
    return "at least " if any(item.scheduled.ended in capacity_words.OPEN_ENDS for item in items) else ""


def _spread(item: OwnerCapacity) -> str:
    """How the copies fill the nodes: so many on each of so many nodes."""
    parts = capacity_words.spread(item.scheduled.nodes)
    evicted = item.scheduled.evicted
    if evicted:
        parts.append(f"{len(evicted)} running {'pod has' if len(evicted) == 1 else 'pods have'} to go for them")
    none = "not known" if at_least([item]) else "none on any node"
    return f"{text.copied_owner(item.owner)}: {', '.join(parts) or none}."


def _end(of: ScheduledCopies) -> Iterator[str]:
    """Why the count ended, where the scheduler says nothing of one copy more."""
    if of.ended in _ENDS or not of.message:
        yield f"  The count ended there: {_ENDS.get(of.ended, of.ended)}."


def names(document: CapacityDocument) -> str:
    """`KIND/NAMESPACE/NAME COPIES` for every owner."""
    return "".join(
        shown.line(f"{text.copied_owner(item.owner)} {item.scheduled.copies}") + "\n" for item in document.items
    )


FORMATS = Formats(table=table, wide=wide, name=names)
