"""Errors, optional values, quantities that change, and device attributes: what an evaluation makes of them."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import pytest

from dra_plan.api.resource import Device
from dra_plan.cel import compile_selector
from dra_plan.cel.lexer import CelRuntimeError
from dra_plan.errors import InputError

from .expressions import DEVICE, DRIVER, LISTS, error, evaluate, holds

A = 'device.attributes["gpu.example.com"]'
C = 'device.capacity["gpu.example.com"]'


@pytest.mark.parametrize(
    "expression",
    [
        f"{A}.nope == 1 || {A}.index == 3",
        f"{A}.index == 3 || {A}.nope == 1",
        f"!({A}.nope == 1 && {A}.index == 4)",
        f"!({A}.index == 4 && {A}.nope == 1)",
        "[1, 2].exists(x, x / (x - 1) == 2)",
        "![1, 2].all(x, 1 / (x - 1) > 5)",
        f"has({A}.model) && !has({A}.nope) && !has(device.attributes['x.example.com'].y)",
        "has(device.attributes.anything) && !('anything' in device.attributes)",
        f"'gpu.example.com' in device.attributes && 'model' in {A} && !('link' in {A})",
        'device.attributes["other.example.com"].link == "nvlink" && device.capacity["other.example.com"].slots.isInteger()',  # noqa: E501
        f"{A}.?nope.orValue(5) == 5 && {A}[?'index'].value() == 3 && !{A}.?model.?x.hasValue()",
        f"cel.bind(a, {A}, a.model == 'A100' && a.ecc)",
        f"cel.bind(unused, {A}.nope, true)",
        f"{A}.version == semver('1.2.3') && {A}.version.isGreaterThan(semver('1.0.0'))",
        f"'1.2.3' != {A}.version && !('1.2.3' == {A}.version)",
        f"{A}.version != '1.2.3'",
        f"{A}.index == 3.0 && {A}.index == 3u && {A}.index < 3.5 && {A}.index in [1, 3]",
        f"!({A}.ecc == 1) && {A}.ecc == true && {{true: 1}}[true] == 1 && !(dyn(1) in {{true: 1}})",
        f"type({A}.model) == string && type({A}) == map && type(device) == map",
        f"(has({A}.nope) ? {A}.nope : {A}.model) == 'A100'",
        f"{A}[['model'][0]] == 'A100'",
        "1.0 / 0.0 > 1e308 && 0.0 / 0.0 != 0.0 / 0.0 && -7 / 2 == -3 && -7 % 2 == -1 && 7 % -2 == 1",
        "{1: 'a'}[dyn(1u)] == 'a' && {1u: 'a'}[dyn(1.0)] == 'a' && [1, 2][dyn(1u)] == 2 && [7][dyn(0.0)] == 7",
        "dyn(9007199254740993) == 9007199254740992.0",
        "device.driver == 'gpu.example.com' && !device.allowMultipleAllocations",
    ],
)
def test_true(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (f"{A}.nope == 1", "no such key: nope"),
        (f"{A}.nope == 1 && {A}.index == 3", "no such key: nope"),
        (f"{A}.nope == 1 || {A}.other == 1", "no such key: nope"),
        (f"{A}.model.x == 1", "no such key: x"),
        (f"{A}.version == '1.2.3'", "no such overload"),
        (f"{A}.version in ['1.2.3']", "internal error: runtime error: hash of unhashable type cel.Semver"),
        (f"true || {A}.model", None),
        (f"{A}.model || false", "no such overload"),
        (f"{A}.model ? true : false", "no such overload"),
        (f"{A}.model > 1", "no such overload"),
        (f"{A}.model", "CEL result of type string could not be converted to bool: "),
        (f"{C}.cores.isInteger()", "no such key: cores"),
        ("[1, 2].exists_one(x, 1 / (x - 1) == 1)", "division by zero"),
    ],
)
def test_errors(expression: str, text: str | None) -> None:
    if text is None:
        assert holds(expression)
    else:
        assert error(expression).startswith(text)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        # A comparison with a decimal amount makes the receiver one, and then it is no integer any more.
        (f"{C}.memory.isInteger() && {C}.memory.isGreaterThan(quantity('1.5Gi')) && !{C}.memory.isInteger()", True),
        (f"{C}.memory.isGreaterThan(quantity('1Gi')) && {C}.memory.isInteger()", True),
        (f"quantity('1Gi').isLessThan({C}.odd) && {C}.memory.isInteger()", True),
        # Adding to a decimal amount changes it; an integer one is copied.
        (f"{C}.odd.add(quantity('1Gi')) == quantity('2.5Gi') && {C}.odd == quantity('2.5Gi')", True),
        (f"{C}.memory.add(quantity('1Gi')) == quantity('41Gi') && {C}.memory == quantity('40Gi')", True),
        ("cel.bind(q, quantity('1.5Gi'), q.add(1) == q)", True),
        ("cel.bind(q, quantity('1Gi'), q.add(1) == q)", False),
    ],
)
def test_quantities_change_as_upstream(expression: str, result: bool) -> None:
    for _ in range(2):
        assert holds(expression) is result


def test_one_bad_attribute_spoils_all() -> None:
    bad = {"attributes": {"ok": {"int": 1}, "v": {"version": "1.0"}}, "capacity": {}}
    assert error("true", bad) == "attribute v: parse semantic version: No Major.Minor.Patch elements found"
    assert error("true", {"attributes": {"x": {}}}) == "attribute x: unsupported attribute value"
    assert error("true", LISTS) == "attribute names: unsupported attribute value"


def test_lists_with_the_gate() -> None:
    names = 'device.attributes["gpu.example.com"].names'
    assert evaluate(f"{names}.size() == 2 && {names}.exists(n, n == 'a') && 'b' in {names}", LISTS, lists=True).match
    assert evaluate(f"{names}.includes('a') && !{names}.includes('c')", LISTS, lists=True).match
    assert evaluate('device.attributes["gpu.example.com"].name.includes("a")', LISTS, lists=True).match
    many = {"attributes": {"n": {"ints": list(range(49))}}}
    text = error('device.attributes["gpu.example.com"].n.includes(1)', many, lists=True)
    assert text == "'includes' function cannot be applied to lists longer than 48 values"


@pytest.mark.parametrize(
    ("attribute", "text"),
    [("index", "got 'types.Int', expected iterable type"), ("model", "got 'types.String', expected iterable type")],
)
def test_not_iterable(attribute: str, text: str) -> None:
    assert error(f"{A}.{attribute}.exists(x, x == 1)", lists=True) == text


def test_plain_dict_and_struct_are_the_same() -> None:
    selector = compile_selector(f"{A}.index == 3 && device.allowMultipleAllocations")
    plain = {**DEVICE, "allowMultipleAllocations": True}
    assert selector.evaluate(plain, driver=DRIVER).match
    assert selector.evaluate(msgspec.convert({"name": "x", **plain}, Device), driver=DRIVER).match
    with pytest.raises(InputError):
        selector.evaluate({"attributes": {"x": {"int": "one"}}}, driver=DRIVER)


def test_names_belong_to_the_driver() -> None:
    selector = compile_selector('device.attributes["a.example.com"].x == 1')
    device = {"attributes": {"x": {"int": 1}}}
    assert selector.matches(device, "a.example.com")
    with pytest.raises(CelRuntimeError, match="no such key: x"):
        selector.matches(device, "b.example.com")


def test_results_are_remembered_by_what_is_read() -> None:
    selector = compile_selector(f'{A}.model.matches("^1$") || {A}.index == 1')
    devices: list[dict[str, Any]] = [
        {"attributes": {"model": value, "index": {"int": 2}}} for value in ({"string": "1"}, {"string": "x"})
    ]
    assert [selector.matches(device, DRIVER) for device in devices * 2] == [True, False] * 2
    # 1, true and 1.0 are one key to Python, not here.
    tagged = compile_selector(f"[{A}.index].exists(x, x == true)")
    assert [tagged.matches({"attributes": {"index": v}}, DRIVER) for v in ({"bool": True}, {"int": 1})] == [True, False]


def test_same_arguments_same_selector() -> None:
    assert compile_selector("true") is compile_selector("true", kubernetes_version="1.36", rules="stored")
    assert compile_selector("true") is not compile_selector("true", rules="new")


def test_threads() -> None:
    selector = compile_selector(f'{A}.model.matches("A") && [1, 2, 3].map(x, x * {A}.index).sum() == 18')
    outcomes: list[bool] = []

    def work() -> None:
        outcomes.extend(selector.evaluate(DEVICE, driver=DRIVER).match for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 80


def test_since_1_37_arithmetic_leaves_quantities_alone():
    expression = f"{C}.odd.add(quantity('1Gi')) == quantity('2.5Gi') && {C}.odd == quantity('2.5Gi')"
    device = {"capacity": {"odd": {"value": "1.5Gi"}}}
    old, new = (compile_selector(expression, kubernetes_version=version) for version in ("1.36", "1.37"))
    assert old.evaluate(device, driver=DRIVER).match
    assert not new.evaluate(device, driver=DRIVER).match


def test_since_1_37_stored_selectors_see_lists_without_the_gate():
    expression = f"device.attributes['{DRIVER}'].l.includes(2)"
    device = {"attributes": {"l": {"ints": [1, 2]}}}
    assert compile_selector(expression, kubernetes_version="1.37").evaluate(device, driver=DRIVER).match
    with pytest.raises(CelRuntimeError, match="attribute l: unsupported attribute value"):
        compile_selector(expression, kubernetes_version="1.36").evaluate(device, driver=DRIVER)
    with pytest.raises(ValueError, match="includes"):
        compile_selector(expression, kubernetes_version="1.37", rules="new")
