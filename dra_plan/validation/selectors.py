"""DRA12x: selectors as the API server judges them: compiled by the rules for new expressions, with estimated cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import DeviceSelector
from dra_plan.cel import compile_selector
from dra_plan.cel.cost import COST_LIMIT
from dra_plan.cel.lexer import CelCompileError
from dra_plan.cel.rewrite import with_compare_to
from dra_plan.releases import Target

from .limits import SELECTORS, at_most
from .rule import Problem, refused

NO_CEL = refused(
    "DRA120",
    "selector without an expression",
    "CEL is the only kind of selector; the API server refuses an entry without it.",
    "Write `- cel: {expression: ...}`.",
)
DOES_NOT_COMPILE = refused(
    "DRA121",
    "selector that does not compile",
    "The API server compiles every expression when the object is written, with the functions that the release allows "
    "in new expressions, and refuses it.",
    "See the message: it points to the place.",
)
TOO_COSTLY = refused(
    "DRA122",
    "selector whose estimated cost is over the limit",
    "The API server estimates the worst case from the limits of the API, not from the devices that exist.",
    "Put cheap conditions first; avoid nested comprehensions and regular expressions.",
)
_NO_BOUND = 2**64 - 1
"""What the estimate gives for everything beyond."""
RULES = (NO_CEL, DOES_NOT_COMPILE, TOO_COSTLY)


def check(path: FieldPath, selectors: Sequence[DeviceSelector], target: Target) -> Iterator[Problem]:
    """The selectors of a class or request."""
    yield from at_most(path, selectors, SELECTORS, "selector")
    for index, selector in enumerate(selectors):
        at = (*path, index, "cel")
        if selector.cel is None:
            yield NO_CEL.at(at, "missing")
        elif not selector.cel.expression:
            yield NO_CEL.at((*at, "expression"), "missing or empty")
        else:
            yield from expression((*at, "expression"), selector.cel.expression, target)


def expression(path: FieldPath, text: str, target: Target) -> Iterator[Problem]:
    """One expression."""
    try:
        selector = compile_selector(text, kubernetes_version=target.version, feature_gates=target.gates, rules="new")
        cost = selector.max_cost
    except CelCompileError as failure:
        better = _with_compare_to(text, target)
        message = f"{_COMPARED}{_without_excerpts(str(failure))}" if better else _without_excerpts(str(failure))
        yield replace(DOES_NOT_COMPILE.at(path, message, better), offset=failure.offset)
        return
    if cost > COST_LIMIT:
        shown = "without bound" if cost >= _NO_BOUND else str(cost)
        yield TOO_COSTLY.at(path, f"estimated cost {shown}; at most {COST_LIMIT} is allowed")


_COMPARED = "quantities and versions are compared with compareTo: "


def _with_compare_to(text: str, target: Target) -> str:
    """The expression with `compareTo` where signs compare amounts; empty where that is not what is wrong."""
    better = with_compare_to(text)
    if better is None:
        return ""
    try:
        compile_selector(better, kubernetes_version=target.version, feature_gates=target.gates, rules="new")
    except CelCompileError:
        return ""
    return better


def _without_excerpts(text: str) -> str:
    """The compiler's errors in one line, without the lines of the expression that it repeats."""
    return "; ".join(line.strip() for line in text.split("\n") if not line.startswith(" |"))
