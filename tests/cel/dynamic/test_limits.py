"""Expressions made to hang or to fill memory end in an error in time, whatever the result upstream would be."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_plan.cel import compile_selector
from dra_plan.cel.lexer import CelCompileError, CelRuntimeError
from tests.limits import at_most

from .expressions import DEVICE, DRIVER

EXCEEDED = "operation cancelled: actual cost limit exceeded"
SECONDS = 20
"""Generous: the tests run on slow and busy machines, and what they are about takes for ever otherwise."""


def nested(times: int, first: str, step: str, last: str) -> str:
    """`last` of what comes out when `step` is done again and again, each time with the result twice."""
    text, previous = "", first
    for index in range(times):
        text += f"cel.bind(a{index}, {step.format(p=previous)}, "
        previous = f"a{index}"
    return text + last.format(p=previous) + ")" * times


@pytest.mark.parametrize(
    "expression",
    [
        nested(40, "[1]", "{p} + {p}", "{p}.size() > 5"),
        nested(40, '"abc"', "{p} + {p}", "{p}.size() > 5"),
        pytest.param(nested(30, "[1]", "[{p}, {p}]", "{p} == {p}"), marks=pytest.mark.long),
        nested(30, "[[]]", "[{p}, {p}]", "{p}.flatten(60).size() == 0"),
        pytest.param(nested(30, "[1]", "[{p}, {p}]", '"%s".format([{p}]).size() > 3'), marks=pytest.mark.long),
        nested(20, '"ab"', '{p}.replace("", {p})', "{p}.size() > 5"),
        "lists.range(1000000000).size() > 3",
        '"%.999999999f".format([1.0]).size() > 3',
        "lists.range(1000).sortBy(x, -x).size() > 0",
    ],
)
def test_growth_is_stopped(expression: str) -> None:
    with at_most(SECONDS), pytest.raises(CelRuntimeError, match=EXCEEDED):
        compile_selector(expression).evaluate(DEVICE, driver=DRIVER)


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 200 + "true" + ")" * 200,
        "[" * 240 + "]" * 240 + ".size() == 1",
        "1" + " + 1" * 200 + " == 201",
        "true" + " && true" * 2000,
        "!" * 5000 + "true",
        '"' + "a" * 3000 + '".matches("(a*)*(a*)*(a*)*$")',
        "[" + ",".join(map(str, range(2000))) + "].exists(x, x == 1999)",
        "lists.range(20000).transformMap(i, v, v).size() == 20000",
    ],
)
def test_depth_and_length_are_no_trouble(expression: str) -> None:
    selector = compile_selector(expression)
    assert selector.evaluate(DEVICE, driver=DRIVER).match
    assert selector.matches(DEVICE, DRIVER)


@pytest.mark.parametrize("expression", ["(" * 5000 + "true" + ")" * 5000, "1" + "+1" * 3000 + " > 0"])
def test_too_deep_is_an_error(expression: str) -> None:
    with pytest.raises(CelCompileError, match="recursion"):
        compile_selector(expression)


PIECES = st.sampled_from(
    [
        "true",
        "device",
        ".attributes",
        '["gpu.example.com"]',
        ".model",
        "==",
        "&&",
        "||",
        "!",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "1",
        "1u",
        "1.5",
        '"a"',
        "b'x'",
        ",",
        ":",
        "?",
        ".?index",
        "has(",
        ".all(x,",
        ".map(x, x)",
        "cel.bind(a,",
        "a",
        "x",
        ".size()",
        "quantity(",
        "semver(",
        ".orValue(",
        "in",
        "+",
        "-",
        "*",
        "/",
        "%",
        "<",
        ">",
        "lists.range(",
        ".format(",
        ".matches(",
        "timestamp(",
        "duration(",
        "type(",
        "optional.of(",
        ".replace(",
        "google.protobuf.Int64Value{value:",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_any_text_gives_a_result_or_an_error(text: str) -> None:
    with contextlib.suppress(CelCompileError, CelRuntimeError):
        selector = compile_selector(text)
        assert selector.max_cost >= 0
        selector.explain(DEVICE, driver=DRIVER)
        assert isinstance(selector.matches(DEVICE, DRIVER), bool)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_characters_give_a_result_or_an_error(text: str) -> None:
    with contextlib.suppress(CelCompileError, CelRuntimeError):
        compile_selector(text).matches(DEVICE, DRIVER)
