from __future__ import annotations

import pytest

from dra_plan.cel import compile_selector
from dra_plan.cel.explain import EvaluatedPart
from dra_plan.cel.rewrite import expression_text

from .expressions import DEVICE, DRIVER

A = 'device.attributes["gpu.example.com"]'


def lines(part: EvaluatedPart, depth: int = 0) -> list[str]:
    found = part.value if part.error is None else f"! {part.error}"
    return [f"{'  ' * depth}{part.text}: {found}", *(line for inner in part.parts for line in lines(inner, depth + 1))]


def explained(expression: str) -> list[str]:
    return lines(compile_selector(expression).explain(DEVICE, driver=DRIVER))


def test_every_part_has_its_value() -> None:
    assert explained(f'{A}.model == "A100" && {A}.index + 1 > 5 && {A}.nope') == [
        f'{A}.model == "A100" && {A}.index + 1 > 5 && {A}.nope: false',
        f'  {A}.model == "A100": true',
        f'    {A}.model: "A100"',
        f"  {A}.index + 1 > 5: false",
        f"    {A}.index + 1: 4",
        f"      {A}.index: 3",
        f"  {A}.nope: None",
    ]


def test_errors_are_shown_where_they_are() -> None:
    assert explained(f"{A}.nope == 1 || {A}.ecc") == [
        f"{A}.nope == 1 || {A}.ecc: true",
        f"  {A}.nope == 1: ! no such key: nope",
        f"    {A}.nope: ! no such key: nope",
        f"  {A}.ecc: true",
    ]


def test_macros_are_shown_as_written() -> None:
    assert explained('[1, 2].exists(x, x > 1) && ["b", "a"].sortBy(s, s)[0] == "a"') == [
        '[1, 2].exists(x, x > 1) && ["b", "a"].sortBy(s, s)[0] == "a": true',
        "  [1, 2].exists(x, x > 1): true",
        "    [1, 2]: [1, 2]",
        "    x > 1: true",
        "      x: 2",
        '  ["b", "a"].sortBy(s, s)[0] == "a": true',
        '    ["b", "a"].sortBy(s, s)[0]: "a"',
        '      ["b", "a"].sortBy(s, s): ["a", "b"]',
        '        ["b", "a"]: ["b", "a"]',
        '        s: "a"',
    ]


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (f"{A}.version", 'semver("1.2.3+build")'),
        ('device.capacity["gpu.example.com"].memory', 'quantity("40Gi")'),
        ("[dyn(1u), dyn(1.5), dyn(null), dyn(b'x'), dyn(optional.of(1))]", '[1u, 1.5, null, b"x", optional.of(1)]'),
        ('{"a": duration("90s")}', '{"a": duration("90s")}'),
        ('[ip("::1")]', '[ip("::1")]'),
        ("type(1)", "int"),
    ],
)
def test_values(expression: str, shown: str) -> None:
    explanation = compile_selector(f"[{expression}].size() == 1").explain(DEVICE, driver=DRIVER)
    found = explanation.parts[0].parts[0]
    assert found.value == f"[{shown}]"


@pytest.mark.parametrize(
    "text",
    [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "1 - (2 - 3) == 2",
        "-(-1) == 1",
        "!(true && false)",
        "(true ? 1 : 2) == 1",
        'has(device.attributes["d"].x)',
        "[1, 2].all(x, x > 0)",
        "[1].exists_one(x, x == 1)",
        "[1].map(x, x + 1) == [2]",
        "[1].map(x, x > 0, x + 1) == [2]",
        "[1].filter(x, x > 0) == [1]",
        "[1].transformList(i, v, i + v) == [1]",
        "{1: 2}.transformMap(k, v, k > 0, v) == {1: 2}",
        "[1].exists(i, v, i == v)",
        "[1].sortBy(x, -x) == [1]",
        "optional.of(1).optMap(x, x + 1).value() == 2",
        "optional.of(1).optFlatMap(x, optional.of(x)).value() == 1",
        '{"a": 1}.?b.orValue(2) == 2',
        "[1][?0].orValue(2) == 1",
        'b"\\x00a" == b"\\x00a"',
        "1.0 == 1.0",
        "1u == 1u",
        'cel.bind(a, "x", a == a)',
        "google.protobuf.Int64Value{value: 1} == 1",
        '"a\\n\\"" == "a"',
        "[?optional.of(1)] == [1]",
        '{?"a": optional.of(1)} == {"a": 1}',
        "true || false && true",
        "(true || false) && true",
        "1 in [1] == true",
    ],
)
def test_text_of_an_expression(text: str) -> None:
    root = compile_selector(text)._checked.root
    assert expression_text(root) == text
    assert expression_text(compile_selector(expression_text(root))._checked.root) == text


def test_maps_with_any_keys_are_shown() -> None:
    assert explained("{[1]: {true: 2}}.size() == 1")[2].endswith("{[…]: {true: 2}}")
