"""What stands in for values of the wrong type."""

from typing import Any

import pytest

from dra_plan.manifests.diagnose import stand_in, zero_value
from dra_plan.manifests.shapes import QUANTITY

AMOUNT = {"type": QUANTITY}
WRAPPED = {"type": "object", "properties": {"value": AMOUNT}}


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        (5, {"type": "string"}, "5"),
        (True, {"type": "string"}, "true"),
        ({}, {"type": "string"}, None),
        ("2", {"type": "integer"}, 2),
        ("two", {"type": "integer"}, None),
        ("1" * 5000, {"type": "integer"}, None),
        ("True", {"type": "boolean"}, True),
        ("yes", {"type": "boolean"}, None),
        ("80 GB", AMOUNT, "80G"),
        ("80gi", AMOUNT, "80Gi"),
        ("80GiB", AMOUNT, "80Gi"),
        ("1 KB", AMOUNT, "1k"),
        ("1.2.3", AMOUNT, None),
        ([], AMOUNT, None),
        (False, AMOUNT, None),
        ("80Gi", WRAPPED, {"value": "80Gi"}),
        (80, WRAPPED, {"value": "80"}),
        ("much", WRAPPED, None),
        ("yesterday", {"type": ["string", "null"], "format": "date-time"}, None),
    ],
)
def test_what_was_meant(value: Any, schema: dict[str, Any], expected: Any) -> None:
    assert stand_in(value, schema) == expected


def test_numbers_that_python_does_not_write() -> None:
    assert stand_in(10**5000, {"type": "string"}) is None


def test_zeros() -> None:
    assert [zero_value({"type": name}) for name in ("string", "integer", "boolean", "object", "array")] == [
        "",
        0,
        False,
        {},
        [],
    ]
    assert zero_value(AMOUNT) == "0"
    assert zero_value({"type": ["string", "null"]}) is None
