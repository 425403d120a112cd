"""Generated functions: value and cost exactly as the accounting evaluator has them, or no answer."""

from __future__ import annotations

import builtins
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_plan.cel import Evaluation, Selector, compile_selector, generate
from dra_plan.cel.device import as_device, device_value
from dra_plan.cel.interpret import Evaluator
from dra_plan.cel.lexer import CelCompileError, CelRuntimeError
from dra_plan.cel.values import EvaluationError, Fatal, begin_work

DRIVER = "gpu.example.com"
A, C = f'device.attributes["{DRIVER}"]', f'device.capacity["{DRIVER}"]'

places = st.sampled_from([f"{A}.{name}" for name in ("model", "index", "ecc", "version", "nope")])
literals = st.sampled_from(['"A100"', "3", "3.0", "3u", "true", 'semver("1.2.3")', '"1.2.3"', 'quantity("1Gi")', "[3]"])
capacities = st.sampled_from([f"{C}.memory", f"{C}.odd", f"{C}.nope", 'quantity("1.5Gi")', 'quantity("x")'])
operands = st.one_of(places, literals, capacities)
atoms = st.one_of(
    places,
    st.builds("{} {} {}".format, operands, st.sampled_from(["==", "!=", "<", ">="]), operands),
    st.builds("{}.{}({})".format, capacities, st.sampled_from(["isGreaterThan", "compareTo"]), capacities),
    st.builds("has({})".format, places),
    st.builds('"{}" in {}'.format, st.sampled_from(["model", "nope"]), st.sampled_from([A, C, "device.attributes"])),
    st.builds("{} in {}".format, operands, st.sampled_from(["[1, 3]", '["A100", "B"]', "[true]", f"[{A}.index]"])),
    st.builds("{}.isInteger()".format, capacities),
    st.builds('{}.{}("A")'.format, places, st.sampled_from(["startsWith", "contains", "matches"])),
    st.builds("[1, 3].{}(x, x == {})".format, st.sampled_from(["all", "exists", "exists_one"]), operands),
    st.builds("[1, 3].map(x, x).size() == {}".format, operands),
    st.builds("cel.bind(a, {}, a.?index.orValue(1) == 3 || a.ecc)".format, st.sampled_from([A])),
    st.builds("cel.bind(a, {0}, a == {1})".format, operands, operands),
)
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||", "=="]), inner),
        st.builds("!({})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
    ),
    max_leaves=5,
)
values: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"string": "A100"}, {"string": "x"}, {"int": 3}, {"int": 1}, {"bool": True}, {"bool": False}, {"version": "1.2.3"}]
)
devices = st.fixed_dictionaries(
    {
        "attributes": st.dictionaries(st.sampled_from(["model", "index", "ecc", "version", f"{DRIVER}/index"]), values),
        "capacity": st.dictionaries(
            st.sampled_from(["memory", "odd"]),
            st.fixed_dictionaries({"value": st.sampled_from(["40Gi", "1.5Gi", "3"])}),
        ),
    }
)


LONG = "x" * 31
DEVICE: dict[str, Any] = {
    "attributes": {
        "model": {"string": "A100"},
        "long": {"string": LONG},
        "empty": {"string": ""},
        "wide": {"string": "é" * 11},
        "index": {"int": 3},
        "ecc": {"bool": True},
        "version": {"version": "1.2.3"},
        "vendor.example.org/link": {"string": "nvlink"},
    },
    "capacity": {"memory": {"value": "40Gi"}},
}
BOUND = "cel.bind(a, {}, {})".format


def accounted(selector: Selector, device: dict[str, Any]) -> Evaluation | str:
    """What the accounting evaluator says, with the whole device before it."""
    begin_work()
    try:
        value = device_value(as_device(device), DRIVER, lists=False, exact_quantities=selector._exact)
        return Evaluation(*Evaluator(selector._checked, exact_quantities=selector._exact).evaluate(value))
    except (EvaluationError, Fatal, CelRuntimeError) as error:
        return str(error)


COUNTED = [
    "true",
    "device.driver == 'gpu.example.com'",
    "device.driver != 'gpu.example.com' || device.allowMultipleAllocations == false",
    *(f"{A}.{name} == '{text}'" for name in ("model", "long", "empty", "wide") for text in ("", "A100", LONG)),
    *(f"{A}.{name} != '{text}'" for name in ("long", "empty", "version", "index") for text in ("", LONG)),
    f"'{LONG}' == {A}.version",
    f"{A}.long == {A}.wide",
    f"{A}.long < '{LONG}' && {A}.index < 4 && {A}.index >= 3.0",
    f"{A}.index == 3 && {A}.index == 3u && {A}.ecc == true",
    f"{A}.ecc && !{A}.ecc",
    f"!({A}.ecc) || !false",
    f"{C}.memory.isGreaterThan(quantity('20Gi')) && {A}.version.isGreaterThan(semver('1.0.0'))",
    f"{C}.memory.compareTo(quantity('00000000000000000000000000000000020Gi')) > 0",
    f"{C}.memory == quantity('40Gi') && {C}.memory != quantity('41Gi')",
    f"{A}.version == semver('v1.2', true) || {A}.version.major() == 1",
    f"{A}.long.startsWith('x') && {A}.long.contains('yyyyyyyyyyyyyyyyyyyyyy')",
    f"{A}.long.matches('^x+$') && device.driver.matches('gpu')",
    f"{A}.long.lowerAscii().size() == {A}.index + 28",
    f"{A}.index in [1, 3] && {A}.model in ['A100', 'B'] && device.driver in ['x']",
    "'long text of constants' < 'b' && 'abc'.size() == 3",
    "int(string(3)) == 3",  # converted before any evaluation, which costs nothing
    "int('3') == 3 && string(device.driver) == 'gpu.example.com'",
    f"true ? {A}.ecc : false",
    f"(device.driver == 'x' ? {A}.nope : {A}.index) == 3",
    f"(true ? (false ? {A}.model : {A}.index) : 1) == 3",
    f"has({A}.nope) ? {A}.nope == 1 : 'ecc' in {A}",
    f"true ? has({A}.ecc) : has({A}.nope)",
    f"has({C}.nope) || has({C}.memory) || 'x' in {C}",
    "device.attributes['vendor.example.org'].link == 'nvlink'",
    BOUND(A, "true"),
    BOUND(A, "a.ecc"),
    BOUND(A, "has(a.nope) && a.nope || 'ecc' in a && a.ecc"),
    BOUND(A, "device.driver == 'x' && a.ecc || a.index == 3"),
    BOUND(A, "(device.driver == 'x' ? a.ecc : true) && (true ? a.ecc : false)"),
    BOUND(A, BOUND(C, "a.memory.isInteger()") + " && a.ecc"),
    BOUND(A, f"cel.bind(b, {C}, b.memory.isInteger() && a.ecc && b.memory.asInteger() > 1 && a.ecc)"),
    " && ".join([f"{A}.index == 3"] * 30),
]


@pytest.mark.parametrize("expression", COUNTED)
def test_counted_as_accounted(expression: str) -> None:
    selector = compile_selector(expression)
    counted = selector._quickly(as_device(DEVICE), DRIVER)
    assert counted is not None
    assert Evaluation(*counted) == accounted(selector, DEVICE) == selector.evaluate(DEVICE, driver=DRIVER)


NOT_COUNTED = [
    f"{A}.nope == 1 || true",  # errors are for the accounting evaluator
    f"{A}.model || true",
    f"{A}.model",
    "1 in []",
    f"1 in [{A}.index]",
    f"cel.bind(b, {A}.ecc, b && b)",
    BOUND(A, "cel.bind(b, a, b.ecc)"),
    f"{A}.?model.hasValue()",
    "[1, 2].exists(x, x == 1)",
    "{'a': 1}.a == 1",
    "!(" * 60 + f"{A}.index == 3" + ")" * 60,
    " && ".join([f"{A}.ecc"] * 2000),
]


@pytest.mark.parametrize("expression", NOT_COUNTED)
def test_left_to_the_accounting_evaluator(expression: str) -> None:
    selector = compile_selector(expression)
    assert selector._quickly(as_device(DEVICE), DRIVER) is None
    try:
        outcome: Evaluation | str = selector.evaluate(DEVICE, driver=DRIVER)
    except CelRuntimeError as error:
        outcome = str(error)
    if expression != f"{A}.model":  # not a bool, which is said after the evaluation
        assert outcome == accounted(selector, DEVICE)


WRITTEN = {"def", "quick", "attributes", "capacities", "driver", "multiple", "cost", "return", "if", "not", "v", "c"}
WRITTEN |= {"else", "len", "give_up", "equality", "inequality"}
"""All words that the generated function may have for the expression below."""


@pytest.mark.parametrize(
    "text",
    [
        "\"__import__('os').system('true')\"",
        '\'\\n"""); raise SystemExit #\'',
        '"{0.__class__}"',
        '"%(x)s"',
        '"\\\\"',
        '"v1"',
        '"lambda: 0"',
    ],
)
def test_nothing_written_reaches_python(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    original = builtins.compile

    def recording(source: str, *arguments: Any) -> Any:
        written.append(source)
        return original(source, *arguments)

    monkeypatch.setattr(generate, "compile", recording, raising=False)
    selector = compile_selector(f"device.driver == {text} || !(device.driver + {text} != {text}) || 'a' == {text}")
    assert selector._generated is not None
    assert selector._generated.__globals__["__builtins__"] == {}  # type: ignore[attr-defined]
    assert not selector.evaluate({"attributes": {}}, driver=DRIVER).match
    assert len(written) == 1
    assert text not in written[0]
    assert set(re.findall(r"[A-Za-z_]+", written[0])) <= WRITTEN


mixed = st.one_of(
    expressions,
    st.builds("({} ? {} : {}) == {}".format, expressions, places, operands, operands),
    st.builds("cel.bind(a, {}, {} && ({} || a.ecc))".format, st.sampled_from([A, C]), expressions, expressions),
    st.builds("cel.bind(a, {}, {} ? a.index == {} : has(a.ecc))".format, st.sampled_from([A]), expressions, operands),
    st.builds("{} > {} && {} in [3, 'x']".format, capacities, capacities, places),
)


@settings(max_examples=400, deadline=None)
@given(mixed, st.lists(devices, min_size=1, max_size=3))
def test_random_costs_agree(expression: str, found: list[dict[str, Any]]) -> None:
    try:
        selector = compile_selector(expression)
    except CelCompileError:
        return
    for device in found:
        counted = selector._quickly(as_device(device), DRIVER)
        if counted is not None:
            assert Evaluation(*counted) == accounted(selector, device)


def test_names_of_python_are_only_names() -> None:
    for name in ("driver", "attributes", "quick", "__builtins__", "exec", "len", "None", "lambda", "self", "v1", "c0"):
        assert compile_selector(f"cel.bind({name}, 1, {name} == 1)").matches({"attributes": {}}, DRIVER)


def test_the_cost_limit_ends_it() -> None:
    text = "x" * 20_000
    selector = compile_selector(f"{A}.long.contains('{text}')")
    long = {"attributes": {"long": {"string": text}}}
    assert selector._quickly(as_device({"attributes": {"long": {"string": "x"}}}), DRIVER) == (False, 2004)
    assert selector._quickly(as_device(long), DRIVER) is None
    assert accounted(selector, long) == "operation cancelled: actual cost limit exceeded"
