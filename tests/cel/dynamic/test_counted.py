"""Generated functions that count: value and cost exactly as the accounting evaluator has them, or no answer."""

from __future__ import annotations

import builtins
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_plan.cel import Evaluation, Selector, compile_selector, generate
from dra_plan.cel.device import as_device, device_value
from dra_plan.cel.errors import CelCompileError, CelRuntimeError
from dra_plan.cel.interpret import Evaluator
from dra_plan.cel.values import EvaluationError, Fatal, begin_work

from .test_quick import DRIVER, A, C, capacities, devices, expressions, operands, places

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
    counted = selector._counted(as_device(DEVICE), DRIVER)
    assert counted is not None
    assert counted == accounted(selector, DEVICE) == selector.evaluate(DEVICE, driver=DRIVER)


NOT_COUNTED = [
    f"{A}.nope == 1 || true",  # errors are for the accounting evaluator
    f"{A}.model || true",
    f"{A}.model",
    "int(string(3)) == 3",  # converted before any evaluation, which costs nothing
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
    assert selector._counted(as_device(DEVICE), DRIVER) is None
    try:
        outcome: Evaluation | str = selector.evaluate(DEVICE, driver=DRIVER)
    except CelRuntimeError as error:
        outcome = str(error)
    if expression != f"{A}.model":  # not a bool, which is said after the evaluation
        assert outcome == accounted(selector, DEVICE)


WRITTEN = {"def", "quick", "attributes", "capacities", "driver", "multiple", "cost", "return", "if", "not", "v", "c"}
"""All words that the generated function may have for the expression below."""


@pytest.mark.parametrize(
    "text", ["\"__import__('os').system('true')\"", '\'\\n"""); raise SystemExit #\'', '"\\\\"', '"v1"']
)
def test_nothing_written_reaches_python(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    original = builtins.compile

    def recording(source: str, *arguments: Any) -> Any:
        written.append(source)
        return original(source, *arguments)

    selector = compile_selector(f"device.driver == {text} || !(device.driver + {text} != {text}) || 'a' == {text}")
    monkeypatch.setattr(generate, "compile", recording, raising=False)
    assert selector._counting is not None
    assert selector._counting.__globals__["__builtins__"] == {}  # type: ignore[attr-defined]
    assert not selector.evaluate({"attributes": {}}, driver=DRIVER).match
    assert len(written) == 1
    assert text not in written[0]
    assert set(re.findall(r"[A-Za-z_]+", written[0])) <= WRITTEN


atoms = st.one_of(
    expressions,
    st.builds("({} ? {} : {}) == {}".format, expressions, places, operands, operands),
    st.builds("cel.bind(a, {}, {} && ({} || a.ecc))".format, st.sampled_from([A, C]), expressions, expressions),
    st.builds("cel.bind(a, {}, {} ? a.index == {} : has(a.ecc))".format, st.sampled_from([A]), expressions, operands),
    st.builds("{} > {} && {} in [3, 'x']".format, capacities, capacities, places),
)


@settings(max_examples=400, deadline=None)
@given(atoms, st.lists(devices, min_size=1, max_size=3))
def test_random_costs_agree(expression: str, found: list[dict[str, Any]]) -> None:
    try:
        selector = compile_selector(expression)
    except CelCompileError:
        return
    for device in found:
        counted = selector._counted(as_device(device), DRIVER)
        if counted is not None:
            assert counted == accounted(selector, device)
