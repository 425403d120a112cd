"""Changes to selectors that might let devices pass: a name spelt right, another value, a part or the whole dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dra_plan.allocator.reasons import SelectorRefused
from dra_plan.allocator.requests import Want

from . import edits
from .change import Change, Data, about, edit_want
from .clauses import clauses
from .reasons import SelectorFailed
from .rewrites import other_values, spelling_fixes
from .scene import Scene
from .selectors import Finding

Rewrite = Callable[[str | None], Callable[[Scene], Scene]]


def of_selector(want: Want, refusal: SelectorRefused | SelectorFailed, found: Sequence[Finding]) -> Iterator[Change]:
    """What to try with a selector that refuses or fails; `found` are the parts of it that decide."""
    position, expression = refusal.position, refusal.expression
    of_class = refusal.class_name is not None
    data: Data = {"selector": position, "expression": expression}
    data = {"class": refusal.class_name, **data} if of_class else {**about(want), **data}
    change = _rewriter(want, refusal)
    for new in spelling_fixes(expression, found):
        yield Change("fix-spelling", {**data, "replacement": new}, change(new))
    if not of_class:
        for new in other_values(expression, found):
            yield Change("change-value", {**data, "replacement": new}, change(new))
    parts = clauses(expression)
    for finding in found if len(parts) > 1 else ():
        kept = " && ".join(part for part in parts if part != finding.clause)
        if finding.clause in parts and kept:
            made = {**data, "replacement": kept, "dropped": finding.clause}
            yield Change("loosen-class" if of_class else "loosen-selector", made, change(kept))
    if not of_class:
        yield Change("drop-selector", {**data, "replacement": None}, change(None))
    elif found and len(parts) == 1:
        yield Change("loosen-class", {**data, "replacement": None}, change(None))


def _rewriter(want: Want, refusal: SelectorRefused | SelectorFailed) -> Rewrite:
    """How to replace the selector; None takes it out."""
    name, position = refusal.class_name, refusal.position
    if name is None:
        return lambda new: edit_want(want, edits.set_selector(position, new))
    return lambda new: lambda scene: edits.set_class_selector(scene, name, position, new)
