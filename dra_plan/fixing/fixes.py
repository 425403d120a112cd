"""The fixes, by rule: what each does and why it is certain. A fix that is only probable is a suggestion, not a fix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dra_plan.releases import Target
from dra_plan.validation import flatrequests, schema, selectors
from dra_plan.validation.rule import Problem
from dra_plan.validation.subject import Subject

from . import comparisons, requests, scalars, versions
from .edits import ObjectText
from .fix import Correction, Mending, gives


@dataclass(frozen=True, slots=True)
class Fix:
    """What is done, why nothing else can be meant, and how."""

    title: str
    certain: str
    make: Callable[[Mending], Correction | None]
    reveals: bool = True
    """Whether something is read or tried afterwards that was not before, so that more may be found in it."""


_NEWEST = Fix(
    "write the object in the newest version",
    "Both versions are read, and it is only done if they give the same object, to the last field.",
    versions.newest,
    reveals=False,
)

FIXES: dict[str, tuple[Fix, ...]] = {
    schema.WRONG_TYPE.code: (
        Fix(
            "write the value with the type of the field",
            "What stands there has one meaning for the field: a number or true where text is wanted is that text; a "
            "text that is a whole number, true or false is that value; a quantity in place of a capacity is its "
            "`value`; a number, true, or a text that is no version is an attribute of that type; a text in place of "
            "`cel` is its `expression`.",
            scalars.right_type,
        ),
    ),
    flatrequests.MISPLACED.code: (
        Fix(
            "put the fields of the request under `exactly`",
            "The request has neither `exactly` nor `firstAvailable`, names a class, and has no other fields than those "
            "of `exactly`: this is how v1beta1 wrote the same request.",
            requests.exactly,
        ),
    ),
    schema.UNKNOWN_FIELD.code: (
        Fix(
            "write the field's name in the right case",
            "Exactly one field has the name but for upper and lower case, and it is not set.",
            scalars.right_case,
        ),
    ),
    schema.BASIC_IN_V1.code: (
        Fix(
            "put the fields of `basic` directly into the devices",
            "`basic` had the same fields in v1beta1, and none of them is set outside.",
            requests.basic,
        ),
    ),
    schema.CLAIM_SOURCE.code: (
        Fix(
            "put the fields of `source` directly into the entry",
            "`source` had the same fields until 1.31, and none of them is set outside.",
            requests.source,
        ),
    ),
    schema.DEPRECATED.code: (_NEWEST,),
    schema.NOT_SERVED.code: (_NEWEST,),
    selectors.DOES_NOT_COMPILE.code: (
        Fix(
            "compare quantities and versions with `compareTo`",
            "Both sides are quantities or versions, which have one order; `a.compareTo(b) >= 0` is how CEL says "
            "`a >= b` of them, and the new expression compiles.",
            comparisons.compared,
        ),
    ),
}
"""The fixes of each rule, by its code, in the order in which they are tried."""


def correction(subject: Subject, problem: Problem, target: Target) -> tuple[Fix, Correction] | None:
    """The fix of a problem, if there is one that gives what it says."""
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
