"""The wording of suggestions."""

from __future__ import annotations

from dra_plan.documents.suggestions import (
    AlternativeAdded,
    CapacityChanged,
    ClaimReleased,
    ClassChanged,
    ConstraintDropped,
    CountLowered,
    GateEnabled,
    NodeLabelled,
    NodeTaintMet,
    NodeUncordoned,
    PoolAwaited,
    RequestDropped,
    SelectorChanged,
    SuggestedChange,
    TaintTolerated,
    TriedChanges,
)

from . import explain_words as words

_VERBS = {"guard-selector": "extend", "fix-spelling": "correct", "change-value": "change"}


def suggestion(of: TriedChanges) -> str:
    """Changes that were tried together, and where the claims then fit."""
    return f"{', and '.join(change(one) for one in of.changes)} (then it fits on {of.node})"


def change(of: SuggestedChange) -> str:
    """What to do."""
    match of:
        case SelectorChanged():
            return _selector(of)
        case TaintTolerated():
            return f"tolerate the taint {words.taint(of.toleration)} in {words.request(of)}"
        case PoolAwaited():
            there = f"{of.seen} of {of.expected} slices are there, and they would do"
            return f"wait until pool {of.pool} is complete ({there})"
        case CountLowered(from_=None):
            return f"ask for {words.counted(of.to, 'device')} instead of all in {words.request(of)}"
        case CountLowered():
            return f"ask for {of.to} instead of {of.from_} in {words.request(of)}"
        case CapacityChanged():
            return f"{_capacity(of)} in {words.request(of)}"
        case AlternativeAdded():
            return f"add to {words.request(of)} an alternative of class {of.class_}, count {of.count}"
        case ClassChanged():
            return f"use class {of.to} in {words.request(of)}"
        case RequestDropped():
            return f"leave out {words.request(of)}"
        case ConstraintDropped():
            return f"drop constraint #{of.constraint} ({of.attribute}) of claim {of.claim.name}"
        case NodeLabelled():
            return f"label the node {', '.join(f'{name}={value}' for name, value in of.labels.items())}"
        case NodeUncordoned():
            return f"uncordon {of.uncordon}"
        case NodeTaintMet(code="tolerate-node-taint"):
            return f"let the pod tolerate taint {words.taint(of.taint)} of {of.tainted}"
        case NodeTaintMet():
            return f"remove taint {words.taint(of.taint)} from {of.tainted}"
        case ClaimReleased():
            return f"release claim {words.used_claim(of.release, of.pods)}"
        case GateEnabled():
            return f"switch on feature gate {of.gate}"


def _selector(of: SelectorChanged) -> str:
    whose = words.request_of(of.claim, of.request) if of.claim is not None else f"class {of.class_}"
    number = f" #{of.selector}" if of.selector else ""
    if of.code in _VERBS:
        said = f"{_VERBS[of.code]} the selector{number} of {whose} to {words.one_line(of.replacement or '')}"
    elif of.dropped:
        said = f"drop `{words.one_line(of.dropped)}` from the selector of {whose}"
    else:
        said = f"drop the selector of {whose}: {words.one_line(of.expression)}"
    return f"{said}{_users(of)}"


def _users(of: SelectorChanged) -> str:
    """Who else would get other devices."""
    if not of.used_by:
        return ""
    return f", which {words.listed([words.user(one) for one in of.used_by])} use{'s' if len(of.used_by) == 1 else ''}"


def _capacity(of: CapacityChanged) -> str:
    if not of.to:
        return f"do not ask for capacity {of.capacity}"
    if of.from_:
        return f"ask for {of.capacity} {of.to} instead of {of.from_}"
    return f"ask for capacity {of.to} instead of {of.capacity}"
