"""The core of the language, stated as cases of our own, and the agreement of Google's C++ engine with them."""

from pathlib import Path
from typing import Any

import pytest

from dra_plan.cel import compile_selector
from dra_plan.cel.lexer import CelCompileError, CelRuntimeError

from .oracle import Oracle

HERE = Path(__file__).parent
DEVICE: dict[str, Any] = {"attributes": {}, "capacity": {}}

_STATIC = "the C++ engine orders numbers of different types only when their types are dyn"
DIFFERENT = {
    "-1 < 0u": _STATIC,
    "18446744073709551615u > -1": _STATIC,
    "1 < 2u && 1u < 2 && 2.5 > 2 && 2u < 2.5": _STATIC,
    "9223372036854775806 < 9223372036854775809.5e1": _STATIC,
    "duration('1.5s').getMilliseconds() == 1500": "cel-go gives the whole duration, C++ the part below a second",
    "'abc'.indexOf('a', 9) == -1": "an error in C++",
    "R\"\\\" == '\\\\'": "C++ does not end a raw string behind a backslash",
}
"""What the scheduler's engine and the C++ engine do not have in common, with the reason."""


def cases(name: str) -> list[str]:
    lines = (HERE / f"{name}.cel").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line.strip() and not line.startswith(("#", "//"))]


def match(expression: str) -> bool:
    return compile_selector(expression).evaluate(DEVICE, driver="gpu.example.com").match


@pytest.mark.parametrize("expression", cases("true"))
def test_true(expression):
    assert match(expression)


@pytest.mark.parametrize("expression", cases("error"))
def test_error(expression):
    selector = compile_selector(expression)
    with pytest.raises(CelRuntimeError):
        selector.evaluate(DEVICE, driver="gpu.example.com")


@pytest.mark.parametrize("expression", cases("refused"))
def test_refused(expression):
    with pytest.raises(CelCompileError):
        compile_selector(expression)


@pytest.mark.parametrize("expression", [case for case in cases("true") if case not in DIFFERENT])
def test_the_oracle_finds_the_same_true(expression, oracle):
    assert oracle.answer(expression) is True


@pytest.mark.parametrize("expression", cases("error"))
def test_the_oracle_finds_the_same_errors(expression, oracle):
    assert oracle.answer(expression) == "error"


@pytest.mark.parametrize("expression", DIFFERENT)
def test_the_oracle_still_differs(expression, oracle):
    assert oracle.answer(expression) is not True


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return Oracle()
