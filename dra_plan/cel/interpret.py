"""The accounting evaluator, which has exactly cel-go's costs and errors.

Planning follows cel-go: constants are folded, `in` with constants uses a set, and `?:` becomes an attribute. Errors are
values (EvaluationError), because cel-go evaluates the remaining operands of a failed call and charges for them. This
evaluator decides whenever the generated one (`generate`) gives up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dra_plan.cel.library.operators import IN_LIST, contained
from dra_plan.cel.library.overload import Cost, cost_of, matching
from dra_plan.cel.library.quantities import cell

from . import ast
from .ast import Expr
from .cost import COST_LIMIT, LIST_COST, MAP_COST, MESSAGE_COST, equality, inequality
from .folds import Attribute, Chain, Conditional, Evaluate, Planned, Qualifier, Run, ValueObserver, plan_fold
from .format_strings import Checked
from .library import Overload
from .messages import build_message
from .values import (
    NONE,
    EvaluationError,
    Fatal,
    Optional,
    Uint,
    Value,
    cost_exceeded,
    equal,
    kept,
    map_key,
    no_such_overload,
)


class Planner:
    """A planner for a checked expression.

    If there is an `observer`, each evaluation calls it with the ID and the value of each node.
    """

    def __init__(self, checked: Checked, *, exact_quantities: bool, observer: ValueObserver | None = None) -> None:
        self.checked = checked
        self.exact_quantities = exact_quantities
        self.observer = observer
        self.slot_count = 0

    def new_slot(self) -> int:
        """Return a new slot for a variable."""
        self.slot_count += 1
        return self.slot_count - 1

    def plan(self, expr: Expr, scope: Mapping[str, Evaluate]) -> Planned:
        """Return the planned expression. `scope` has the variables of the comprehensions around it."""
        step = self._plan(expr, scope)
        return step if self.observer is None else _observed(step, expr.id, self.observer)

    def _plan(self, expr: Expr, scope: Mapping[str, Evaluate]) -> Planned:
        if expr.id in self.checked.constants:
            return _constant(self.checked.constants[expr.id])
        match expr:
            case ast.Ident():
                return _attribute(Chain(scope.get(expr.name, _device)))
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
            case ast.Comprehension():
                return Planned(plan_fold(self, expr, scope))
        raise AssertionError(expr)  # literals are constants

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
        # Resolving a branch's attribute instead of evaluating it makes it cost one less.
        truthy, falsy = (
            branch.attribute if branch.attribute is not None and self.observer is None else Chain(branch.evaluate)
            for branch in branches
        )
        conditional = Conditional(condition.evaluate, truthy, falsy)
        return Planned(conditional.resolve, conditional)

    def _function(self, expr: ast.Call, steps: list[Planned]) -> Planned:
        overloads = self.checked.overloads[expr.id]
        if overloads == (IN_LIST,) and steps[1].is_constant:
            member = _set_membership(steps[0].evaluate, steps[1].constant)
            if member is not None:
                return member
        cost = cost_of(overloads)
        if expr.id in self.checked.results and not self.exact_quantities:
            result = self.checked.results[expr.id]
            return Planned(_known_call(result, cost([step.constant for step in steps], result)))
        stops_early = len(steps) > 2 or _stops_early(overloads, steps)
        evaluators = [step.evaluate for step in steps]
        return Planned(_function_call(evaluators, self._implementation(expr, overloads), cost, stops_early=stops_early))

    def _implementation(self, expr: ast.Call, overloads: tuple[Overload, ...]) -> Callable[[list[Value]], Value]:
        wraps = self.exact_quantities and expr.function == "quantity"

        def invoke(arguments: list[Value]) -> Value:
            function = matching(overloads, arguments)
            if function is None:
                raise no_such_overload()
            result = function(*arguments)
            return cell(result) if wraps else result

        return invoke

    def _list(self, expr: ast.List, scope: Mapping[str, Evaluate]) -> Planned:
        steps = [self.plan(element, scope) for element in expr.elements]
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
        parts = [
            (self.plan(e.key, scope).evaluate, self.plan(e.value, scope).evaluate, e.optional) for e in expr.entries
        ]

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


def _observed(step: Planned, identifier: int, observer: ValueObserver) -> Planned:
    def evaluate(run: Run) -> Value:
        value = step.evaluate(run)
        observer(identifier, value)
        return value

    return Planned(evaluate, step.attribute, step.is_constant, step.constant)


def _device(run: Run) -> Value:
    return run.device


def _constant(value: Value) -> Planned:
    return Planned(lambda _run: value, None, is_constant=True, constant=value)


def _attribute(attribute: Attribute) -> Planned:
    if isinstance(attribute, Conditional):
        return Planned(attribute.resolve, attribute)

    def evaluate(run: Run) -> Value:
        value = attribute.resolve(run)
        run.cost += 1
        if run.cost > COST_LIMIT:
            raise cost_exceeded()
        return value

    return Planned(evaluate, attribute)


def _has(attribute: Attribute) -> Planned:
    def evaluate(run: Run) -> Value:
        value = attribute.resolve(run)
        if isinstance(attribute, Conditional):
            run.cost -= 1  # upstream subtracts a cost that it never charged for a conditional
        return value is not NONE if type(value) is Optional else value

    return Planned(evaluate, attribute)


def _logical(evaluators: list[Evaluate], *, decisive: bool) -> Evaluate:
    """Return `||` (if `decisive` is True) or `&&`.

    The first decisive operand decides, even if earlier operands failed.
    """

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
    cost: Cost,
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
                    return failure  # upstream does not find the other arguments, and charges nothing for them
        if failure is not None:
            result: Value = failure
        else:
            try:
                result = invoke(arguments)
            except EvaluationError as fault:
                result = kept(fault)
        run.charge(cost(arguments, result))
        return result

    return evaluate


def _known_call(result: Value, cost: int) -> Evaluate:
    """Return a call with a known result."""

    def evaluate(run: Run) -> Value:
        run.charge(cost)
        return result

    return evaluate


def _stops_early(overloads: tuple[Overload, ...], steps: list[Planned]) -> bool:
    """Return whether upstream stops at the first argument that fails."""
    first = overloads[0]
    if first.singleton:
        return False
    return len(overloads) != 1 or first.any_number or (first.pattern and steps[1].is_constant)


def _caught(compute: Callable[[], Value]) -> Value:
    try:
        return compute()
    except EvaluationError as fault:
        return kept(fault)


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
    """Return `x in [constants]`, which costs nothing; None if upstream searches the list."""
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
        # A number that is too large for a double is compared with one as in upstream.
        return key in keys or (type(value) in (int, Uint, float) and contained(value, values))

    return Planned(evaluate)


class Evaluator:
    """A planned expression that can be evaluated any number of times."""

    def __init__(self, checked: Checked, *, exact_quantities: bool, observer: ValueObserver | None = None) -> None:
        planner = Planner(checked, exact_quantities=exact_quantities, observer=observer)
        self._root = planner.plan(checked.root, {}).evaluate
        self._slots = planner.slot_count

    def evaluate(self, device: Value) -> tuple[Value, int]:
        """Return the value of the expression, and the cost. `device` is the value of the variable `device`.

        Raises EvaluationError and Fatal.
        """
        value, cost = self.outcome(device)
        try:
            if isinstance(value, EvaluationError | Fatal):
                raise value
            return value, cost
        finally:
            del value  # this frame must not reference an error that refers to it: see `kept`

    def outcome(self, device: Value) -> tuple[Value | EvaluationError | Fatal, int]:
        """Return the value of the expression or the error that `evaluate` would raise, and the cost so far."""
        run = Run(self._slots, device)
        try:
            return self._root(run), run.cost
        except (EvaluationError, Fatal) as error:
            return kept(error), run.cost
