"""Random expressions of the core language: the same answer as Google's C++ engine gives."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dra_plan.cel import compile_selector
from dra_plan.cel.lexer import CelCompileError, CelRuntimeError

from .oracle import Oracle

ORACLE = Oracle()
DEVICE: dict[str, Any] = {"attributes": {}, "capacity": {}}

Text = st.SearchStrategy[str]


def joined(template: str, *parts: Text) -> Text:
    return st.tuples(*parts).map(lambda found: template.format(*found))


def leaves() -> dict[str, Text]:
    edges = ["0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808", "4611686018427387904"]
    return {
        "int": st.one_of(st.sampled_from(edges), st.integers(-20, 20).map(str), st.sampled_from(["x", "y"])),
        "uint": st.one_of(st.integers(0, 20).map(lambda number: f"{number}u"), st.just("18446744073709551615u")),
        "double": st.sampled_from(["0.0", "1.5", "-2.25", "1e308", "3.0", "1e-320"]),
        "bool": st.sampled_from(["true", "false", "(1 / 0 == 1)"]),
        "string": st.sampled_from(["''", "'a'", "'ab'", "'é😀'", '"b\\n"', "r'\\d'", "s"]),
        "bytes": st.sampled_from(["b''", "b'a'", "b'\\xff'", "bytes('é')"]),
        # No empty literals: what their elements' type is, the two checkers find out in different ways.
        "list": st.sampled_from(["[1].filter(x, false)", "[1]", "[1, 2, 3]", "[x, -5]"]),
        "map": st.sampled_from(["{'a': 1}", "{'a': 2, 'b': 0}", "{'c': 3}"]),
    }


def grown(of: dict[str, Text]) -> dict[str, Text]:
    """Strategies one level deeper."""
    i, u, d, b, s, y, xs, m = (of[kind] for kind in ("int", "uint", "double", "bool", "string", "bytes", "list", "map"))
    order = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    sign = st.sampled_from(["+", "-", "*", "/", "%"])
    ordered = leaves()["double"]  # NaN, which only arithmetic makes, is an error in cel-go and unordered in C++
    deeper = {
        "int": [
            joined("({0} {1} {2})", i, sign, i),
            joined("-({0})", i),
            joined("size({0})", st.one_of(s, y, xs, m)),
            joined("{0}[{1}]", xs, i),
            joined("{0}['a']", m),
            joined("({0} ? {1} : {2})", b, i, i),
            joined("int({0})", st.one_of(u, d, i)),
            joined("cel.bind(x, {0}, {1})", i, i),
            joined("{0}.indexOf({1})", s, s),
            joined("{0}[?{1}].orValue({2})", xs, i, i),
        ],
        "uint": [joined("({0} {1} {2})", u, sign, u), joined("uint({0})", st.one_of(i, d))],
        "double": [
            joined("({0} {1} {2})", d, st.sampled_from(["+", "-", "*", "/"]), d),
            joined("-({0})", d),
            joined("double({0})", st.one_of(i, u)),
        ],
        "bool": [
            joined("({0} {1} {2})", b, st.sampled_from(["&&", "||", "==", "!="]), b),
            joined("!({0})", b),
            joined("({0} ? {1} : {2})", b, b, b),
            *(joined("({0} {1} {2})", kind, order, kind) for kind in (i, u, ordered, s, y)),
            joined("({0} {1} {2})", d, st.sampled_from(["==", "!="]), d),
            joined("({0} {1} {2})", xs, st.sampled_from(["==", "!="]), xs),
            joined("({0} == {1})", m, m),
            # Not `in []`: that is false in cel-go without a look at the left side, when it plans.
            joined("({0} in ({1} + {2}))", i, xs, xs),
            joined("({0} in {1})", s, m),
            joined("has({0}.a)", m),
            joined("{0}.{1}({2})", s, st.sampled_from(["contains", "startsWith", "endsWith"]), s),
            joined("{0}.{1}(x, {2})", xs, st.sampled_from(["all", "exists", "exists_one"]), b),
            joined("{0}.all(s, {1})", m, b),
            joined("(dyn({0}) {1} dyn({2}))", st.one_of(i, u, ordered), order, st.one_of(i, u, ordered)),
            joined("(dyn({0}) == dyn({1}))", st.one_of(i, s, b, xs, m), st.one_of(i, s, b, xs, m)),
        ],
        "string": [
            joined("({0} + {1})", s, s),
            joined("string({0})", st.one_of(i, u, b, s)),
            joined("{0}.substring({1})", s, st.integers(0, 3).map(str)),
            joined("{0}.replace({1}, {2})", s, s, s),
            joined("{0}.upperAscii()", s),
        ],
        "bytes": [joined("({0} + {1})", y, y), joined("bytes({0})", s)],
        "list": [
            joined("({0} + {1})", xs, xs),
            joined("{0}.map(x, {1})", xs, i),
            joined("{0}.filter(x, {1})", xs, b),
            joined("[{0}, {1}]", i, i),
        ],
        "map": [joined("{{{0}: {1}}}", s, i), joined("{{'a': {0}, 'b': {1}}}", i, i)],
    }
    return {kind: st.one_of(of[kind], *deeper[kind]) for kind in of}


EXPRESSIONS = grown(grown(grown(leaves())))["bool"].map(
    lambda text: f"cel.bind(x, 3, cel.bind(y, 0, cel.bind(s, 'ab', {text})))"
)


def answer(expression: str) -> Any:
    try:
        selector = compile_selector(expression)
    except CelCompileError as refused:
        # Conversions of constants fail when Kubernetes plans the evaluation, in C++ when it is evaluated.
        return "planning error" if "program instantiation failed" in str(refused) else "refused"
    try:
        return selector.evaluate(DEVICE, driver="d").match
    except CelRuntimeError:
        return "error"


def agree(expression: str) -> None:
    ours = answer(expression)
    assume(ours != "planning error")
    assert ours == ORACLE.answer(expression), expression


@given(EXPRESSIONS)
@settings(max_examples=300, deadline=None)
def test_some_expressions(expression):
    agree(expression)


@pytest.mark.long
@given(EXPRESSIONS)
@settings(max_examples=5_000, deadline=None)
def test_very_many_expressions(expression):
    agree(expression)
