from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dra_plan.api.quantity import (
    MAX_INT64,
    MIN_INT64,
    Quantity,
    QuantityError,
    canonical,
    canonical_text,
    compare,
    json_number,
    make,
    multiply,
    parse,
    parse_strict,
    to_decimal,
)

SUFFIXES = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1), "k": Fraction(10**3),
    "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12), "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40), "Pi": Fraction(2**50),
    "e3": Fraction(1000), "E-3": Fraction(1, 1000), "e+2": Fraction(100),
}  # fmt: skip

numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(min_value=-1000, max_value=1000, places=4, allow_nan=False, allow_infinity=False).map(str),
    st.from_regex(r"[+-]?[0-9]{1,6}(\.[0-9]{0,5})?", fullmatch=True),
)
texts = st.tuples(numbers, st.sampled_from(sorted(SUFFIXES)))
quantities = texts.map(lambda pair: parse("".join(pair)))


def value_of(quantity: Quantity) -> Fraction:
    return quantity.number * Fraction(10) ** quantity.scale


@pytest.mark.parametrize(
    ("text", "printed", "family"),
    [
        ("0", "0", "DecimalSI"),
        ("0Gi", "0", "BinarySI"),
        ("1.5Gi", "1536Mi", "BinarySI"),
        ("100Ti", "100Ti", "BinarySI"),
        ("0.1", "100m", "DecimalSI"),
        ("1.500", "1.500", "DecimalSI"),
        ("1.5000", "1500m", "DecimalSI"),
        ("1e3", "1e3", "DecimalExponent"),
        ("12e2", "1200", "DecimalExponent"),
        ("12E4", "120e3", "DecimalExponent"),
        ("2048", "2048", "DecimalSI"),
        ("2000", "2k", "DecimalSI"),
        ("2048Ki", "2Mi", "BinarySI"),
        ("05Ki", "05Ki", "BinarySI"),
        ("0.5Ki", "512", "BinarySI"),
        ("0.0001Ki", "102400u", "DecimalSI"),
        ("1234567.89Ki", "1264197519360m", "BinarySI"),
        ("9Ei", "9223372036854775807", "BinarySI"),
        ("9223372036854775808", "9223372036854775808", "DecimalSI"),
        ("9999999999999999999", "9999999999999999999", "DecimalSI"),
        ("-0.5Gi", "-512Mi", "BinarySI"),
        ("1e-20", "1e-9", "DecimalExponent"),
        ("0.1n", "1n", "DecimalSI"),
        (".", "0", "DecimalSI"),
        ("Mi", "0", "BinarySI"),
        ("1.G", "1.G", "DecimalSI"),
        ("1e4294967299", "1e4294967299", "DecimalExponent"),
    ],
)
def test_text(text: str, printed: str, family: str) -> None:
    quantity = parse(text)
    assert (quantity.text, quantity.format) == (printed, family)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must match"),
        ("bad", "must match"),
        ("1.2.3", "must match"),
        ("10Mo", "must match"),
        ("1 Gi", "must match"),
        ("٣", "must match"),
        ("200K", "suffix"),
        ("1e", "suffix"),
        ("1ee5", "suffix"),
        ("1e99999999999999999999", "suffix"),
        ("e-20", "numeric"),
        ("1" * 5000, "numeric"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(QuantityError, match=words):
        parse(text)


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("1", 1), ("1k", 1000), ("40Gi", 40 << 30), ("10Ti", 10 << 40), ("1e3", 1000), ("-3", -3), ("9E", 9 * 10**18),
        ("10E", None), ("1.5Gi", None), ("1.0", None), ("1000m", None), ("100Ti", None), ("1Pi", None),
        ("9999999999999999999999", None),
    ],
)  # fmt: skip
def test_integers_only_where_go_has_them(text: str, integer: int | None) -> None:
    assert parse(text).as_int64 == integer


def test_manifest_numbers() -> None:
    assert parse(5) == parse("5")
    assert parse(0.5).text == "500m"
    assert parse(1e21).format == "DecimalExponent"
    assert parse(" 1Gi\n") == parse("1Gi")
    with pytest.raises(QuantityError):
        parse_strict(" 1Gi")
    with pytest.raises(QuantityError):
        parse(True)
    with pytest.raises(QuantityError):
        parse(float("nan"))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.5, "0.5"), (1.0, "1"), (1e10, "10000000000"), (1e21, "1e+21"), (1.5e-7, "1.5e-7"), (-0.0, "-0"),
        (1e-6, "0.000001"), (-1.25e-5, "-0.0000125"), (1.5e20, "150000000000000000000"), (120.0, "120"),
    ],
)  # fmt: skip
def test_json_numbers_as_go_writes_them(number: float, text: str) -> None:
    assert json_number(number) == text


@pytest.mark.parametrize(
    ("text", "units", "milli"),
    [
        ("1500m", 2, 1500), ("-1500m", -2, -1500), ("0.1m", 1, 1), ("1.5Gi", 3 << 29, (3 << 29) * 1000),
        ("-0.0000015Ki", 1, 0), ("10E", MAX_INT64, MAX_INT64), ("-10E", MIN_INT64, MIN_INT64),
    ],
)  # fmt: skip
def test_rounded_up(text: str, units: int, milli: int) -> None:
    assert (parse(text).units, parse(text).milli) == (units, milli)


def test_powers_without_a_suffix_are_lost_as_in_go() -> None:
    assert canonical_text(parse("125000E")) == "125"
    assert canonical_text(parse("125000E").with_format("DecimalExponent")) == "125e21"


def test_format_of_sums() -> None:
    assert (parse("1Gi") + parse("1Mi")).text == "1025Mi"
    assert (parse("0") + parse("1Mi")).format == "BinarySI"
    assert (parse("1k") - parse("1Ki")).text == "-24"
    assert (parse("1k") - parse("1k")).format == "DecimalSI"
    assert canonical(3 << 30, "BinarySI") == "3Gi"
    assert canonical(1000, "BinarySI") == "1k"
    assert canonical(0, "BinarySI") == "0"


def test_overflow_becomes_decimal() -> None:
    total = make(MAX_INT64, 0, "DecimalSI") + parse("1")
    assert total.decimal
    assert total.number == MAX_INT64 + 1
    assert multiply(parse("9E"), 10).decimal
    assert not multiply(parse("9E"), 1).decimal


def test_identical_is_about_the_written_form() -> None:
    assert parse("1Ki") == parse("1024")
    assert not parse("1Ki").is_identical(parse("1024"))
    assert parse("1Ki").is_identical(parse("1Ki"))
    assert not parse("1.5Gi").is_identical(parse("1.5Gi"))


def test_enormous_exponents_cost_nothing() -> None:
    huge, larger = parse("1e1000000000"), parse("2e1000000000")
    assert huge < larger
    assert huge > parse("-1e2000000000")
    assert parse("1E") < huge
    assert huge.nano == larger.nano
    assert huge != larger
    assert parse("1e-2000000000").nano == 1
    assert huge.as_int64 is None
    with pytest.raises(QuantityError, match="too far apart"):
        huge + to_decimal(parse("1"))


@given(texts)
def test_value_is_exact_or_rounded_up_to_nano(pair: tuple[str, str]) -> None:
    number, suffix = pair
    exact = Fraction(number.rstrip(".")) * SUFFIXES[suffix]
    if suffix.endswith("i"):
        exact = min(max(exact, Fraction(-MAX_INT64)), Fraction(MAX_INT64))
    got = Fraction(parse(number + suffix).nano, 10**9)
    assert abs(got) - abs(exact) < Fraction(1, 10**9)
    assert abs(got) >= abs(exact)


@given(quantities)
def test_canonical_text_keeps_the_value(quantity: Quantity) -> None:
    assume(abs(quantity.nano) < 10**30)  # beyond there is no suffix for the power, see above
    text = canonical_text(quantity)
    assume(len(text.lstrip("-").rstrip("numkMGTPEi")) < 19)  # Go does not read what it wrote if 19 digits pass an int64
    again = parse(text)
    assert again == quantity
    assert canonical_text(again.with_format(quantity.format)) == canonical_text(quantity)


@given(quantities, quantities)
def test_order_is_that_of_the_values(left: Quantity, right: Quantity) -> None:
    a, b = value_of(left), value_of(right)
    assert compare(left, right) == (a > b) - (a < b)
    assert (left == right) == (a == b)
    if left == right:
        assert hash(left) == hash(right)


@given(quantities, quantities)
def test_sums_are_exact(left: Quantity, right: Quantity) -> None:
    assert value_of(left + right) == value_of(left) + value_of(right)
    assert value_of(left - right) == value_of(left) - value_of(right)
    assert left + right == right + left
    assert (left + right) - right == left
    assert value_of(to_decimal(left)) == value_of(left)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        quantity = parse(text)
    except QuantityError:
        return
    assert parse(quantity.text) == quantity


def test_unequal_is_the_opposite_of_equal() -> None:
    assert not parse("1Ki") != parse("1024")  # noqa: SIM202
    assert parse("1Ki") != parse("1k")
