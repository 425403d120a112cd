"""Evaluates single expressions of any type: tests of functions need no device."""

from __future__ import annotations

from typing import Any

from dra_plan.cel import Evaluation, compile_selector

DRIVER = "gpu.example.com"

DEVICE: dict[str, Any] = {
    "attributes": {
        "model": {"string": "A100"},
        "index": {"int": 3},
        "ecc": {"bool": True},
        "version": {"version": "1.2.3+build"},
        "other.example.com/link": {"string": "nvlink"},
    },
    "capacity": {"memory": {"value": "40Gi"}, "odd": {"value": "1.5Gi"}, "other.example.com/slots": {"value": "7"}},
}

LISTS: dict[str, Any] = {
    "attributes": {"names": {"strings": ["a", "b"]}, "sizes": {"ints": [1, 2, 3]}, "name": {"string": "a"}},
    "capacity": {},
}


def evaluate(expression: str, device: dict[str, Any] | None = None, *, lists: bool = False) -> Evaluation:
    selector = compile_selector(expression, feature_gates={"DRAListTypeAttributes": lists})
    return selector.evaluate(DEVICE if device is None else device, driver=DRIVER)


def holds(expression: str) -> bool:
    selector = compile_selector(expression)
    quick = selector.matches(DEVICE, DRIVER)
    assert quick == evaluate(expression).match
    return quick


def error(expression: str, device: dict[str, Any] | None = None, *, lists: bool = False) -> str:
    """The text of the error that the evaluation must end in."""
    selector = compile_selector(expression, feature_gates={"DRAListTypeAttributes": lists})
    texts = []
    for run in (
        lambda: selector.evaluate(device or DEVICE, driver=DRIVER),
        lambda: selector.matches(device or DEVICE, DRIVER),
    ):
        try:
            result = run()
        except ValueError as caught:
            texts.append(str(caught))
        else:
            raise AssertionError(f"{expression} gives {result}")
    assert texts[0] == texts[1]
    return texts[0]
