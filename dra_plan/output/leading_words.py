"""The wording of leading reasons: a few words each, for a cell or for a line that sums up many nodes."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.documents.leading import LeadingReason

from .explain_words import counted

MOST = 6
"""Reasons that one line tells."""


def summary(reasons: Sequence[LeadingReason]) -> str:
    """One line for many nodes: `817 nodes: 304 constraint on pcieRoot, 267 counter memory, 246 too few free.`."""
    total = sum(reason.nodes for reason in reasons)
    told = [f"{reason.nodes} {phrase(reason)}" for reason in reasons[:MOST]]
    rest = sum(reason.nodes for reason in reasons[MOST:])
    told += [f"{rest} something else"] if rest else []
    return f"{counted(total, 'node')}: {', '.join(told)}."


def cell(reason: LeadingReason) -> str:
    """The same of one reason, with what is needed and left."""
    if reason.need is None or reason.left is None or reason.left >= reason.need:
        return phrase(reason)
    if reason.left_from is not None:
        number = f"at most {reason.left} of {reason.need}"
    elif reason.need_from is not None:
        number = f"{reason.left} of {reason.need_from} to {reason.need_to}"
    else:
        number = f"{reason.left} of {reason.need}"
    return f"{phrase(reason)} ({number} for {reason.request})"


def phrase(reason: LeadingReason) -> str:
    """A few words."""
    name = reason.name
    if reason.code == "not-together":
        return f"constraint on {name.rpartition('/')[2]}" if name else "requests collide"
    if reason.class_:
        return f"not of class {reason.class_}"
    if reason.code in _NAMED and name:
        return f"{_NAMED[reason.code]} {name}"
    return _PLAIN.get(reason.code, reason.code.replace("-", " "))


_NAMED = {
    "selector-error": "selector fails on",
    "capacity-missing": "no capacity",
    "capacity-policy": "policy of capacity",
    "capacity-short": "capacity",
    "counter-short": "counter",
    "not-tolerated": "taint",
    "attribute-missing": "no attribute",
    "claim-elsewhere": "out of reach of claim",
    "class-missing": "no class",
    "selector-false": "selector on",
}

_PLAIN = {
    "in-use": "too few free",
    "selector-false": "selector",
    "too-few-devices": "too few devices",
    "nothing-matches": "no such device",
    "pool-unusable": "pool not complete",
    "no-devices": "no devices",
    "too-many-devices": "more than 32 devices",
    "other-node": "devices of other nodes",
    "class-missing": "class missing",
}
