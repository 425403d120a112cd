"""Comprehensions in the accounting evaluator: cel-go's fold over a list or map, and cel.bind, which is one too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import ast
from .ast import Expr
from .cost import LIST_COST
from .planned import StepPlanner
from .qualify import UNSET, Evaluate, Run, iterate
from .values import EvaluationError, Value, check_text, entries_of, go_type_name, map_key


def plan_fold(planner: StepPlanner, fold: ast.Comprehension, scope: Mapping[str, Evaluate]) -> Evaluate:
    """The fold as evaluator; the accumulator gets its first value when it is first read, as upstream."""
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
    """Reads the accumulator. A list or map that the fold builds is its own, so that it can grow in place."""

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
    """The step `accumulator + [x]`, possibly behind a condition, without copying the list; None for other steps.

    Nothing else can hold the list: the accumulator's name can't be written in an expression.
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
    # A list of a constant is a constant, which costs nothing.
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
    """The step `accumulator with key: value`; as upstream it stops at the first operand that fails."""
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
