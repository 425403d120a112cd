"""Changes to selectors that might let devices pass: a name spelt right, another value, a part or the whole dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from dra_plan.allocator.reasons import SelectorRefused
from dra_plan.allocator.requests import Want
from dra_plan.api import quantity
from dra_plan.cel.parts import clauses, references
from dra_plan.cel.rewrite import Comparison, comparison, renamed, with_amount, with_clause, with_domain, without_clause
from dra_plan.documents.suggestions import SelectorChanged
from dra_plan.explanation import edits
from dra_plan.explanation.names import request_name
from dra_plan.explanation.placement import Placement
from dra_plan.explanation.reasons import SelectorFailed
from dra_plan.explanation.selectors import DecisivePart, NamedValues
from dra_plan.near import nearest

from .change import Change

MOST_VALUES = 2
"""Values that are tried for one constant."""

Replacing = Callable[[str | None], Callable[[Placement], Placement]]


def of_selector(
    want: Want,
    refusal: SelectorRefused | SelectorFailed,
    found: Sequence[DecisivePart],
    nowhere: Collection[str] = (),
) -> Iterator[Change]:
    """What to try with a selector that refuses or fails; `found` are the parts of it that decide.

    What says which driver's devices are meant is never given up: others are other hardware. Nor are a class's clauses
    that are true `nowhere`.
    """
    position, expression = refusal.position, refusal.expression
    of_class = refusal.class_name is not None
    about = {"class_": refusal.class_name} if of_class else request_name(want)
    replacing = _replacing(want, refusal)

    def change(code: str, new: str | None, dropped: str = "") -> Change:
        told = SelectorChanged(
            code=code, **about, selector=position, expression=expression, replacement=new, dropped=dropped
        )
        return Change(told, replacing(new))

    for new in spelling_fixes(expression, found):
        yield change("fix-spelling", new)
    if not of_class:
        for new in other_values(expression, found):
            yield change("change-value", new)
    rules = [finding.clause for finding in found if not _names_driver(finding.clause)]
    given_up = [clause for clause in rules if not of_class or clause not in nowhere]
    for clause in given_up:
        kept = without_clause(expression, clause)
        if kept is not None:
            yield change("loosen-class" if of_class else "loosen-selector", kept, clause)
    if not of_class and (rules or not found):
        yield change("drop-selector", None)
    elif of_class and given_up and len(clauses(expression)) == 1:
        yield change("loosen-class", None)


def _names_driver(clause: str) -> bool:
    """Whether the clause is about nothing but the driver."""
    return {reference.kind for reference in references(clause)} == {"driver"}


def _replacing(want: Want, refusal: SelectorRefused | SelectorFailed) -> Replacing:
    """How to replace the selector; None takes it out."""
    name, position = refusal.class_name, refusal.position
    return lambda new: lambda placement: edits.replace_selector(placement, want, name, position, new)


def spelling_fixes(expression: str, found: Sequence[DecisivePart]) -> Iterator[str]:
    """The expression with each name, domain or type that was probably meant, one at a time."""
    for finding in found:
        for item in finding.found:
            if item.hint is None:
                continue
            if item.problem == "missing":
                yield renamed(expression, item.reference, item.hint)
            elif item.problem in ("wrong-domain", "unknown-domain"):
                yield with_domain(expression, item.reference.domain, item.hint)
            elif item.problem == "wrong-type":
                yield from (with_clause(expression, finding.clause, new) for new in _retyped(finding.clause, item))


def _retyped(clause: str, found: NamedValues) -> Iterator[str]:
    """The comparison with its constant as a type that the devices have."""
    compared = comparison(clause)
    if compared is not None:
        types = sorted({kind for kind, _ in found.values})
        yield from (new for published in types if (new := compared.retyped(published)) is not None)


def other_values(expression: str, found: Sequence[DecisivePart]) -> Iterator[str]:
    """The expression with a constant that no device has replaced by one that some have: the nearest, the commonest."""
    for finding in found:
        if len(finding.found) == 1 and finding.found[0].problem is None:
            for clause in _with_other_value(finding.clause, finding.found[0].values):
                yield with_clause(expression, finding.clause, clause)


def _with_other_value(clause: str, counted: Counter[tuple[str, Any]]) -> Iterator[str]:
    compared = comparison(clause)
    if compared is not None and compared.is_equal:
        yield from (compared.with_value(value) for value in _likely(compared, counted))
    elif compared is None:
        amounts = [str(value) for kind, value in counted if kind == "quantity"]
        bounded = with_amount(clause, max(amounts, key=lambda text: quantity.parse(text).nano)) if amounts else None
        if bounded is not None:
            yield bounded


def _likely(compared: Comparison, counted: Counter[tuple[str, Any]]) -> list[Any]:
    """Values that might have been meant; none if they are of another type."""
    values = [value for (kind, value), _ in counted.most_common() if kind == compared.type]
    if isinstance(compared.value, str):
        near = nearest(compared.value, values)
        values.sort(key=lambda value: value != near)
    return values[:MOST_VALUES]
