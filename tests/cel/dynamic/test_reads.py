from __future__ import annotations

import pytest

from dra_plan.cel import compile_selector

A = 'device.attributes["a.example.com"]'


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ("true", set()),
        ('device.driver == "x"', {("driver", "", "")}),
        ("device.allowMultipleAllocations", {("allowMultipleAllocations", "", "")}),
        (f"{A}.x == 1 && {A}['y'] == 2", {("attributes", "a.example.com", "x"), ("attributes", "a.example.com", "y")}),
        (f"has({A}.x)", {("attributes", "a.example.com", "x")}),
        (f"'x' in {A}", {("attributes", "a.example.com", "x")}),
        (f"{A}.?x.hasValue() && {A}[?'y'].hasValue()", {("attributes", "a.example.com", n) for n in "xy"}),
        (f"cel.bind(a, {A}, a.x == 1 && has(a.y))", {("attributes", "a.example.com", n) for n in "xy"}),
        (f"cel.bind(a, {A}.x, a == 1)", {("attributes", "a.example.com", "x")}),
        (f"[1].exists(v, {A}.x == v)", {("attributes", "a.example.com", "x")}),
        ('device.capacity["a"].m.isInteger()', {("capacity", "a", "m")}),
        (f"{A}.exists(k, k == 'x')", None),
        ("device.attributes.exists(d, d == 'x')", None),
        (f"{A}[device.driver] == 1", None),
        ("'x' in device.attributes", None),
        ("cel.bind(d, device, d.driver == 'x')", None),
        (f"cel.bind(a, {A}, a.size() > 1)", None),
        (f"[{A}].size() == 1", None),
    ],
)
def test_reads(expression: str, reads: set[tuple[str, str, str]] | None) -> None:
    assert compile_selector(expression).reads == reads
