"""The fixes for each rule. A fix is certain; a correction that is only probable is a suggestion.

`edits`, `corrections` and `comparison_fixes` change the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dra_plan.documents.findings import CertainFix, TextEdit
from dra_plan.manifests.places import LinedText
from dra_plan.manifests.sources import Source
from dra_plan.releases import Target

from . import claims, comparison_fixes, corrections, schema, selectors
from .edits import CharEdit, Correction, Mending, ObjectText, applied, changed, gives
from .reading import Reading, of_text
from .rule import Problem, Severity
from .run import Judgement
from .subject import Subject


@dataclass(frozen=True, slots=True)
class Fix:
    """A way to fix a problem: what the fix does, why it is the only possible one, and the function that makes it."""

    title: str
    certain: str
    make: Callable[[Mending], Correction | None]
    reveals: bool = True
    """Whether the fix may reveal more problems because more of the object can then be checked."""


_NEWEST = Fix(
    "write the object in the newest version",
    "The fix is applied only if both versions decode to exactly the same object.",
    corrections.newest,
    reveals=False,
)

FIXES: dict[str, tuple[Fix, ...]] = {
    schema.WRONG_TYPE.code: (
        Fix(
            "write the value with the field's type",
            (
                "The value has only one possible meaning in the field. A number or boolean becomes a string if "
                "the field is a string. A string that is an integer, true or false becomes that value. A quantity "
                "in place of a capacity becomes its `value`. A number, a boolean, or a string that is not a "
                "version becomes an attribute of that type. A string in place of `cel` becomes its `expression`."
            ),
            corrections.right_type,
        ),
    ),
    claims.MISPLACED.code: (
        Fix(
            "move the fields of the request into `exactly`",
            (
                "The request has neither `exactly` nor `firstAvailable`, names a class, and has only "
                "fields that belong in `exactly`. This is the v1beta1 form of the same request."
            ),
            corrections.exactly,
        ),
    ),
    schema.UNKNOWN_FIELD.code: (
        Fix(
            "write the field's name with the correct capitalization",
            "Exactly one field has this name apart from capitalization, and that field is not set.",
            corrections.right_case,
        ),
    ),
    schema.BASIC_IN_V1.code: (
        Fix(
            "move the fields of `basic` directly into the devices",
            "In v1beta1, `basic` had the same fields, and none of them is set outside `basic`.",
            corrections.basic,
        ),
    ),
    schema.CLAIM_SOURCE.code: (
        Fix(
            "move the fields of `source` directly into the entry",
            "Before Kubernetes 1.31, `source` had the same fields, and none of them is set outside `source`.",
            corrections.source,
        ),
    ),
    schema.DEPRECATED.code: (_NEWEST,),
    schema.NOT_SERVED.code: (_NEWEST,),
    selectors.DOES_NOT_COMPILE.code: (
        Fix(
            "compare quantities and versions with `compareTo`",
            (
                "Both operands are quantities or versions. CEL compares them with `a.compareTo(b) >= 0` "
                "instead of `a >= b`, and the new expression compiles."
            ),
            comparison_fixes.compared,
        ),
    ),
}
"""The fixes for each rule code, in the order in which they are tried."""


def correction(subject: Subject, problem: Problem, target: Target) -> tuple[Fix, Correction] | None:
    """Return the fix for a problem and its edits, or None if there is no fix.

    The edited text has exactly the value that the correction promises.
    """
    known = FIXES.get(problem.rule.code)
    document = subject.place.find_text() if known else None
    if not known or document is None:
        return None
    text = ObjectText(document, subject.place.prefix)
    question = Mending(subject, problem, text, target.version, dict(target.gates))
    for fix in known:
        made = fix.make(question)
        if made is not None and made.edits and gives(text, subject.value, made):
            return fix, made
    return None


# -- a fix in documents ------------------------------------------------------------------------------------------------
# The fix has lines and columns.


def entry(subject: Subject, problem: Problem, target: Target) -> CertainFix | None:
    """Return the fix for a problem as an entry of a document, or None if there is no fix."""
    found = correction(subject, problem, target)
    document = subject.place.find_text() if found is not None else None
    if found is None or document is None:
        return None
    fix, made = found
    return CertainFix(title=fix.title, edits=[_edit(edit, document.lines) for edit in sorted(made.edits)])


def _edit(edit: CharEdit, lines: LinedText) -> TextEdit:
    line, column = lines.place(edit.begin)
    end_line, end_column = lines.place(edit.end)
    return TextEdit(line=line, column=column, end_line=end_line, end_column=end_column, text=edit.text)


# -- all fixes of all sources ------------------------------------------------------------------------------------------
# Each round makes the fixes that do not overlap; then everything is validated again.

_MOST_ROUNDS = 1000
_Place = tuple[str, int]
"""The name of a source, and the index of the object in it."""


@dataclass(frozen=True, slots=True)
class FixedSource:
    """The text of a source before and after the fixes."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class FixedInput:
    """The result of fixing an input.

    - `sources`: the changed sources
    - `made`: the number of fixes
    - `reading`: the fixed input
    - `before`: the result of validating the original input
    - `judgement`: the result of validating the fixed input
    """

    sources: list[FixedSource]
    made: int
    reading: Reading
    judgement: Judgement
    before: Judgement


class _ChosenFix(NamedTuple):
    """A fix and the finding that it is for."""

    subject: Subject
    code: str
    path: str
    fix: Fix
    correction: Correction


@dataclass(slots=True)
class _State:
    texts: dict[str, str]
    readings: dict[str, Reading]
    judgement: Judgement
    places: dict[Subject, _Place] = field(default_factory=dict)


def fixed(sources: Sequence[Source], judge: Callable[[Reading], Judgement], target: Target) -> FixedInput:
    """Return the sources after fixing all findings of `judge` for which there is a fix."""
    texts = {source.name: source.data.decode() for source in sources}
    state = first = _state(texts, {}, judge)
    refused: set[tuple[_Place, str, str]] = set()
    one_by_one: set[_Place] = set()
    made = 0
    for _ in range(_MOST_ROUNDS):
        chosen = _chosen(state, target, refused, one_by_one)
        if not chosen:
            break
        after = _state(_texts(state, chosen), state.readings, judge, changed={name for name, _ in chosen})
        wrong = _not_better(state, after, chosen)
        for place in wrong:
            if len(chosen[place]) > 1:
                one_by_one.add(place)
            else:
                refused.add((place, chosen[place][0].code, chosen[place][0].path))
        if not wrong:
            state, made = after, made + sum(map(len, chosen.values()))
    changed = [FixedSource(name, text, state.texts[name]) for name, text in texts.items() if text != state.texts[name]]
    return FixedInput(changed, made, _whole(state.readings), state.judgement, first.judgement)


def _state(
    texts: dict[str, str],
    readings: dict[str, Reading],
    judge: Callable[[Reading], Judgement],
    changed: set[str] | None = None,
) -> _State:
    made = {
        name: readings[name] if changed is not None and name not in changed else of_text(text, name).whole()
        for name, text in texts.items()
    }
    state = _State(texts, made, judge(_whole(made)))
    for name, reading in made.items():
        state.places.update({subject: (name, index) for index, subject in enumerate(reading.subjects)})
    return state


def _whole(readings: dict[str, Reading]) -> Reading:
    whole = Reading()
    for reading in readings.values():
        whole.subjects += reading.subjects
        whole.texts |= reading.texts
        whole.sources += reading.sources
    return whole


def _chosen(
    state: _State, target: Target, refused: set[tuple[_Place, str, str]], one_by_one: set[_Place]
) -> dict[_Place, list[_ChosenFix]]:
    """Return, for each object, the non-overlapping fixes for its findings, or for those in `one_by_one` the first."""
    chosen: dict[_Place, list[_ChosenFix]] = {}
    for (subject, problem), finding in zip(state.judgement.broken, state.judgement.findings, strict=True):
        place = state.places[subject]
        mine = chosen.get(place, [])
        if (mine and place in one_by_one) or (place, finding.code, finding.field) in refused:
            continue
        found = correction(subject, problem, target)
        if found is not None and not any(_meet(found[1], one.correction) for one in mine):
            chosen.setdefault(place, []).append(_ChosenFix(subject, finding.code, finding.field, *found))
    return chosen


def _meet(one: Correction, other: Correction) -> bool:
    """Return whether two corrections affect the same field or text."""
    short = min(len(one.path), len(other.path))
    if one.path[:short] == other.path[:short]:
        return True
    return any(edit.begin <= than.end and than.begin <= edit.end for edit in one.edits for than in other.edits)


def _texts(state: _State, chosen: dict[_Place, list[_ChosenFix]]) -> dict[str, str]:
    edits: dict[str, list[CharEdit]] = {}
    for (name, _), fixes in chosen.items():
        document = fixes[0].subject.place.find_text()
        if document is not None:
            begin = _start_of_line(state.texts[name], document.lines.first_line)
            for edit in (edit for one in fixes for edit in one.correction.edits):
                edits.setdefault(name, []).append(CharEdit(begin + edit.begin, begin + edit.end, edit.text))
    return {name: applied(text, edits.get(name, ())) for name, text in state.texts.items()}


def _start_of_line(text: str, number: int) -> int:
    at = 0
    for _ in range(number - 1):
        at = text.index("\n", at) + 1
    return at


def _not_better(before: _State, after: _State, chosen: dict[_Place, list[_ChosenFix]]) -> list[_Place]:
    """Return the objects whose fixes did not remove the problem, or caused a new error."""
    old, new = _codes(before), _codes(after)
    now = {place: subject for subject, place in after.places.items()}
    wrong = []
    for place, fixes in chosen.items():
        mine, then = old[place], new.get(place, Counter())
        wanted = fixes[0].subject.value
        for one in fixes:
            wanted = changed(wanted, one.correction.path, one.correction.to)
        same = place in now and now[place].value == wanted
        more = any(count > mine[told] for told, count in then.items() if told[1] >= Severity.ERROR)
        left = any(_number(then, one.code) >= _number(mine, one.code) for one in fixes)
        if not same or ((left or more) and not any(one.fix.reveals for one in fixes)):
            wrong.append(place)
    return wrong


def _codes(state: _State) -> dict[_Place, Counter[tuple[str, Severity]]]:
    found: dict[_Place, Counter[tuple[str, Severity]]] = {}
    for (subject, _), finding in zip(state.judgement.broken, state.judgement.findings, strict=True):
        found.setdefault(state.places[subject], Counter())[finding.code, finding.severity] += 1
    return found


def _number(codes: Counter[tuple[str, Severity]], code: str) -> int:
    return sum(count for (one, _), count in codes.items() if one == code)
