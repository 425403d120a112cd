"""The wording of suggestions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import explain_words as words

Data = dict[str, Any]


INLINE = 2
"""Changes that stand in one sentence; more of them stand in a list below it."""


def suggestion(of: Data) -> list[str]:
    """Changes that were tried together, and where the claims then fit; a list below the first line if they are many."""
    changes = [_CHANGES[change["code"]](change) for change in of["changes"]]
    fits = f"(then it fits on {of['node']})"
    if len(changes) <= INLINE:
        return [f"{', and '.join(changes)} {fits}"]
    return [f"make {len(changes)} changes together {fits}:", *(f"- {change}" for change in changes)]


def _whose(of: Data) -> str:
    return f"class {of['class']}" if "class" in of else words.request(of)


def _rewritten(of: Data, verb: str) -> str:
    number = f" #{of['selector']}" if of["selector"] else ""
    return f"{verb} the selector{number} of {_whose(of)} to {words.one_line(of['replacement'])}"


def _loosened(of: Data) -> str:
    if of.get("dropped"):
        return f"drop `{words.one_line(of['dropped'])}` from the selector of {_whose(of)}"
    return f"drop the selector of {_whose(of)}: {words.one_line(of['expression'])}"


def _tolerated(of: Data) -> str:
    wanted = of["toleration"]
    return f"tolerate the taint {words.taint({'value': '', **wanted})} in {words.request(of)}"


def _released(of: Data) -> str:
    return f"release claim {words.holder({**of['release'], 'pods': of.get('pods')})}"


_CHANGES: dict[str, Callable[[Data], str]] = {
    "guard-selector": lambda of: _rewritten(of, "extend"),
    "fix-spelling": lambda of: _rewritten(of, "correct"),
    "tolerate-taint": _tolerated,
    "wait-for-slice": lambda of: (
        f"wait until pool {words.pool(of['pool'])} is complete "
        f"({of['seen']} of {of['expected']} slices are there, and they would do)"
    ),
    "lower-count": lambda of: f"ask for {of['to']} instead of {of['from']} in {words.request(of)}",
    "lower-capacity": lambda of: f"ask for {of['capacity']} {of['to']} instead of {of['from']} in {words.request(of)}",
    "rename-capacity": lambda of: f"ask for capacity {of['to']} instead of {of['capacity']} in {words.request(of)}",
    "drop-capacity": lambda of: f"do not ask for capacity {of['capacity']} in {words.request(of)}",
    "count-instead-of-all": lambda of: (
        f"ask for {words.counted(of['to'], 'device')} instead of all in {words.request(of)}"
    ),
    "change-value": lambda of: _rewritten(of, "change"),
    "add-alternative": lambda of: (
        f"add to {words.request(of)} an alternative of class {of['class']}, count {of['count']}"
    ),
    "loosen-selector": _loosened,
    "drop-selector": _loosened,
    "drop-constraint": lambda of: (
        f"drop constraint #{of['constraint']} ({of['attribute']}) of claim {of['claim']['name']}"
    ),
    "change-class": lambda of: f"use class {of['to']} in {words.request(of)}",
    "loosen-class": _loosened,
    "label-node": lambda of: f"label the node {', '.join(f'{k}={v}' for k, v in of['labels'].items())}",
    "release-claim": _released,
    "drop-request": lambda of: f"leave out {words.request(of)}",
    "enable-gate": lambda of: f"switch on feature gate {of['gate']}",
}
