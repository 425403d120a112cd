"""`explain` of what fits: which device each request got, and why not an earlier one."""

from __future__ import annotations

from itertools import groupby

from dra_plan.documents.explanation import ChosenDevice, PassedAlternative

from . import explain_removed
from . import explain_words as words
from .explain_funnel import funnel_lines
from .explain_layout import Lines, indented


def choice_lines(choices: list[ChosenDevice]) -> Lines:
    """Request by request, device by device."""
    for _, slots in groupby(choices, key=lambda choice: (choice.claim.name, choice.request)):
        yield from _of_request(list(slots))


def _of_request(slots: list[ChosenDevice]) -> Lines:
    what = words.capital(words.request(slots[0]))
    if len(slots) == 1:
        yield f"{what} gets {_device(slots[0])}."
    else:
        yield f"{what} gets {words.counted(len(slots), 'device')}:"
    for alternative in slots[0].alternatives_before:
        yield from indented(_not(alternative))
    for slot in slots:
        if len(slots) > 1:
            yield f"  {_device(slot)}"
        yield from indented(_passed(slot), 4 if len(slots) > 1 else 2)


def _device(slot: ChosenDevice) -> str:
    return str(slot.device) if slot.device else "nothing: there is none to take"


def _passed(slot: ChosenDevice) -> Lines:
    """The devices before the one that was chosen, but for those of other classes."""
    for passed in slot.passed_over:
        if passed.code != "selector-false" or not passed.class_:
            yield f"passed over {words.counted(passed.count, 'device')}: {explain_removed.removed(passed)}"


def _not(alternative: PassedAlternative) -> Lines:
    """Why an earlier alternative was not chosen."""
    what = f"alternative {alternative.request.rpartition('/')[2]}"
    if alternative.problem is None:
        yield f"passed over {what}: with it nothing was left for the rest"
        return
    yield f"passed over, as {words.problem(alternative, what)}:"
    yield from indented(funnel_lines(alternative))
