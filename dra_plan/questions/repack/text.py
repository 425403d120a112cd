"""`repack -o table`, `-o wide`, `-o markdown` and `-o name`: the moves, the result, and the pods that stay."""

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
from dra_plan.text.words import counted, kept_pods, listed

_MOST_ROWS = 40
"""The number of moves with a row in a table that is not wide."""


def table(document: RepackDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for each move. Only the first moves of a long plan are included."""
    return _parts(document, wide=False)


def wide(document: RepackDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for every move, with the pod's new devices."""
    return _parts(document, wide=True)


def _parts(document: RepackDocument, *, wide: bool) -> list[Part]:
    heads = ("WAVE", "NODE", "POD", "TO", *(("DEVICES",) if wide else ()))
    made = Table(heads, grouped=2, flexible=(2, 4) if wide else (2,))
    rows = [(number, pod) for number, wave in enumerate(document.waves, 1) for pod in wave.moved]
    for number, pod in rows if wide else rows[:_MOST_ROWS]:
        more = [", ".join(pod.devices)] if wide else []
        made.add(str(number), pod.from_node, f"{pod.namespace}/{pod.name}", pod.to_node, *more)
    hidden = len(rows) - _MOST_ROWS if not wide else 0
    rest = [f"{counted(hidden, 'more move')}: `-o wide` lists them all."] if hidden > 0 else []
    return [*([made] if made.rows else []), *rest, *_sentences(document), target(document)]


def _sentences(document: RepackDocument) -> Iterator[str]:
    yield f"{headline(document)}."
    if document.outcome == "Moves":
        yield _bound(document)
        yield from _led(document)
    if document.places and document.outcome in ("Fits", "Moves"):
        yield f"Result: {'; '.join(_place(each) for each in document.places[:6])}{_rest(document)}."
    if document.left_alone and document.outcome != "Fits":
        yield f"Not moved: {'; '.join(map(_alone, document.left_alone))}."
    for each in document.allowing:
        yield f"{_allowed(each, document)}."


def _rest(document: RepackDocument) -> str:
    more = len(document.places) - 6
    return f"; and {more} more" if more > 0 else ""


def headline(document: RepackDocument) -> str:
    """Return a sentence that states whether the wanted pods fit and how many moves this takes, without a full stop."""
    match document.outcome:
        case "Fits":
            return f"{_already(document)}; no pods need to be moved"
        case "Moves":
            moves = counted(document.moves, "pod")
            waves = counted(len(document.waves), "wave")
            where = "another node" if document.moves == 1 else "other nodes"
            return f"Moving {moves} to {where} in {waves} {_found(document)}"
        case "Impossible" if document.asked == "Most" and document.found == document.at_most:
            return f"{_as_it_is(document)}; no moves make room for more ({_proved(document)})"
        case "Impossible":
            said = f"moving the {counted(document.movable, 'movable pod')} is not enough (proved)"
            if not document.movable:
                return f"{_not_yet(document)}, and no running pods are movable"
            if document.most_moves is not None:
                moves = "1 move is" if document.most_moves == 1 else f"{document.most_moves} moves are"
                said = f"{moves} not enough ({_proved(document)})"
                if document.at_least > document.most_moves:
                    said += f"; at least {document.at_least} are needed"
            return f"{_not_yet(document)}: {said}"
    if document.asked == "Most":
        return (
            f"{_as_it_is(document)}; no moves to make room for more were found, but {document.at_most} may be possible"
        )
    least = f"at least {counted(document.at_least, 'move')} would be needed" if document.at_least else ""
    why = f" ({without(document.message)})" if document.message else ""
    wanted = f"free {_devices(document)}" if document.asked == "Free" else f"make {_room(document)}"
    return f"Undecided: no moves that {wanted} were found{why}" + (f"; {least}" if least else "")


def _proved(document: RepackDocument) -> str:
    """Return what the bounds hold for: if some pods stay, moving these may be better."""
    return "proved for the movable pods" if document.left_alone else "proved"


def _as_it_is(document: RepackDocument) -> str:
    have = "has" if document.found == 1 else "have"
    return f"{document.found} of {counted(document.rooms, 'pending pod')} already {have} room"


def _room(document: RepackDocument) -> str:
    if document.asked == "Most":
        return f"room for all {counted(document.rooms, 'pending pod')}"
    pods = f", {document.rooms} pods" if document.rooms > 1 else ""
    return f"room for {document.room.partition('=')[0]}{pods}"


def _devices(document: RepackDocument, state: str = "") -> str:
    """Return the devices to free, their state and where they are."""
    devices, _, rest = document.room.partition("x")
    model = rest.rpartition("=")[0] or rest
    where = "one node" if document.rooms == 1 else f"each of {document.rooms} nodes"
    return f"{devices} {model} {'device' if devices == '1' else 'devices'}{state} on {where}"


def _already(document: RepackDocument) -> str:
    if document.asked != "Free":
        return f"There is already {_room(document)}"
    state = " is already free" if document.room.partition("x")[0] == "1" else " are already free"
    return _devices(document, state)


def _not_yet(document: RepackDocument) -> str:
    if document.asked != "Free":
        return f"There is no {_room(document)}"
    return _devices(document, " cannot be freed")


def _found(document: RepackDocument) -> str:
    if document.asked == "Free":
        return f"leaves {_devices(document, ' free')}"
    if document.asked == "For":
        return f"makes {_room(document)}"
    found = f"makes room for {document.found} of {counted(document.rooms, 'pending pod')}"
    if document.found == document.rooms:
        return found
    is_most = document.found >= document.at_most
    return f"{found} ({f'not more: {_proved(document)}' if is_most else f'up to {document.at_most} may be possible'})"


def _bound(document: RepackDocument) -> str:
    priced = document.cost != document.moves
    cost = f"Cost: {document.cost}. " if priced else ""
    if document.at_least >= document.cost:
        proved = _proved(document).capitalize()
        return f"{cost}{proved}: no plan {'costs less' if priced else 'needs fewer moves'}."
    least = f"at least {document.at_least} ({_proved(document)})"
    if priced:
        return f"{cost}A cheaper plan may exist; it would cost {least}."
    return f"A plan with fewer moves may exist; it would need {least}."


def _led(document: RepackDocument) -> Iterator[str]:
    nodes = sorted({node for wave in document.waves for node in wave.cordoned})
    if nodes:
        yield f"{cordoned(nodes)}. `-o script` prints the commands."
    for number, wave in enumerate(document.waves, 1):
        if wave.waiting:
            pods = listed([_name(each) for each in wave.waiting], 3)
            stays = "is" if len(wave.waiting) == 1 else "are"
            yield f"{pods} {stays} evicted at the end of wave {number}, and pending until a later wave."
    if any(pod.owner is None for wave in document.waves for pod in wave.moved):
        yield "Bare pods have no controller, so you must delete and recreate them; `-o script` prints the commands."


def cordoned(nodes: list[str]) -> str:
    """Return a sentence that names the nodes to cordon while pods move, without a full stop."""
    return f"Nodes to cordon during the moves: {listed(nodes, 6)}"


def _place(each: RoomPlace) -> str:
    devices = f" ({listed(ranges([name.rpartition('/')[2] for name in each.devices]), 8)})" if each.devices else ""
    name = f"{each.namespace}/{each.name} on " if each.namespace else ""
    return f"{name}{each.node}{devices}"


def _alone(kept: PodsKept) -> str:
    examples = listed([_name(each) for each in kept.examples], 2)
    return f"{kept_pods(kept.reason, kept.pods)} ({examples if kept.pods <= 2 else _first(kept)})"


def _first(kept: PodsKept) -> str:
    return f"{_name(kept.examples[0])} and {kept.pods - 1:,} more"


def _name(each: ObjectName) -> str:
    return f"{each.namespace}/{each.name}"


def _allowed(each: AllowedMoves, document: RepackDocument) -> str:
    options = " ".join(each.options)
    if each.outcome == "Impossible":
        return f"With {options}, there is still no room"
    if each.outcome == "Undecided":
        return f"With {options}, the result is undecided"
    room = f"room for {each.rooms} of them" if document.asked == "Most" else "room"
    made = "is" if each.moves == 1 else "are"
    return f"With {options}, {counted(each.moves, 'move')} {made} expected to make {room} (not simulated)"


def names(document: RepackDocument) -> str:
    """Return a line of the form `WAVE pod/NAMESPACE/NAME node/NODE` for each move."""
    lines = [
        f"{number} pod/{pod.namespace}/{pod.name} node/{pod.to_node}"
        for number, wave in enumerate(document.waves, 1)
        for pod in wave.moved
    ]
    return "".join(f"{shown.line(line)}\n" for line in lines)


def markdown(document: RepackDocument, screen: Screen | None) -> str:
    """Return the table as Markdown."""
    return markdown_parts(table(document, screen))


FORMATS = Formats(table=table, wide=wide, name=names, others={"script": script})


def parse(option: str) -> Format[RepackDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": whole(markdown)})
