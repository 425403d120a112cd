"""The accounting evaluator: an expression as closures, with costs and errors exactly as cel-go's interpreter has them.

It plans as cel-go plans: constants are folded, `in` with constants becomes a set, `?:` an attribute. Errors are values
(EvaluationError) because cel-go evaluates the other operands of a failed call, and charges for them. The quick
evaluator is generated from the same expression by `generate`; this one decides wherever that meets an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from dra_plan.cel import ast
from dra_plan.cel.ast import Checked, Expr
from dra_plan.cel.cost import LIMIT, LIST_COST, MAP_COST, MESSAGE_COST, call_cost, equality, inequality
from dra_plan.cel.folds import plan_fold
from dra_plan.cel.library import OVERLOADS
from dra_plan.cel.library.conversions import CONVERSIONS
from dra_plan.cel.library.operators import SINGLETONS, contained
from dra_plan.cel.library.quantities import cell
from dra_plan.cel.messages import build_message
from dra_plan.cel.qualify import Attribute, Chain, Conditional, Evaluate, Qualifier, Run
from dra_plan.cel.values import (
    NONE,
    EvaluationError,
    Optional,
    TypeValue,
    Uint,
    Value,
    cost_exceeded,
    equal,
    map_key,
    no_such_overload,
)

_PATTERN_FUNCTIONS = frozenset(("matches", "find", "findAll"))
_PARSERS = frozenset(("quantity", "isQuantity", "semver", "isSemver", "ip", "isIP", "cidr", "isCIDR", "url", "isURL"))
"""Functions of text whose results never change: those of constants are made once, and charged every time."""
_FUNCTIONS_OF_MANY = frozenset(("string_format",))
"""Overloads that upstream binds with any number of arguments: it stops at the first argument that fails."""


class Planned(msgspec.Struct, frozen=True, eq=False):
    """A planned expression. `attribute` is set when it is one, `constant` holds the value when `is_constant`."""

    evaluate: Evaluate
    attribute: Attribute | None = None
    is_constant: bool = False
    constant: Value = None


Observer = Callable[[int, Value], None]


class Planner:
    """Plans one checked expression. `observer` is told the value of every step, by node id."""

    def __init__(self, checked: Checked, *, exact_quantities: bool, observer: Observer | None = None) -> None:
        self.checked = checked
        self.exact_quantities = exact_quantities
        self.observer = observer
        self.slot_count = 0

    def new_slot(self) -> int:
        """The place of one more variable."""
        self.slot_count += 1
        return self.slot_count - 1

    def plan(self, expr: Expr, scope: Mapping[str, Evaluate]) -> Planned:
        """The expression as a step; `scope` gives the variables of the comprehensions around it."""
        step = self._plan(expr, scope)
        return step if self.observer is None else _observed(step, expr.id, self.observer)

    def _plan(self, expr: Expr, scope: Mapping[str, Evaluate]) -> Planned:
        match expr:
            case ast.Const():
                return _constant(Uint(expr.value) if expr.kind == "uint" else expr.value)  # type: ignore[arg-type]
            case ast.Ident():
                return self._ident(expr, scope)
            case ast.Select():
                return self._select(expr, scope)
            case ast.Call():
                return self._call(expr, scope)
            case ast.List():
                return self._list(expr, scope)
            case ast.Map():
                return self._map(expr, scope)
            case ast.Message():
                return self._message(expr, scope)
        return Planned(plan_fold(self, expr, scope))

    def _ident(self, expr: ast.Ident, scope: Mapping[str, Evaluate]) -> Planned:
        local = scope.get(expr.name)
        if local is not None:
            return _attribute(Chain(local))
        name = self.checked.idents.get(expr.id, expr.name)
        if self.checked.types[expr.id].kind == "type":
            return _constant(TypeValue(name))
        return _attribute(Chain(lambda run: run.device))

    def _select(self, expr: ast.Select, scope: Mapping[str, Evaluate]) -> Planned:
        attribute = self._operand(expr.operand, scope)
        attribute.add(Qualifier(expr.field, None, optional=False, only_test=expr.test_only))
        return _has(attribute) if expr.test_only else _attribute(attribute)

    def _operand(self, expr: Expr, scope: Mapping[str, Evaluate]) -> Attribute:
        operand = self.plan(expr, scope)
        return operand.attribute or Chain(operand.evaluate)

    def _index(self, expr: ast.Call, scope: Mapping[str, Evaluate], *, optional: bool) -> Planned:
        attribute = self._operand(expr.args[0], scope)
        index = self.plan(expr.args[1], scope)
        dynamic = None
        if not index.is_constant:
            dynamic = index.attribute.resolve if index.attribute is not None else index.evaluate
        attribute.add(Qualifier(index.constant, dynamic, optional=optional, only_test=False))
        return _attribute(attribute)

    def _call(self, expr: ast.Call, scope: Mapping[str, Evaluate]) -> Planned:
        function = expr.function
        if function in ("_[_]", "_?._", "_[?_]"):
            return self._index(expr, scope, optional=function != "_[_]")
        operands = expr.args if expr.target is None else (expr.target, *expr.args)
        steps = [self.plan(operand, scope) for operand in operands]
        evaluators = [step.evaluate for step in steps]
        if function in ("_&&_", "_||_"):
            return Planned(_logical(evaluators, decisive=function == "_||_"))
        if function == "_?_:_":
            return self._conditional(steps)
        if function in ("_==_", "_!=_"):
            return Planned(_equality(*evaluators, negated=function == "_!=_"))
        if function == "@not_strictly_false":
            return Planned(_not_strictly_false(evaluators[0]))
        if function in ("or", "orValue"):
            return Planned(_alternative(*evaluators, unwrapped=function == "orValue"))
        return self._function(expr, steps)

    def _conditional(self, steps: list[Planned]) -> Planned:
        condition, *branches = steps
        # Resolving a branch's attribute instead of evaluating it is what makes it cost one less.
        truthy, falsy = (
            branch.attribute if branch.attribute is not None and self.observer is None else Chain(branch.evaluate)
            for branch in branches
        )
        conditional = Conditional(condition.evaluate, truthy, falsy)
        return Planned(conditional.resolve, conditional)

    def _function(self, expr: ast.Call, steps: list[Planned]) -> Planned:
        candidates = self.checked.overloads.get(expr.id, ())
        only = candidates[0] if len(candidates) == 1 else ""
        if only == "in_list" and steps[1].is_constant:
            member = _set_membership(steps[0].evaluate, steps[1].constant)
            if member is not None:
                return member
        invoke, stops_early = self._implementation(expr, candidates, steps)
        if expr.function in CONVERSIONS and len(steps) == 1 and steps[0].is_constant:
            return _constant(invoke([steps[0].constant]))
        cost = call_cost(expr.function, only)
        if expr.function in _PARSERS and not self.exact_quantities and all(step.is_constant for step in steps):
            parsed = _parsed_once(invoke, cost, [step.constant for step in steps])
            if parsed is not None:
                return Planned(parsed)
        evaluators = [step.evaluate for step in steps]
        return Planned(_function_call(evaluators, invoke, cost, stops_early=stops_early or len(steps) > 2))

    def _implementation(
        self, expr: ast.Call, candidates: tuple[str, ...], steps: list[Planned]
    ) -> tuple[Callable[[list[Value]], Value], bool]:
        """How to compute the call, and whether upstream stops at the first argument that fails."""
        singleton = SINGLETONS.get(expr.function)
        if singleton is not None:
            return lambda arguments: singleton(*arguments), False
        overloads = [OVERLOADS[name] for name in candidates if name in OVERLOADS]
        wraps = self.exact_quantities and expr.function == "quantity"

        def invoke(arguments: list[Value]) -> Value:
            for overload in overloads:
                if overload.accepts(arguments):
                    result = overload.function(*arguments)
                    return cell(result) if wraps else result
            raise no_such_overload()

        by_pattern = expr.function in _PATTERN_FUNCTIONS and len(steps) > 1 and steps[1].is_constant
        return invoke, by_pattern or len(candidates) != 1 or candidates[0] in _FUNCTIONS_OF_MANY

    def _list(self, expr: ast.List, scope: Mapping[str, Evaluate]) -> Planned:
        steps = [self.plan(element, scope) for element in expr.elements]
        if all(step.is_constant for step in steps) and not expr.optional_indices:
            return _constant([step.constant for step in steps])
        optional = frozenset(expr.optional_indices)
        elements = [(step.evaluate, index in optional) for index, step in enumerate(steps)]

        def build(run: Run) -> Value:
            values: list[Value] = []
            for evaluate, is_optional in elements:
                value = evaluate(run)
                if type(value) is not EvaluationError and is_optional:
                    if value is NONE:
                        continue
                    value = _unwrapped(value, "list element")
                if type(value) is EvaluationError:
                    run.charge(LIST_COST)
                    return value
                values.append(value)
            run.charge(LIST_COST)
            return values

        return Planned(build)

    def _map(self, expr: ast.Map, scope: Mapping[str, Evaluate]) -> Planned:
        entries = [(self.plan(e.key, scope), self.plan(e.value, scope), e.optional) for e in expr.entries]
        if all(key.is_constant and value.is_constant and not optional for key, value, optional in entries):
            return _constant({map_key(key.constant): value.constant for key, value, _ in entries})
        parts = [(key.evaluate, value.evaluate, optional) for key, value, optional in entries]

        def build(run: Run) -> Value:
            result = _build_map(run, parts)
            run.charge(MAP_COST)
            return result

        return Planned(build)

    def _message(self, expr: ast.Message, scope: Mapping[str, Evaluate]) -> Planned:
        fields = [(field.field, self.plan(field.value, scope).evaluate, field.optional) for field in expr.fields]

        def build(run: Run) -> Value:
            values: dict[str, Value] = {}
            result: Value = None
            for name, evaluate, optional in fields:
                value = evaluate(run)
                if type(value) is not EvaluationError and optional:
                    if value is NONE:
                        continue
                    value = _unwrapped(value, "entry")
                if type(value) is EvaluationError:
                    result = value
                    break
                values[name] = value
            else:
                result = _caught(lambda: build_message(expr.name, values))
            run.charge(MESSAGE_COST)
            return result

        return Planned(build)


def _observed(step: Planned, identifier: int, observer: Observer) -> Planned:
    def evaluate(run: Run) -> Value:
        value = step.evaluate(run)
        observer(identifier, value)
        return value

    return Planned(evaluate, step.attribute, step.is_constant, step.constant)


def _constant(value: Value) -> Planned:
    return Planned(lambda _run: value, None, is_constant=True, constant=value)


def _attribute(attribute: Attribute) -> Planned:
    if isinstance(attribute, Conditional):
        return Planned(attribute.resolve, attribute)

    def evaluate(run: Run) -> Value:
        value = attribute.resolve(run)
        run.cost += 1
        if run.cost > LIMIT:
            raise cost_exceeded()
        return value

    return Planned(evaluate, attribute)


def _has(attribute: Attribute) -> Planned:
    def evaluate(run: Run) -> Value:
        value = attribute.resolve(run)
        if isinstance(attribute, Conditional):
            run.cost -= 1  # upstream takes off what it never charged for a conditional
        return value is not NONE if type(value) is Optional else value

    return Planned(evaluate, attribute)


def _logical(evaluators: list[Evaluate], *, decisive: bool) -> Evaluate:
    """`||` (decisive True) or `&&`: the first decisive operand decides, whatever failed before it."""

    def evaluate(run: Run) -> Value:
        failure: EvaluationError | None = None
        for operand in evaluators:
            value = operand(run)
            if value is decisive:
                return decisive
            if type(value) is not bool and failure is None:
                failure = value if type(value) is EvaluationError else no_such_overload()
        return (not decisive) if failure is None else failure

    return evaluate


def _equality(left: Evaluate, right: Evaluate, *, negated: bool) -> Evaluate:
    charge = inequality if negated else equality

    def evaluate(run: Run) -> Value:
        mine, theirs = left(run), right(run)
        result: Value
        if type(mine) is EvaluationError:
            result = mine
        elif type(theirs) is EvaluationError:
            result = theirs
        else:
            result = equal(mine, theirs)
            if negated:
                result = result is not True
        run.charge(charge(mine, theirs))
        return result

    return evaluate


def _not_strictly_false(operand: Evaluate) -> Evaluate:
    def evaluate(run: Run) -> Value:
        value = operand(run)
        run.charge(1)
        return value is not False

    return evaluate


def _alternative(left: Evaluate, right: Evaluate, *, unwrapped: bool) -> Evaluate:
    def evaluate(run: Run) -> Value:
        value = left(run)
        if type(value) is not Optional:
            return value
        if value is NONE:
            return right(run)
        return value.value if unwrapped else value

    return evaluate


def _function_call(
    evaluators: list[Evaluate],
    invoke: Callable[[list[Value]], Value],
    cost: Callable[[list[Value], Value], int],
    *,
    stops_early: bool,
) -> Evaluate:
    last = len(evaluators) - 1

    def evaluate(run: Run) -> Value:
        arguments: list[Value] = []
        failure: EvaluationError | None = None
        for position, operand in enumerate(evaluators):
            value = operand(run)
            arguments.append(value)
            if type(value) is EvaluationError and failure is None:
                failure = value
                if stops_early and position < last:
                    return failure  # upstream does not find the other arguments, and charges nothing
        if failure is not None:
            result: Value = failure
        else:
            try:
                result = invoke(arguments)
            except EvaluationError as fault:
                result = fault
        run.charge(cost(arguments, result))
        return result

    return evaluate


def _parsed_once(
    invoke: Callable[[list[Value]], Value], cost: Callable[[list[Value], Value], int], constants: list[Value]
) -> Evaluate | None:
    """The call with its result known; None for one that fails, whose error must be a new one every time."""
    try:
        result = invoke(constants)
    except EvaluationError:
        return None
    charge = cost(constants, result)

    def evaluate(run: Run) -> Value:
        run.charge(charge)
        return result

    return evaluate


def _caught(compute: Callable[[], Value]) -> Value:
    try:
        return compute()
    except EvaluationError as fault:
        return fault


def _unwrapped(value: Value, what: str) -> Value:
    if type(value) is Optional:
        return value.value
    return EvaluationError(f"cannot initialize optional {what} from non-optional value")


def _build_map(run: Run, parts: list[tuple[Evaluate, Evaluate, bool]]) -> Value:
    result: dict[Value, Value] = {}
    for evaluate_key, evaluate_value, optional in parts:
        key = evaluate_key(run)
        if type(key) is EvaluationError:
            return key
        value = evaluate_value(run)
        if type(value) is not EvaluationError and optional:
            if value is NONE:
                result.pop(map_key(key), None)
                continue
            value = _unwrapped(value, "entry")
        if type(value) is EvaluationError:
            return value
        result[map_key(key)] = value
    return result


_PRIMITIVE = (bool, int, Uint, float, str)


def _set_membership(operand: Evaluate, values: list[Value]) -> Planned | None:
    """`x in [constants]`, which costs nothing; None where upstream searches the list."""
    if not values:
        return _constant(value=False)
    if not all(type(value) in _PRIMITIVE for value in values):
        return None
    keys = frozenset(map(map_key, values))

    def evaluate(run: Run) -> Value:
        value = operand(run)
        if type(value) is EvaluationError:
            return value
        key = map_key(value)
        # A number that is too large for a double is compared with one as upstream compares them.
        return key in keys or (type(value) in (int, Uint, float) and contained(value, values))

    return Planned(evaluate)


class Evaluator:
    """A planned expression, ready to be evaluated any number of times; raises EvaluationError and Fatal."""

    def __init__(self, checked: Checked, *, exact_quantities: bool, observer: Observer | None = None) -> None:
        planner = Planner(checked, exact_quantities=exact_quantities, observer=observer)
        self._root = planner.plan(checked.root, {}).evaluate
        self._slots = planner.slot_count

    def evaluate(self, device: Value) -> tuple[Value, int]:
        """The value and the cost for the value of the variable `device`."""
        run = Run(self._slots, device)
        value = self._root(run)
        if type(value) is EvaluationError:
            raise value
        return value, run.cost
