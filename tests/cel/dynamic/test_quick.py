"""Generated functions: the same outcome as the accounting evaluator, and nothing of the expression in their text."""

from __future__ import annotations

import builtins
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_plan.cel import Selector, compile_selector, generate
from dra_plan.cel.errors import CelCompileError, CelRuntimeError

WRITTEN = {"def", "quick", "attributes", "capacities", "driver", "multiple", "return", "or", "lambda", "v", "c"}
"""All words that the generated function may have for the expression below."""

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


def outcome(selector: Selector, device: dict[str, Any], *, quick: bool) -> object:
    try:
        return selector.matches(device, DRIVER) if quick else selector.evaluate(device, driver=DRIVER).match
    except CelRuntimeError as error:
        return str(error)


@settings(max_examples=400, deadline=None)
@given(expressions, st.lists(devices, min_size=1, max_size=3))
def test_quick_and_accounting_agree(expression: str, found: list[dict[str, Any]]) -> None:
    try:
        selector = compile_selector(expression)
    except CelCompileError:
        return
    for device in found * 2:
        assert outcome(selector, device, quick=True) == outcome(selector, device, quick=False)


@pytest.mark.parametrize(
    "text",
    [
        "\"__import__('os').system('true')\"",
        '\'\\n"""); raise SystemExit #\'',
        '"{0.__class__}"',
        '"%(x)s"',
        '"\\\\"',
        '"c0"',
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
    selector = compile_selector(f"device.driver == {text} || cel.bind(c0, {text}, c0 + {text} == device.driver)")
    assert not selector.matches({"attributes": {}}, DRIVER)
    assert len(written) == 1
    assert text not in written[0]
    assert set(re.findall(r"[A-Za-z_]+", written[0])) <= WRITTEN


def test_names_of_python_are_only_names() -> None:
    for name in ("driver", "attributes", "quick", "__builtins__", "exec", "len", "None", "lambda", "self", "v1", "c0"):
        assert compile_selector(f"cel.bind({name}, 1, {name} == 1)").matches({"attributes": {}}, DRIVER)


def test_generated_code_has_no_builtins() -> None:
    selector = compile_selector('device.driver == "x"')
    assert selector._quick is not None
    assert selector._quick.__globals__["__builtins__"] == {}  # type: ignore[attr-defined]
