"""`capacity -o table` and `-o wide`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from dra_plan import shown
from dra_plan.documents.capacity import CapacityDocument, NodeCopies, OwnerCapacity, PossibleCopies

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
    """One row per owner: how many copies, what runs out, what the scheduler says of the next. Then more of each."""
    return [
        _owners(document),
        *_mix(document),
        *_stories(document),
        *capacity_fleet.parts(document.fleet),
        text.target(document),
    ]


def wide(document: CapacityDocument, _screen: Screen | None) -> list[Part]:
    """The same, with every node that holds copies."""
    made = Table(("OWNER", "NODE", "SCHEDULED", "POSSIBLE"), grouped=1)
    for item in document.items:
        _nodes(made, text.named(item.owner), item.scheduled.nodes, item.possible)
    if document.mix is not UNSET:
        _nodes(made, "all together", [], document.mix.possible)
    nodes = [made] if made.rows else []
    fleet = capacity_fleet.parts(document.fleet)
    return [_owners(document), *_mix(document), *nodes, *_stories(document), *fleet, text.target(document)]


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
    shares = listed([f"{share.copies} of {text.named(share.owner)}" for share in document.mix.shares], 8)
    possible = capacity_words.possible(document.mix.possible)
    scheduled = counted(document.mix.sets, "set")
    best = f", {possible} possible" if possible else ""
    return [f"All together, {shares} to a set: {scheduled} scheduled{best}."]


def _owners(document: CapacityDocument) -> Table:
    made = Table(("OWNER", "SCHEDULED", "POSSIBLE", "NODES", "RUNS OUT FIRST", "THE NEXT ONE"), flexible=(0, 4, 5))
    for item in document.items:
        found = item.scheduled
        said = _ENDS.get(found.ended) or found.message or found.ended
        first = capacity_words.runs_out(item.next_copy) if item.next_copy is not None else ""
        best = capacity_words.possible(item.possible)
        made.add(text.named(item.owner), _number(item), best, str(len(found.nodes)), first, said)
    return made


def _stories(document: CapacityDocument) -> list[Part]:
    """How the copies of each owner fill the nodes, and what is in the way of one more."""
    return [
        Paragraph(
            [
                _spread(item),
                *capacity_words.better(item.scheduled, item.possible),
                *(capacity_words.lines(item.next_copy) if item.next_copy is not None else ()),
            ]
        )
        for item in document.items
    ]


def _number(item: OwnerCapacity) -> str:
    at_least = "at least " if item.scheduled.ended in ("Limit", "Undecided") else ""
    return f"{at_least}{item.scheduled.copies}"


def _spread(item: OwnerCapacity) -> str:
    """How the copies fill the nodes: so many on each of so many nodes."""
    parts = capacity_words.spread(item.scheduled.nodes)
    evicted = item.scheduled.evicted
    if evicted:
        parts.append(f"{len(evicted)} running {'pod has' if len(evicted) == 1 else 'pods have'} to go for them")
    return f"{text.named(item.owner)}: {', '.join(parts) or 'none on any node'}."


def names(document: CapacityDocument) -> str:
    """`KIND/NAMESPACE/NAME COPIES` for every owner."""
    return "".join(shown.line(f"{text.named(item.owner)} {item.scheduled.copies}") + "\n" for item in document.items)


FORMATS = Formats(table=table, wide=wide, name=names)
