"""What cel-go computes before the first evaluation, and the errors this can end in, before any device is looked at.

It applies conversions to constants, and compiles constant patterns.
"""

from typing import Any

from msgspec import Struct

from dra_plan.cel.ast import Call, Checked, Const, Expr, List
from dra_plan.cel.walk import children

_PATTERN_POSITIONS = {"matches": 1, "find": 1, "findAll": 1}  # counted with the target


class Planned(Struct, frozen=True):
    """What became of an operand: a constant with its value, something else, or an error."""

    is_constant: bool
    value: Any = None
    problem: str | None = None


_VARIES = Planned(is_constant=False)


class _PlanningError(Exception):
    pass


def planning_error(checked: Checked) -> str | None:
    """Return the error that planning ends in, None when there is none."""
    try:
        _plan(checked.root, checked)
    except _PlanningError as error:
        return str(error)
    return None


def convert(overloads: tuple[str, ...], operand: Const | Planned) -> Planned:
    """Return the constant converted by one of the overloads."""
    from dra_plan.cel.library.base import OVERLOADS
    from dra_plan.cel.values import EvaluationError

    value = _value(operand) if isinstance(operand, Const) else operand.value
    for overload in overloads:
        known = OVERLOADS[overload]
        if not known.accepts([value]):
            continue
        try:
            result = known.function(value)
        except EvaluationError as fault:
            return Planned(is_constant=False, problem=str(fault))
        return Planned(is_constant=True, value=result)
    return Planned(is_constant=False, problem="no such overload")


def pattern_error(pattern: str) -> str | None:
    """Return what is wrong with a regular expression (RE2), None for a correct one."""
    from dra_plan.cel.library.patterns import compile_regex
    from dra_plan.cel.values import EvaluationError

    try:
        compile_regex(pattern)
    except EvaluationError as fault:
        return str(fault)
    return None


def _value(constant: Const) -> Any:
    from dra_plan.cel.values import Uint

    return Uint(constant.value) if constant.kind == "uint" and isinstance(constant.value, int) else constant.value


def _plan(expr: Expr, checked: Checked) -> Planned:
    match expr:
        case Const():
            return Planned(is_constant=True, value=_value(expr))
        case Call():
            return _call(expr, checked)
        case List() if not expr.optional_indices:
            elements = [_plan(element, checked) for element in expr.elements]
            if all(element.is_constant for element in elements):
                return Planned(is_constant=True, value=[element.value for element in elements])
            return _VARIES
    for part in children(expr):
        _plan(part, checked)
    return _VARIES


def _call(call: Call, checked: Checked) -> Planned:
    from dra_plan.cel.library.conversions import CONVERSIONS

    operands = [_plan(part, checked) for part in children(call)]
    position = _PATTERN_POSITIONS.get(call.function)
    if position is not None and position < len(operands):
        _check_pattern(operands[position])
    if call.function not in CONVERSIONS or len(operands) != 1 or not operands[0].is_constant:
        return _VARIES
    planned = convert(checked.overloads[call.id], operands[0])
    if planned.problem is not None:
        raise _PlanningError(planned.problem)
    return planned


def _check_pattern(operand: Planned) -> None:
    if operand.is_constant and isinstance(operand.value, str):
        problem = pattern_error(operand.value)
        if problem is not None:
            raise _PlanningError(problem)
