"""Amounts as Kubernetes writes them (`10Gi`, `500m`, `1e3`): parsing, formatting, comparison and arithmetic.

The rules are those of apimachinery's `resource.Quantity`. Go stores an amount either as an int64 with a decimal scale
or as an arbitrary-precision decimal. The two behave differently (`as_int64`, `is_identical`), so this module
distinguishes them too.
"""

from __future__ import annotations

import functools
import re
from typing import Literal

import msgspec

from dra_plan.errors import DraPlanError

Format = Literal["BinarySI", "DecimalSI", "DecimalExponent"]

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)

_NANO = -9
_MAX_DIGITS = 4000
"""The maximum number of digits; Go has no limit, but no hardware has a googol of anything."""
_MAX_SHIFT = 100_000
"""The widest gap between two scales that arithmetic fills with zeros; exponents come from untrusted text."""
_MAX_NANO_SCALE = 5000
"""The decimal scale from which `nano` no longer grows; comparisons stay exact."""

_NUMBER = re.compile(r"([+-]?)(0*)([0-9]*)(\.[0-9]*)?([eEinumkKMGTP]*[+-]?[0-9]*)", re.ASCII)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)

_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_BY_EXPONENT = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_BY_EXPONENT = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_WRONG = "unable to parse numeric part of quantity"
SUFFIX_WRONG = "unable to parse quantity's suffix"


class QuantityError(DraPlanError, ValueError):
    """Raised for text that is not a quantity, or for arithmetic outside the supported range."""


class Quantity(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An amount, with the value `number * 10**scale`. Equality, order and hash use only the value.

    `format` decides which suffixes `text` uses. `decimal` is true if Go stores the amount as an arbitrary-precision
    decimal. `nano` is the value in units of 10**-9; it is the same for all amounts from 10**5000 on.
    """

    nano: int
    format: Format
    number: int
    scale: int
    decimal: bool = False
    written: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nano == other.nano and compare(self, other) == 0

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)  # a Struct without `eq` would compare identities

    def __hash__(self) -> int:
        return hash(self.nano)

    def __lt__(self, other: Quantity) -> bool:
        return compare(self, other) < 0

    def __le__(self, other: Quantity) -> bool:
        return compare(self, other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return compare(self, other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return compare(self, other) >= 0

    def __add__(self, other: Quantity) -> Quantity:
        """Return the sum. It has the format of this amount or, if this amount is zero, of `other`."""
        return add(self, other)

    def __sub__(self, other: Quantity) -> Quantity:
        """Return the difference. It has the format of this amount or, if this amount is zero, of `other`."""
        return subtract(self, other)

    def __neg__(self) -> Quantity:
        """Return the negated amount, in the same format."""
        return make(_wrap(-self.number) if not self.decimal else -self.number, self.scale, self.format, self.decimal)

    def __str__(self) -> str:
        return self.text

    @property
    def is_zero(self) -> bool:
        """Return whether the amount is zero."""
        return self.number == 0

    @property
    def sign(self) -> int:
        """The sign of the amount: -1, 0 or 1."""
        return (self.number > 0) - (self.number < 0)

    @property
    def units(self) -> int:
        """Return the amount in whole units as an int64, rounded up like Go's `Value()`."""
        return scaled_value(self, 0)

    @property
    def milli(self) -> int:
        """Return the amount in thousandths as an int64, rounded up like Go's `MilliValue()`."""
        return scaled_value(self, -3)

    @property
    def as_int64(self) -> int | None:
        """Return the value as an int64 if Go's `AsInt64` does, or None.

        The result is None for amounts that are stored as decimals, such as `1.5Gi` or `100Ti`, and for amounts that are
        written with fractions, such as `1.0` or `1000m`.
        """
        if self.decimal or self.scale < 0:
            return None
        if self.number == 0 or self.scale == 0:
            return self.number
        value = self.number * _ten(self.scale) if self.scale < 19 else MAX_INT64 + 1
        return value if MIN_INT64 <= value <= MAX_INT64 else None

    @property
    def text(self) -> str:
        """Return the text that Go prints, which is the parsed text if Go considers it canonical."""
        return self.written or canonical_text(self)

    @property
    def approximate_float(self) -> float:
        """Return the value as a float, as Go's `AsApproximateFloat64` does.

        A value that is out of range becomes infinite.
        """
        try:
            base = float(self.number)
        except OverflowError:
            base = float("inf") if self.number > 0 else float("-inf")
        return base if self.scale == 0 else base * _pow10(self.scale)

    def is_identical(self, other: Quantity) -> bool:
        """Return whether Go's `==` holds for the two structs: equal number, scale, format and cached text.

        Go stores decimals by pointer, so two parsed decimals are never identical.
        """
        if self.decimal or other.decimal:
            return False
        mine = (self.number, self.scale, self.format, self.written)
        return mine == (other.number, other.scale, other.format, other.written)

    def with_format(self, family: Format) -> Quantity:
        """Return the same amount in another format."""
        return make(self.number, self.scale, family, self.decimal)


def make(number: int, scale: int, family: Format, decimal: bool = False, written: str = "") -> Quantity:
    """Return the amount `number * 10**scale`.

    If `decimal` is true, Go would store it as an arbitrary-precision decimal.
    """
    return Quantity(_nano(number, scale), family, number, scale, decimal, written)


def canonical(value: int, family: Format) -> str:
    """Return the canonical text of a whole number, as Go's `NewQuantity(value, family).String()` does."""
    return canonical_text(make(value, 0, family))


def parse(text: str | int | float) -> Quantity:
    """Return the amount that a string or number in a manifest stands for, ignoring white space around it.

    Raises QuantityError with Go's message.
    """
    if isinstance(text, str):
        return parse_strict(text.strip(" \t\n\v\f\r\x85\xa0"))
    if isinstance(text, bool):
        raise QuantityError(FORMAT_WRONG)
    if isinstance(text, float):
        return parse_strict(json_number(text))
    return parse_strict(str(text)) if -_ten(_MAX_DIGITS) < text < _ten(_MAX_DIGITS) else parse_strict("")


@functools.lru_cache(maxsize=65536)
def parse_strict(text: str) -> Quantity:
    """Return the amount, as Go's `ParseQuantity` does. White space is an error."""
    return _parse(text)


def json_number(value: float) -> str:
    """Return the number as Go's encoding/json writes it.

    Numbers from 1e-6 up to 1e21 have no exponent; exponents have no leading zeros.
    """
    if value != value or value in (float("inf"), float("-inf")):
        raise QuantityError(FORMAT_WRONG)
    digits = repr(value)
    mantissa, _, exponent = digits.partition("e")
    magnitude = abs(value)
    if value == 0:
        return "-0" if digits.startswith("-") else "0"
    if 1e-6 <= magnitude < 1e21:
        return _without_exponent(mantissa, int(exponent or "0"))
    mantissa = mantissa.removesuffix(".0")
    power = int(exponent)
    return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power)}"


def _without_exponent(mantissa: str, power: int) -> str:
    whole, _, fraction = mantissa.partition(".")
    sign = "-" if whole.startswith("-") else ""
    digits = whole.removeprefix("-") + fraction
    point = len(digits) - len(fraction) + power
    digits = digits.rjust(len(digits) - point + 1, "0") if point <= 0 else digits.ljust(point, "0")
    point = max(point, 1)
    return (sign + digits[:point] + "." + digits[point:]).rstrip("0").rstrip(".")


def _parse(text: str) -> Quantity:
    if text == "0":
        return make(0, 0, "DecimalSI", written="0")
    match = _NUMBER.fullmatch(text)
    if match is None or not text:
        raise QuantityError(FORMAT_WRONG)
    sign, zeros, whole, fraction, suffix = match.groups()
    base, exponent, family = _suffix(suffix)
    digits = whole or "0"
    decimals = (fraction or ".")[1:]
    if len(digits) + len(decimals) > _MAX_DIGITS:
        raise QuantityError(NUMERIC_WRONG)
    negative = sign == "-"
    quick = _parse_scaled(text, negative, digits, decimals, base, exponent, family)
    if quick is not None:
        return quick
    if not (zeros or whole or decimals):
        raise QuantityError(NUMERIC_WRONG)
    return _parse_decimal(negative, int(digits + decimals), len(decimals), base, exponent, family)


def _suffix(suffix: str) -> tuple[int, int, Format]:
    """Return the base, exponent and format of a suffix."""
    if suffix in _DECIMAL_SUFFIXES:
        return 10, _DECIMAL_SUFFIXES[suffix], "DecimalSI"
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], "BinarySI"
    match = _EXPONENT.fullmatch(suffix)
    if match is None or len(suffix) > _MAX_DIGITS or not MIN_INT64 <= int(match[1]) <= MAX_INT64:
        raise QuantityError(SUFFIX_WRONG)
    # Go stores the exponent in 32 bits and lets it wrap.
    return 10, (int(match[1]) + 2**31) % 2**32 - 2**31, "DecimalExponent"


def _parse_scaled(
    text: str, negative: bool, digits: str, decimals: str, base: int, exponent: int, family: Format
) -> Quantity | None:
    """Return the amount as a 64-bit integer with a scale, or None if Go falls back to a decimal."""
    if base == 10:
        scale, factor = exponent - len(decimals), 1
        precision = 18 - len(digits) - len(decimals)
    elif decimals:
        return None
    else:
        scale, factor = 0, 1 << exponent
        precision = 15 - len(digits) - exponent * 3 // 10 - 1
    if precision < 0 or scale < _NANO:
        return None
    number = int(digits + decimals)
    if number > MAX_INT64:
        raise QuantityError(NUMERIC_WRONG)
    product = number * factor
    if product > MAX_INT64:
        return None
    if family == "BinarySI":
        as_written = number & 7 != 0
    else:
        shifted = digits + decimals
        as_written = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
    return make(-product if negative else product, scale, family, written=text if as_written else "")


def _parse_decimal(negative: bool, number: int, places: int, base: int, exponent: int, family: Format) -> Quantity:
    """Return the amount as a decimal, rounded up to nano; binary amounts are capped at the largest int64."""
    scale = -places
    if base == 10:
        scale += exponent
    else:
        number <<= exponent
    if number:
        number, scale = _round_up_to_nano(number, scale)
    if family == "BinarySI":
        if number > MAX_INT64 * _ten(-scale):
            number, scale = MAX_INT64, 0
        elif 0 < number < _ten(-scale):
            family = "DecimalSI"
    return make(-number if negative else number, scale, family, decimal=True)


def _round_up_to_nano(number: int, scale: int) -> tuple[int, int]:
    """Return a positive number at scale -9, rounded up to nano; scales outside the supported range stay unchanged."""
    if scale >= _NANO:
        return (number * _ten(scale - _NANO), _NANO) if scale <= _MAX_NANO_SCALE else (number, scale)
    down = _NANO - scale
    if down > 2 * _MAX_DIGITS:
        return 1, _NANO
    return -(-number // _ten(down)), _NANO


def _nano(number: int, scale: int) -> int:
    shift = scale - _NANO
    if shift < 0:
        return -(-number // _ten(-shift))
    if scale > _MAX_NANO_SCALE:
        return (number > 0) * _ten(_MAX_NANO_SCALE) - (number < 0) * _ten(_MAX_NANO_SCALE)
    return number * _ten(shift)


def compare(left: Quantity, right: Quantity) -> int:
    """Return -1, 0 or 1 if the left amount is less than, equal to, or greater than the right one."""
    if left.scale <= _MAX_NANO_SCALE and right.scale <= _MAX_NANO_SCALE:
        return (left.nano > right.nano) - (left.nano < right.nano)
    if left.sign != right.sign:
        return 1 if left.sign > right.sign else -1
    gap = left.scale - right.scale
    if abs(gap) > _MAX_SHIFT:
        return left.sign if gap > 0 else -left.sign
    mine = left.number * _ten(max(gap, 0))
    theirs = right.number * _ten(max(-gap, 0))
    return (mine > theirs) - (mine < theirs)


def add(left: Quantity, right: Quantity) -> Quantity:
    """Return the sum, as Go's `Add` does.

    It has the format of the left amount or, if the left amount is zero, of the right one. If the sum does not fit in an
    int64, it is stored as a decimal.
    """
    family = right.format if left.number == 0 else left.format
    if not left.decimal and not right.decimal:
        if right.number == 0:
            return make(left.number, left.scale, family)
        if left.number == 0:
            return make(right.number, right.scale, family)
    number, scale, fits = _aligned_sum(left, right)
    decimal = left.decimal or right.decimal or not fits
    return make(number, scale, family, decimal)


def _aligned_sum(left: Quantity, right: Quantity) -> tuple[int, int, bool]:
    """Return the sum at the smaller scale, and whether every step of the addition fits in an int64."""
    scale = min(left.scale, right.scale)
    if max(left.scale, right.scale) - scale > _MAX_SHIFT:
        raise QuantityError("quantities too far apart to be added")
    mine = left.number * _ten(left.scale - scale)
    theirs = right.number * _ten(right.scale - scale)
    fits = all(MIN_INT64 <= part <= MAX_INT64 for part in (mine, theirs, mine + theirs))
    return mine + theirs, scale, fits


def subtract(left: Quantity, right: Quantity) -> Quantity:
    """Return the difference, as Go's `Sub` does.

    As in Go, negating the smallest int64 has no effect.
    """
    return add(left, -right)


def multiply(left: Quantity, factor: int) -> Quantity:
    """Return the amount times `factor`, as Go's `Mul` does. It is stored as an integer if it fits in an int64."""
    if left.decimal:
        return make(left.number * factor, left.scale, left.format, decimal=True)
    if left.number == 0 or factor == 0:
        return make(0, 0 if left.number else left.scale, left.format)
    number = left.number * factor
    whole = number * _ten(min(max(left.scale, 0), 19))
    fits = MIN_INT64 < number <= MAX_INT64 and MIN_INT64 <= whole <= MAX_INT64
    return make(number, left.scale, left.format, decimal=not fits)


def product(left: Quantity, right: Quantity) -> Quantity:
    """Return the product as a decimal in the left amount's format, rounded up to a multiple of 10**-9."""
    number, scale = left.number * right.number, left.scale + right.scale
    if number > 0:
        number, scale = _round_up_to_nano(number, scale)
    return make(number, scale, left.format, decimal=True)


def to_decimal(value: Quantity) -> Quantity:
    """Return the same amount stored as an arbitrary-precision decimal, as Go's `ToDec` does."""
    return make(value.number, value.scale, value.format, decimal=True)


def scaled_value(value: Quantity, scale: int) -> int:
    """Return the amount as an int64 in units of 10**scale, rounded like Go's `ScaledValue`.

    An amount stored as an integer is rounded away from zero, and limited to the range of int64. A decimal is rounded
    up, with two exceptions, as in Go: a negative fraction is rounded up twice if the number fits in an int64, and a
    number that does not fit wraps around.
    """
    shift = value.scale - scale
    if not value.decimal:
        if shift < 0:
            magnitude = -(-abs(value.number) // _ten(min(-shift, 20)))
            return magnitude if value.number > 0 else -magnitude
        scaled = value.number * _ten(min(shift, 20))
        return max(MIN_INT64, min(MAX_INT64, scaled))
    if shift == 0:
        return _wrap(value.number)
    if shift > 0:
        factor = _ten(shift) if shift <= 18 else MIN_INT64  # the result of converting a too large double on amd64
        return _wrap(_wrap(value.number) * factor)
    quotient, remainder = divmod(value.number, _ten(min(-shift, _MAX_SHIFT)))
    if abs(value.number) < MAX_INT64 and -shift < 19 and quotient < 0 and remainder:
        quotient += 1
    return _wrap(quotient + 1 if remainder else quotient)


def canonical_text(value: Quantity) -> str:
    """Return the canonical text, which has the exact value, no fraction, and the largest possible suffix.

    A binary amount has a decimal suffix if it is smaller than 1024 or not whole. There are no suffixes for powers of
    ten from 10**21 on; as in Go, the text omits such a power.
    """
    if value.number == 0:
        return "0"
    if value.format == "BinarySI" and not _is_small(value) and _is_whole(value):
        whole = value.number * _ten(value.scale) if value.scale >= 0 else value.number // _ten(-value.scale)
        number, power = _without_factors(whole, 1024)
        return f"{number}{_BINARY_BY_EXPONENT.get(power * 10, '')}"
    number, power = _without_factors(value.number, 10)
    exponent = value.scale + power
    number *= _ten(exponent % 3)
    exponent -= exponent % 3
    if value.format == "DecimalExponent":
        return f"{number}e{exponent}" if exponent else f"{number}"
    return f"{number}{_DECIMAL_BY_EXPONENT.get(exponent, '')}"


def _is_small(value: Quantity) -> bool:
    return -1024 * _ten(9) < value.nano < 1024 * _ten(9)


def _is_whole(value: Quantity) -> bool:
    if value.scale > _MAX_NANO_SCALE:
        raise QuantityError("quantity too large to be written with binary suffixes")
    return value.scale >= 0 or value.number % _ten(-value.scale) == 0


def _without_factors(number: int, factor: int) -> tuple[int, int]:
    """Return the number without any of the factors, and the number of factors removed."""
    times = 0
    while number and number % factor == 0:
        number //= factor
        times += 1
    return number, times


def _ten(exponent: int) -> int:
    power: int = 10**exponent
    return power


def _wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _pow10(exponent: int) -> float:
    """Return Go's `math.Pow10`, which is not always the nearest double."""
    if exponent > 308:
        return float("inf")
    if exponent < -323:
        return 0.0
    high, low = divmod(abs(exponent), 32)
    if exponent >= 0:
        return float(f"1e{high * 32}") * float(f"1e{low}")
    return float(f"1e-{high * 32}") / float(f"1e{low}")
