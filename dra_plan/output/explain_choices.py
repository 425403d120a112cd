"""`explain` of what fits: which device each request got, and why not an earlier one."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from . import explain_words as words
from .explain_funnel import funnel_lines
from .explain_layout import Lines, indented

Data = dict[str, Any]


def choice_lines(choices: list[Data]) -> Lines:
    """Request by request, device by device."""
    for _, slots in groupby(choices, key=lambda choice: (choice["claim"]["name"], choice["request"])):
        yield from _of_request(list(slots))


def _of_request(slots: list[Data]) -> Lines:
    what = words.capital(words.request(slots[0]))
    if len(slots) == 1:
        yield f"{what} gets {_device(slots[0])}."
    else:
        yield f"{what} gets {words.counted(len(slots), 'device')}:"
    for alternative in slots[0]["alternativesBefore"]:
        yield from indented(_not(alternative))
    for slot in slots:
        if len(slots) > 1:
            yield f"  {_device(slot)}"
        yield from indented(_passed(slot), 4 if len(slots) > 1 else 2)


def _device(slot: Data) -> str:
    return words.device(slot["device"]) if slot["device"] else "nothing: there is none to take"


def _passed(slot: Data) -> Lines:
    """The devices before the one that was chosen, but for those of other classes."""
    for passed in slot["passedOver"]:
        if passed["code"] != "selector-false" or not passed.get("class"):
            why = words.removed({"wanted": passed["count"], **passed})
            yield f"passed over {words.counted(passed['count'], 'device')}: {why}"


def _not(alternative: Data) -> Lines:
    """Why an earlier alternative was not chosen."""
    what = f"alternative {alternative['request'].rpartition('/')[2]}"
    if alternative["problem"] is None:
        yield f"passed over {what}: with it nothing was left for the rest"
        return
    yield f"passed over, as {words.problem(alternative, what)}:"
    yield from indented(funnel_lines({**alternative, "leftFrom": 0, "leftTo": 0, "devicesFrom": 0, "devicesTo": 0}))
