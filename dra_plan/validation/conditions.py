"""Conditions in the status of claims' devices and of taint rules (`ValidateConditions` of apimachinery)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import Condition

from . import names
from .limits import CONDITIONS, MESSAGE_BYTES, REASON_BYTES, at_most, at_most_bytes
from .rule import Problem, refused
from .words import nearest, shown

TAKE_AS_IT_IS = "Take the status from a cluster as it is, or leave it out."

CONDITION = refused(
    "DRA158",
    "condition that the API server refuses",
    "A condition has a status, True, False or Unknown, a reason in one word, and the time of its last change.",
    TAKE_AS_IT_IS,
)
RULES = (CONDITION,)

_STATUSES = ("True", "False", "Unknown")
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)


def check(path: FieldPath, conditions: Sequence[Condition]) -> Iterator[Problem]:
    """A list of conditions, each type once."""
    yield from at_most(path, conditions, CONDITIONS, "condition")
    yield from names.unique((((*path, i, "type"), condition.type) for i, condition in enumerate(conditions)), "type")
    for index, condition in enumerate(conditions):
        at = (*path, index)
        yield from names.label_name((*at, "type"), condition.type)
        if condition.status not in _STATUSES:
            message = f"{shown(condition.status)} is none of {', '.join(_STATUSES)}"
            yield CONDITION.at((*at, "status"), message, nearest(condition.status, _STATUSES) or "")
        yield from names.required((*at, "reason"), condition.reason)
        if condition.reason and _REASON.fullmatch(condition.reason) is None:
            message = f"{shown(condition.reason)} is no reason: a letter, then letters, digits, '_', ',' and ':'"
            yield CONDITION.at((*at, "reason"), message)
        yield from at_most_bytes((*at, "reason"), condition.reason, REASON_BYTES, "reason")
        yield from at_most_bytes((*at, "message"), condition.message, MESSAGE_BYTES, "message")
        yield from names.required((*at, "lastTransitionTime"), condition.last_transition_time or "")
        if (condition.observed_generation or 0) < 0:
            yield CONDITION.at((*at, "observedGeneration"), f"{condition.observed_generation} is less than 0")
