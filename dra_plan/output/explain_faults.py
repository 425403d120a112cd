"""The wording of errors that end an attempt: the object at fault first, the scheduler's own words last."""

from __future__ import annotations

from collections.abc import Callable

from dra_plan.documents.reasons import AttemptFault

from . import explain_words as words
from .explain_layout import Verbatim
from .explain_words import scheduler_says


def fault(of: AttemptFault) -> list[str]:
    """What ended the attempt: the cause, then the message in the scheduler's words."""
    return [*_FAULTS.get(of.code, _plain_fault)(of), scheduler_says(of.message.splitlines()[0])]


def _where(of: AttemptFault) -> str:
    if of.object is None:
        return "the input"
    thing = of.object
    name = f"{thing.namespace}/{thing.name}" if thing.namespace else thing.name
    return f"{thing.kind} {name}" + (f" ({of.source})" if of.source else "")


def _meant(of: AttemptFault) -> str:
    if of.hint:
        return f" Did you mean {of.hint}?"
    return f" There are: {words.listed(of.known, 8)}." if of.known else ""


def _selector_fault(of: AttemptFault) -> list[str]:
    number = f" #{of.selector}" if of.selector else ""
    asked = f", request {of.request}," if of.request else ""
    if of.code == "selector-compile":
        said = [f"The selector{number} of {_where(of)}{asked} does not compile:"]
    else:
        said = [f"The selector{number} of {_where(of)}{asked} fails on device {of.device}:"]
    said += _indented(of.expression or "")
    if of.rewrite:
        outcome = {"Fits": "the claims fit", "DoesNotFit": "there is no error, but the claims do not fit"}
        then = outcome.get(of.rewrite.outcome, f"the answer is {of.rewrite.outcome}")
        said += [f"Written like this {then} (tried):", *_indented(of.rewrite.expression)]
    if of.gate:
        said.append(f"The device has a list attribute, and feature gate {of.gate} is off.")
    return said


def _indented(expression: str) -> list[str]:
    return [Verbatim(f"    {line}") for line in expression.strip().splitlines()]


def _class_missing(of: AttemptFault) -> list[str]:
    name = of.missing.name if of.missing is not None else ""
    return [f"{_where(of)}, request {of.request or ''}: device class {name} does not exist.{_meant(of)}"]


def _feature_off(of: AttemptFault) -> list[str]:
    return [f"{_where(of)}, request {of.request or ''}: needs feature gate {of.gate or ''}, which is off."]


def _plain_fault(of: AttemptFault) -> list[str]:
    kind = _KINDS.get(of.code, "error")
    if of.object is None:
        return [f"{words.capital(kind)}.{_meant(of)}"]
    asked = f", request {of.request}" if of.request else ""
    return [f"{_where(of)}{asked}: {kind}.{_meant(of)}"]


def _set_error(of: AttemptFault) -> list[str]:
    if of.missing is None:
        return [f"{_where(of)}: its claims can't be told."]
    missing = of.missing
    return [f"{_where(of)} needs {missing.kind} {words.claim(missing)}, which is not in the input.{_meant(of)}"]


ABOUT_POOLS = ("all-and-broken-pool", "invalid-pool")
"""Errors that are owed to pools which are incomplete or invalid."""

_KINDS = {
    "class-not-named": "the request names no device class",
    "count-mode": "the allocation mode is not known",
    "request-empty": "a request or selector is empty, or of a kind that is not known",
    "too-many-devices": "the claim asks for more than the 32 devices that a claim may have",
    "constraint-unknown": "a constraint is empty, or of a kind that this release does not know",
    "capacity-request": "a capacity request is negative, or steps can't be counted for it",
    "all-and-broken-pool": "a request for all devices fails while any pool of the node is incomplete or invalid",
    "all-and-constraint": "a request for all devices has a device that its constraint refuses",
    "invalid-pools": "nothing was found, and an invalid pool was passed over",
    "invalid-pool": "the search came to an invalid pool",
    "node-selector-terms": "a device's node selector has several terms, which this release can't write down",
    "node-selector-invalid": "a node selector can't be read",
}

_FAULTS: dict[str, Callable[[AttemptFault], list[str]]] = {
    "selector-compile": _selector_fault,
    "selector-runtime": _selector_fault,
    "claim-set-error": _set_error,
    "class-missing": _class_missing,
    "feature-off": _feature_off,
}
