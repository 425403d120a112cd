"""The quantity library.

Upstream's functions work on pointers, and some of them change their target: comparing it with an amount that is stored
as a decimal turns it into a decimal, and add and sub write into a target that is a decimal. Where an expression can
observe this, amounts are stored in a QuantityCell (see `interpret`). Otherwise, they are plain values.
"""

from __future__ import annotations

from collections.abc import Callable

from dra_plan.api import quantity as api
from dra_plan.api.quantity import Quantity, QuantityError
from dra_plan.cel.types import BOOL, DOUBLE, INT, QUANTITY, STRING
from dra_plan.cel.values import EvaluationError, QuantityBox, QuantityCell, Value

from .overload import Library, member, plain
from .prices import PARSED


def to_quantity(text: str) -> Quantity:
    """Return the amount in the text. Raises EvaluationError if the text is not a quantity."""
    try:
        return api.parse_strict(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from None


def is_quantity(text: str) -> bool:
    """Return whether the text is a quantity."""
    try:
        api.parse_strict(text)
    except QuantityError:
        return False
    return True


def cell(amount: Quantity) -> QuantityCell:
    """Return the amount in a new QuantityCell."""
    return QuantityCell(QuantityBox(amount), computed=False)


def amount_of(value: Value) -> Quantity:
    """Return the amount of a quantity, which may be in a QuantityCell."""
    held: Quantity = value.amount.quantity if type(value) is QuantityCell else value
    return held


def _compare(left: Value, right: Value) -> int:
    mine, theirs = amount_of(left), amount_of(right)
    order = api.compare(mine, theirs)
    if theirs.decimal and not mine.decimal and type(left) is QuantityCell:
        left.amount = QuantityBox(api.to_decimal(mine))
    return order


def _arithmetic(left: Value, right: Quantity, operation: Callable[[Quantity, Quantity], Quantity]) -> Value:
    mine = amount_of(left)
    try:
        result = operation(mine, right)
    except QuantityError as error:
        raise EvaluationError(str(error)) from None
    if not mine.decimal or type(left) is not QuantityCell:
        return QuantityCell(QuantityBox(result), computed=True)
    # The receiver's decimal now has the result's value.
    left.amount.quantity = result
    return QuantityCell(left.amount, computed=True)


def sign(value: Value) -> int:
    """Return the sign of the amount: -1, 0 or 1."""
    return amount_of(value).sign


def is_greater_than(left: Value, right: Value) -> bool:
    """Return whether the left amount is greater than the right one."""
    return _compare(left, right) > 0


def is_less_than(left: Value, right: Value) -> bool:
    """Return whether the left amount is less than the right one."""
    return _compare(left, right) < 0


def compare_to(left: Value, right: Value) -> int:
    """Return -1, 0 or 1 if the left amount is less than, equal to, or greater than the right one."""
    return _compare(left, right)


def as_approximate_float(value: Value) -> float:
    """Return the amount as a double."""
    return amount_of(value).approximate_float


def as_integer(value: Value) -> int:
    """Return the amount as an int. Raises EvaluationError if `is_integer` is false."""
    number = amount_of(value).as_int64
    if number is None:
        raise EvaluationError("cannot convert value to integer")
    return number


def is_integer(value: Value) -> bool:
    """Return whether Go's `AsInt64` can return the amount."""
    return amount_of(value).as_int64 is not None


def add(left: Value, right: Value) -> Value:
    """Return the sum of two amounts."""
    return _arithmetic(left, amount_of(right), api.add)


def add_int(left: Value, right: int) -> Value:
    """Return the sum of an amount and an int."""
    return _arithmetic(left, api.make(right, 0, "DecimalExponent"), api.add)


def subtract(left: Value, right: Value) -> Value:
    """Return the difference of two amounts."""
    return _arithmetic(left, amount_of(right), api.subtract)


def subtract_int(left: Value, right: int) -> Value:
    """Return the difference of an amount and an int."""
    return _arithmetic(left, api.make(right, 0, "DecimalExponent"), api.subtract)


_TWO, _WITH_INT = (QUANTITY, QUANTITY), (QUANTITY, INT)

QUANTITIES = Library(
    name="kubernetes quantity",
    since=(1, 28),
    functions={
        "quantity": (plain("string_to_quantity", (STRING,), QUANTITY, to_quantity, PARSED, once=True),),
        "isQuantity": (plain("is_quantity_string", (STRING,), BOOL, is_quantity, PARSED, once=True),),
        "sign": (plain("quantity_sign", (QUANTITY,), INT, sign),),  # not a member, contrary to upstream's documentation
        "isGreaterThan": (member("quantity_is_greater_than", _TWO, BOOL, is_greater_than),),
        "isLessThan": (member("quantity_is_less_than", _TWO, BOOL, is_less_than),),
        "compareTo": (member("quantity_compare_to", _TWO, INT, compare_to),),
        "asApproximateFloat": (member("quantity_get_float", (QUANTITY,), DOUBLE, as_approximate_float),),
        "asInteger": (member("quantity_get_int", (QUANTITY,), INT, as_integer),),
        "isInteger": (member("quantity_is_integer", (QUANTITY,), BOOL, is_integer),),
        "add": (
            member("quantity_add", _TWO, QUANTITY, add),
            member("quantity_add_int", _WITH_INT, QUANTITY, add_int),
        ),
        "sub": (
            member("quantity_sub", _TWO, QUANTITY, subtract),
            member("quantity_sub_int", _WITH_INT, QUANTITY, subtract_int),
        ),
    },
)
