"""`repack -o table`, `-o wide`, `-o markdown` and `-o name`: a row a move, the room, and who was left alone."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan import shown
from dra_plan.documents.base import ObjectName
from dra_plan.questions.repack.document import AllowedMoves, PodsKept, RepackDocument, RoomPlace
from dra_plan.questions.repack.script import script
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.folding import ranges
from dra_plan.text.formats import Format, Formats, choose, of_tables, whole
from dra_plan.text.markdown import markdown_parts
from dra_plan.text.naming import target
from dra_plan.text.preemption import without
from dra_plan.text.words import counted, listed

_MOST_ROWS = 40
"""So many moves have rows in a table that is not wide."""


def table(document: RepackDocument, _screen: Screen | None) -> list[Part]:
    """A row a move, of long plans the first."""
    return _parts(document, wide=False)


def wide(document: RepackDocument, _screen: Screen | None) -> list[Part]:
    """A row for every move, with the devices that the pod has then."""
    return _parts(document, wide=True)


def _parts(document: RepackDocument, *, wide: bool) -> list[Part]:
    heads = ("WAVE", "NODE", "POD", "TO", *(("DEVICES",) if wide else ()))
    made = Table(heads, grouped=2, flexible=(2, 4) if wide else (2,))
    rows = [(number, pod) for number, wave in enumerate(document.waves, 1) for pod in wave.moved]
    for number, pod in rows if wide else rows[:_MOST_ROWS]:
        more = [", ".join(pod.devices)] if wide else []
        made.add(str(number), pod.from_node, f"{pod.namespace}/{pod.name}", pod.to_node, *more)
    hidden = len(rows) - _MOST_ROWS if not wide else 0
    rest = [f"{counted(hidden, 'more move')}: -o wide has them all."] if hidden > 0 else []
    return [*([made] if made.rows else []), *rest, *_sentences(document), target(document)]


def _sentences(document: RepackDocument) -> Iterator[str]:
    yield f"{headline(document)}."
    if document.outcome == "Moves":
        yield _bound(document)
        yield from _led(document)
    if document.places and document.outcome in ("Fits", "Moves"):
        yield f"The room in the end: {'; '.join(_place(each) for each in document.places[:6])}{_rest(document)}."
    if document.left_alone and document.outcome != "Fits":
        yield f"Left alone: {'; '.join(map(_alone, document.left_alone))}."
    for each in document.allowing:
        yield f"{_allowed(each, document)}."


def _rest(document: RepackDocument) -> str:
    more = len(document.places) - 6
    return f"; and {more} more" if more > 0 else ""


def headline(document: RepackDocument) -> str:
    """Whether there is room, and by which moves; without the full stop."""
    room = _room(document)
    match document.outcome:
        case "Fits":
            return f"There is {room} as things are; no pod has to move"
        case "Moves":
            moves = counted(document.moves, "pod")
            does = "moves" if document.moves == 1 else "move"
            waves = counted(len(document.waves), "wave")
            return f"There is {_found(document)} when {moves} {does}, in {waves}; all go on running"
        case "Impossible" if document.asked == "Most" and document.found == document.at_most:
            return f"{_as_it_is(document)}; no moves make more, which is proved"
        case "Impossible":
            said = f"no moves of {counted(document.movable, 'pod')} that may move make it, which is proved"
            if document.most_moves is not None:
                said = f"at most {counted(document.most_moves, 'move')} can't make it, which is proved"
                if document.at_least > document.most_moves:
                    said += f": it takes at least {document.at_least}"
            return f"There is no {room}: {said}"
    if document.asked == "Most":
        return f"{_as_it_is(document)}; no moves were found that make more, room for {document.at_most} is not excluded"
    least = f"fewer than {counted(document.at_least, 'move')} can't make it" if document.at_least else ""
    why = f" ({without(document.message)})" if document.message else ""
    return f"Not known whether there can be {room}: none was found{why}" + (f"; {least}" if least else "")


def _as_it_is(document: RepackDocument) -> str:
    return f"{document.found} of {counted(document.rooms, 'pod')} that wait have room as things are"


def _room(document: RepackDocument) -> str:
    if document.asked == "Most":
        return f"room for all of {counted(document.rooms, 'pod')} that wait"
    if document.asked == "For":
        return f"room for {document.room.partition('=')[0]}" + (
            f", {document.rooms} pods" if document.rooms > 1 else ""
        )
    devices, _, rest = document.room.partition("x")
    model = rest.rpartition("=")[0] or rest
    return f"room of {devices} free {model} on one node" + (f", {document.rooms} times" if document.rooms > 1 else "")


def _found(document: RepackDocument) -> str:
    if document.asked != "Most":
        return _room(document)
    proved = "no moves make more" if document.found >= document.at_most else f"{document.at_most} are not excluded"
    return f"room for {document.found} of {counted(document.rooms, 'pod')} that wait ({proved})"


def _bound(document: RepackDocument) -> str:
    priced = document.cost != document.moves
    cost = f"They cost {document.cost}. " if priced else ""
    if document.at_least >= document.cost:
        return f"{cost}It is proved that {'nothing costs less' if priced else 'fewer moves are not enough'}."
    what = "cost" if priced else "number of moves"
    return f"{cost}Less may be enough; it is proved that the {what} is at least {document.at_least}."


def _led(document: RepackDocument) -> Iterator[str]:
    nodes = sorted({node for wave in document.waves for node in wave.cordoned})
    if nodes:
        yield f"{cordoned(nodes)}. -o script has the commands, wave by wave."
    if any(pod.owner is None for wave in document.waves for pod in wave.moved):
        yield "Bare pods are deleted and created again, which nothing does by itself."


def cordoned(nodes: list[str]) -> str:
    """Which nodes keep pods away while others move, without the full stop."""
    return f"Cordoned meanwhile: {listed(nodes, 6)}"


def _place(each: RoomPlace) -> str:
    devices = f" ({listed(ranges([name.rpartition('/')[2] for name in each.devices]), 8)})" if each.devices else ""
    name = f"{each.namespace}/{each.name} on " if each.namespace else ""
    return f"{name}{each.node}{devices}"


_WHY = {
    "NoController": "that nothing would recreate",
    "HigherPriority": "of higher priority",
    "DisruptionBudget": "that a PodDisruptionBudget protects",
    "SharedClaim": "that share a claim with others",
    "SharedDevices": "with devices that several nodes reach",
    "PodGroup": "of pod groups",
    "OtherScheduler": "of other schedulers",
    "DaemonSet": "of DaemonSets",
    "Static": "of their node (static)",
    "Leaving": "being deleted",
}


def _alone(kept: PodsKept) -> str:
    examples = listed([_name(each) for each in kept.examples], 2)
    return f"{counted(kept.pods, 'pod')} {_WHY[kept.reason]} ({examples if kept.pods <= 2 else _first(kept)})"


def _first(kept: PodsKept) -> str:
    return f"{_name(kept.examples[0])} and {kept.pods - 1:,} more"


def _name(each: ObjectName) -> str:
    return f"{each.namespace}/{each.name}"


def _allowed(each: AllowedMoves, document: RepackDocument) -> str:
    options = " ".join(each.options)
    if each.outcome == "Impossible":
        return f"With {options} there would be none, either"
    if each.outcome == "Undecided":
        return f"With {options} it is not known"
    room = f"room for {each.rooms} of them" if document.asked == "Most" else "room"
    return f"With {options} there is {room} by {counted(each.moves, 'move')}, as far as the program says"


def names(document: RepackDocument) -> str:
    """`WAVE pod/NAMESPACE/NAME node/NODE`, a line a move."""
    lines = [
        f"{number} pod/{pod.namespace}/{pod.name} node/{pod.to_node}"
        for number, wave in enumerate(document.waves, 1)
        for pod in wave.moved
    ]
    return "".join(f"{shown.line(line)}\n" for line in lines)


def markdown(document: RepackDocument, screen: Screen | None) -> str:
    """The table as Markdown."""
    return markdown_parts(table(document, screen))


FORMATS = Formats(table=table, wide=wide, name=names, others={"script": script})


def parse(option: str) -> Format[RepackDocument]:
    """The format that `-o OPTION` asks for. UsageError for an unknown one or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": whole(markdown)})
