"""`capacity -o table` and `-o wide`."""

from __future__ import annotations

from collections import Counter

from dra_plan import shown
from dra_plan.documents.capacity import CapacityDocument, OwnerCapacity

from . import capacity_fleet, capacity_words, text
from .columns import Paragraph, Part, Screen, Table
from .formats import Formats

_ENDS = {
    "Limit": "as many as were asked for (--limit)",
    "Undecided": "undecided: the search was cut short (--max-steps)",
}
"""What stands for a message where the scheduler refused nothing."""


def table(document: CapacityDocument, _screen: Screen | None) -> list[Part]:
    """One row per owner: how many copies, what runs out, what the scheduler says of the next. Then more of each."""
    return [_owners(document), *_stories(document), *capacity_fleet.parts(document.fleet), text.target(document)]


def wide(document: CapacityDocument, _screen: Screen | None) -> list[Part]:
    """The same, with every node that holds copies."""
    made = Table(("OWNER", "NODE", "COPIES"), grouped=1)
    for item in document.items:
        for node in item.scheduled.nodes:
            made.add(text.named(item.owner), node.name, str(node.copies))
    nodes = [made] if made.rows else []
    fleet = capacity_fleet.parts(document.fleet)
    return [_owners(document), *nodes, *_stories(document), *fleet, text.target(document)]


def _owners(document: CapacityDocument) -> Table:
    made = Table(("OWNER", "SCHEDULED", "NODES", "RUNS OUT FIRST", "THE NEXT ONE"), flexible=(0, 3, 4))
    for item in document.items:
        found = item.scheduled
        said = _ENDS.get(found.ended) or found.message or found.ended
        first = capacity_words.runs_out(item.next_copy) if item.next_copy is not None else ""
        made.add(text.named(item.owner), _number(item), str(len(found.nodes)), first, said)
    return made


def _stories(document: CapacityDocument) -> list[Part]:
    """How the copies of each owner fill the nodes, and what is in the way of one more."""
    return [
        Paragraph([_spread(item), *(capacity_words.lines(item.next_copy) if item.next_copy is not None else ())])
        for item in document.items
    ]


def _number(item: OwnerCapacity) -> str:
    at_least = "at least " if item.scheduled.ended in _ENDS else ""
    return f"{at_least}{item.scheduled.copies}"


def _spread(item: OwnerCapacity) -> str:
    """How the copies fill the nodes: so many on each of so many nodes."""
    numbers = Counter(node.copies for node in item.scheduled.nodes)
    parts = [f"{copies} {_on(many)}" for copies, many in sorted(numbers.items(), reverse=True)]
    evicted = item.scheduled.evicted
    if evicted:
        parts.append(f"{len(evicted)} running {'pod has' if len(evicted) == 1 else 'pods have'} to go for them")
    return f"{text.named(item.owner)}: {', '.join(parts) or 'none on any node'}."


def _on(nodes: int) -> str:
    return "on 1 node" if nodes == 1 else f"each on {nodes} nodes"


def names(document: CapacityDocument) -> str:
    """`KIND/NAMESPACE/NAME COPIES` for every owner."""
    return "".join(shown.line(f"{text.named(item.owner)} {item.scheduled.copies}") + "\n" for item in document.items)


FORMATS = Formats(table=table, wide=wide, name=names)
