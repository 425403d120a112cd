"""Regular expressions are Go's RE2: where the C++ library takes more, or says it differently, Go's answer counts."""

from __future__ import annotations

import re

import pytest

from dra_plan.cel import compile_selector
from dra_plan.cel.lexer import CelCompileError
from dra_plan.cel.library.formats import compile_regex
from dra_plan.cel.values import EvaluationError

from .expressions import DEVICE, DRIVER

REFUSED = {
    r"a\C": r"invalid escape sequence: `\C`",
    "(?P<ñ>a)": "invalid named capture: `(?P<ñ>`",
    "(?<ñ>a)": "invalid named capture: `(?<ñ>`",
    "a(b": "missing closing ): `a(b`",
    "a)b": "unexpected ): `a)b`",
    "[a": "missing closing ]: `[a`",
    "a**": "invalid nested repetition operator: `**`",
    "*": "missing argument to repetition operator: `*`",
    "x{1001}": "invalid repeat count: `{1001}`",
    "(?=a)": "invalid or unsupported Perl syntax: `(?=`",
    r"\8": r"invalid escape sequence: `\8`",
    "[b-a]": "invalid character class range: `b-a`",
    "a\\": "trailing backslash at end of expression: ``",
    "é(": "missing closing ): `é(`",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_refused_in_go_words(pattern: str) -> None:
    with pytest.raises(EvaluationError, match=re.escape(f"error parsing regexp: {REFUSED[pattern]}") + "$"):
        compile_regex(pattern)


@pytest.mark.parametrize("depth", [998, 999, 1000, 1500])
def test_depth_of_groups_is_limited_as_in_go(depth: int) -> None:
    pattern = "(" * depth + "a" + ")" * depth
    if depth < 1000:
        assert compile_regex(pattern).search("a")
    else:
        with pytest.raises(EvaluationError, match="nests too deeply"):
            compile_regex(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\\C", r"\Q\C\E", r"\QC\E|\\C", "[[:alpha:](]C", r"[\](]C", "(?:" * 1200 + "C" + ")" * 1200, "(?<n>C)"]
)
def test_what_only_looks_like_it_is_taken(pattern: str) -> None:
    assert compile_regex(pattern).search("(C\\C")


@pytest.mark.parametrize("call", [r'"a".matches(r"\C")', r'matches("a", r"\C")', r'"a".find(r"\C") == ""'])
def test_constant_patterns_are_refused_before_any_device_is_seen(call: str) -> None:
    with pytest.raises(CelCompileError):
        compile_selector(call)


def test_the_error_of_a_computed_pattern_is_absorbed() -> None:
    selector = compile_selector(r'"a".matches(device.driver + r"\C") || true')
    assert selector.evaluate(DEVICE, driver=DRIVER).match


def test_patterns_too_large_for_the_usual_limit_of_the_library() -> None:
    assert compile_regex("(abcdefgh){1000}" * 50).search("abc") is None
