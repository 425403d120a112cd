"""Selections and comprehensions in the accounting evaluator (`interpret`), with cel-go's costs.

In order: one evaluation, and selection as in cel-go's attributes (`a.b`, `a[b]`, optional selection and `has()`);
planned expressions; and comprehensions, including cel.bind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import msgspec

from . import ast
from .ast import Expr
from .cost import COST_LIMIT, LIST_COST
from .values import (
    NONE,
    DefaultMap,
    EvaluationError,
    Optional,
    Uint,
    Value,
    check_text,
    cost_exceeded,
    entries_of,
    go_type_name,
    is_comparable,
    map_key,
    no_such_overload,
)

# -- one evaluation, and selecting from values -------------------------------------------------------------------------
# An attribute consists of a root (a variable or any other operand) and the qualifiers after it. Root and qualifiers are
# resolved together; the root is not observed separately, and each qualifier costs 1.


class Run:
    """An evaluation of an expression: the values of its variables, and its cost so far."""

    __slots__ = ("cost", "device", "slots")

    def __init__(self, slots: int, device: Value) -> None:
        self.slots: list[Value] = [UNSET] * slots
        self.device = device
        self.cost = 0

    def charge(self, cost: int) -> None:
        """Add to the cost of the evaluation. Raises Fatal if the limit is exceeded."""
        self.cost += cost
        if self.cost > COST_LIMIT:
            raise cost_exceeded()


UNSET = object()
"""A marker for a variable that has not been evaluated, or for a key that does not exist."""

Evaluate = Callable[[Run], Value]
"""A function that returns a value or an EvaluationError. It raises only Fatal."""


class Attribute(Protocol):
    """An operand, followed by qualifiers that select a field, key or index."""

    def resolve(self, run: Run) -> Value:
        """Return the value that the qualifiers select, or an EvaluationError."""

    def add(self, qualifier: Qualifier) -> None:
        """Add a qualifier, which selects from the value of the earlier qualifiers."""


class Qualifier:
    """A selection of a field, key or index. The key is either constant or computed by `dynamic`."""

    __slots__ = ("dynamic", "key", "only_test", "optional")

    def __init__(self, key: Value, dynamic: Evaluate | None, optional: bool, only_test: bool) -> None:
        self.key = key
        self.dynamic = dynamic
        self.optional = optional
        self.only_test = only_test

    def qualify(self, run: Run, value: Value) -> Value:
        """Return the selected value, or an EvaluationError."""
        if self.only_test:
            found = self.qualify_if_present(run, value)
            return found if type(found) is EvaluationError else found is not UNSET
        key = self.key if self.dynamic is None else self.dynamic(run)
        selected = key if type(key) is EvaluationError else select(value, key)
        run.charge(1)
        if selected is UNSET:
            return _missing(value, key)
        return selected

    def qualify_if_present(self, run: Run, value: Value) -> Value:
        """Return the selected value, UNSET if there is none, or an EvaluationError."""
        key = self.key if self.dynamic is None else self.dynamic(run)
        selected = key if type(key) is EvaluationError else select(value, key)
        if self.only_test or (selected is not UNSET and type(selected) is not EvaluationError):
            run.charge(1)
        return selected


class Chain:
    """A variable or another operand, followed by qualifiers."""

    __slots__ = ("qualifiers", "root")

    def __init__(self, root: Evaluate) -> None:
        self.root = root
        self.qualifiers: list[Qualifier] = []

    def add(self, qualifier: Qualifier) -> None:
        """Add a qualifier, which selects from the value of the earlier qualifiers."""
        self.qualifiers.append(qualifier)

    def resolve(self, run: Run) -> Value:
        """Return the value that the qualifiers select, or an EvaluationError."""
        value = self.root(run)
        if type(value) is EvaluationError:
            return value
        optional = type(value) is Optional
        if optional:
            if value is NONE:
                return value
            value = value.value
        for qualifier in self.qualifiers:
            if optional or qualifier.optional:
                optional = True
                value = qualifier.qualify_if_present(run, value)
                if value is UNSET:
                    return NONE
            else:
                value = qualifier.qualify(run, value)
            if type(value) is EvaluationError:
                return value
        return Optional(value) if optional else value


class Conditional:
    """A conditional `c ? a : b`, followed by qualifiers."""

    __slots__ = ("condition", "falsy", "truthy")

    def __init__(self, condition: Evaluate, truthy: Attribute, falsy: Attribute) -> None:
        self.condition = condition
        self.truthy = truthy
        self.falsy = falsy

    def add(self, qualifier: Qualifier) -> None:
        """Add a qualifier to both branches."""
        self.truthy.add(qualifier)
        self.falsy.add(qualifier)

    def resolve(self, run: Run) -> Value:
        """Return the value of the chosen branch, or an EvaluationError."""
        chosen = self.condition(run)
        if chosen is True:
            return self.truthy.resolve(run)
        if chosen is False:
            return self.falsy.resolve(run)
        return chosen if type(chosen) is EvaluationError else no_such_overload()


def select(value: Value, key: Value) -> Value:
    """Return the value for a key or index, UNSET if there is none, or an EvaluationError if the key is invalid."""
    if isinstance(value, dict):
        found = value.get(map_key(key), UNSET)
        return {} if found is UNSET and type(value) is DefaultMap else found
    if type(value) is list:
        index = _index(key)
        if type(index) is EvaluationError:
            return index
        return value[index] if 0 <= index < len(value) else UNSET
    return UNSET


def _index(key: Value) -> Value:
    kind = type(key)
    if kind is int or kind is Uint:
        return int(key)
    if kind is float and key.is_integer():
        return int(key)
    return EvaluationError("unsupported index type")


def _missing(value: Value, key: Value) -> EvaluationError:
    if type(value) is list:
        return EvaluationError(f"index out of bounds: {key}")
    shown = ("true" if key else "false") if type(key) is bool else key
    if not is_comparable(key):
        return EvaluationError("no such key")
    error = EvaluationError(f"no such key: {shown}")
    error.missing_key = True
    return error


def iterate(value: Value) -> Iterator[Value]:
    """Return the elements of a list, or the keys of a map."""
    return iter(value) if type(value) is list else (key for key, _value in entries_of(value))


# -- planned expressions -----------------------------------------------------------------------------------------------
# The step that evaluates an expression, and the facts that adjacent steps may use.


class Planned(msgspec.Struct, frozen=True, eq=False):
    """A planned expression. `attribute` is set if qualifiers can follow it.

    If `is_constant` is true, `constant` is the value of the expression.
    """

    evaluate: Evaluate
    attribute: Attribute | None = None
    is_constant: bool = False
    constant: Value = None


ValueObserver = Callable[[int, Value], None]


class StepPlanner(Protocol):
    """A planner for the parts of an expression.

    If there is an `observer`, each evaluation calls it with the ID and the value of each node.
    """

    observer: ValueObserver | None

    def new_slot(self) -> int:
        """Return a new slot for a variable."""

    def plan(self, expr: Expr, scope: Mapping[str, Evaluate]) -> Planned:
        """Return the planned expression. `scope` has the variables of the comprehensions around it."""


# -- folds -------------------------------------------------------------------------------------------------------------


def plan_fold(planner: StepPlanner, fold: ast.Comprehension, scope: Mapping[str, Evaluate]) -> Evaluate:
    """Return a function that evaluates a comprehension.

    As in upstream, the accumulator is initialized when it is first read.
    """
    over = planner.plan(fold.iter_range, scope).evaluate
    initial = planner.plan(fold.accu_init, scope)
    accumulator, first, second = planner.new_slot(), planner.new_slot(), planner.new_slot()
    builds = initial.is_constant and type(initial.constant) in (list, dict) and not initial.constant
    outer = {**scope, fold.accu_var: _lazy(accumulator, initial.evaluate, fresh=builds)}
    inner = {**scope, fold.iter_var: _local(first)}
    if fold.iter_var2:
        inner[fold.iter_var2] = _local(second)
    inner[fold.accu_var] = outer[fold.accu_var]
    condition = planner.plan(fold.loop_condition, inner).evaluate
    step = (_plan_growth(planner, fold, inner) if builds and planner.observer is None else None) or planner.plan(
        fold.loop_step, inner
    ).evaluate
    result = planner.plan(fold.result, outer).evaluate
    pairs = bool(fold.iter_var2)

    def evaluate(run: Run) -> Value:
        values = over(run)
        if type(values) is EvaluationError:
            return values
        if type(values) is not list and not isinstance(values, dict):
            return _not_iterable(values, pairs)
        slots = run.slots
        slots[accumulator] = UNSET
        for key, value in _entries(values) if pairs else ((item, None) for item in iterate(values)):
            slots[first], slots[second] = key, value
            if condition(run) is False:
                break
            slots[accumulator] = step(run)
        return result(run)

    return evaluate


def _not_iterable(values: Value, pairs: bool) -> EvaluationError:
    if pairs:
        return EvaluationError(f"unsupported comprehension range type: {go_type_name(values)}")
    return EvaluationError(f"got '{go_type_name(values)}', expected iterable type")


def _entries(values: Value) -> Iterator[tuple[Value, Value]]:
    if type(values) is list:
        yield from enumerate(values)
        return
    yield from entries_of(values)


def _local(slot: int) -> Evaluate:
    return lambda run: run.slots[slot]


def _lazy(slot: int, initial: Evaluate, *, fresh: bool) -> Evaluate:
    """Return the reader of the accumulator.

    A list or map that the fold builds belongs to it, so it can grow in place.
    """

    def read(run: Run) -> Value:
        value = run.slots[slot]
        if value is UNSET:
            value = initial(run)
            if fresh:
                value = type(value)()
            run.slots[slot] = value
        return value

    return read


def _plan_growth(planner: StepPlanner, fold: ast.Comprehension, scope: Mapping[str, Evaluate]) -> Evaluate | None:
    """Return the step `accumulator + [x]`, possibly conditional, without copying the list; None for other steps.

    No other reference to the list can exist: the accumulator's name cannot be written in an expression.
    """
    step: Expr = fold.loop_step
    if isinstance(step, ast.Call) and step.function == "_?_:_":
        condition = planner.plan(step.args[0], scope).evaluate
        grow = _plan_append(planner, fold, step.args[1], scope)
        keep = scope[fold.accu_var]
        return None if grow is None else _guarded(condition, grow, keep)
    return _plan_append(planner, fold, step, scope)


def _guarded(condition: Evaluate, grow: Evaluate, keep: Evaluate) -> Evaluate:
    def evaluate(run: Run) -> Value:
        chosen = condition(run)
        if chosen is True:
            return grow(run)
        if chosen is False:
            return keep(run)
        return chosen if type(chosen) is EvaluationError else EvaluationError("no such overload")

    return evaluate


def _plan_append(
    planner: StepPlanner, fold: ast.Comprehension, step: Expr, scope: Mapping[str, Evaluate]
) -> Evaluate | None:
    if not (isinstance(step, ast.Call) and step.args and _is_accumulator(step.args[0], fold)):
        return None
    if step.function == "cel.@mapInsert" and len(step.args) == 3:
        return _plan_insert(planner, step, scope, scope[fold.accu_var])
    addition = step.args[-1]
    if step.function != "_+_" or not isinstance(addition, ast.List):
        return None
    if len(addition.elements) != 1 or addition.optional_indices:
        return None
    element = planner.plan(addition.elements[0], scope)
    accumulator = scope[fold.accu_var]
    # A list that contains a constant is a constant, which costs nothing.
    list_cost = 0 if element.is_constant else LIST_COST

    def evaluate(run: Run) -> Value:
        values = accumulator(run)
        run.charge(1)
        value = element.evaluate(run)
        run.charge(list_cost + 1)
        if type(values) is EvaluationError:
            return values
        if type(value) is EvaluationError:
            return value
        values.append(value)
        check_text(len(values))
        return values

    return evaluate


def _plan_insert(
    planner: StepPlanner, step: ast.Call, scope: Mapping[str, Evaluate], accumulator: Evaluate
) -> Evaluate:
    """Return the step `accumulator with key: value`; as in upstream, it stops at the first operand that fails."""
    key_of, value_of = (planner.plan(argument, scope).evaluate for argument in step.args[1:])

    def evaluate(run: Run) -> Value:
        entries = accumulator(run)
        run.charge(1)
        if type(entries) is EvaluationError:
            return entries
        key = key_of(run)
        if type(key) is EvaluationError:
            return key
        value = value_of(run)
        run.charge(1)
        if type(value) is EvaluationError:
            return value
        place = map_key(key)
        if place in entries:
            return EvaluationError(f"insert failed: key {key} already exists")
        entries[place] = value
        return entries

    return evaluate


def _is_accumulator(expr: Expr, fold: ast.Comprehension) -> bool:
    return isinstance(expr, ast.Ident) and expr.name == fold.accu_var
