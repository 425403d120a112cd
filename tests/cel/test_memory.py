"""Nothing of an evaluation stays: neither with its result nor with its error, though nobody looks for garbage."""

import contextlib
import gc
from collections.abc import Callable

import pytest

from dra_plan.cel import Selector, compile_selector
from dra_plan.interpreter import uncollected

LONG = 500_000
DEVICE = {"attributes": {"i": {"int": 1}}}


def lists() -> int:
    return sum(type(one) is list and len(one) >= LONG for one in gc.get_objects())


@pytest.mark.parametrize(
    "expression",
    [
        "lists.range(1000000).size() > 0",
        'lists.range(600000).size() > 0 && device.attributes["a"].missing',
        "lists.range(600000)[device.attributes['driver'].i + 700000] == 0",
        "lists.range(600000)[700000] == 0 || device.driver == 'other'",
    ],
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda selector: selector.matches(DEVICE, "driver"),
        lambda selector: selector.evaluate(DEVICE, driver="driver"),
        lambda selector: selector.explain(DEVICE, driver="driver"),
    ],
    ids=["matches", "evaluate", "explain"],
)
def test_no_list_of_an_evaluation_stays(expression: str, ask: Callable[[Selector], object]) -> None:
    selector = compile_selector(expression)
    gc.collect()
    before = lists()
    with uncollected():
        for _ in range(2):
            with contextlib.suppress(ValueError):
                ask(selector)
        assert lists() == before
