"""What searches leave behind: nothing that only a garbage collection would find."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from dra_plan import allocate
from dra_plan.allocator import Outcome
from dra_plan.allocator.ledger import Ledger
from tests.build import node

from .build import claim, device, device_class, exactly, is_v, pool


@pytest.fixture
def saved() -> Iterator[list[Any]]:
    """What collections find is kept here, of which there is none but at the end."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize(
    ("count", "max_steps", "outcome"),
    [(3, None, Outcome.FITS), (9, None, Outcome.DOES_NOT_FIT), (9, 2, Outcome.UNDECIDED)],
)
def test_a_search_goes_with_its_answer(saved: list[Any], count: int, max_steps: int | None, outcome: Outcome) -> None:
    offered = pool(*(device(f"d{number}", v=number % 3) for number in range(9)))
    same = [{"matchAttribute": "a.example.com/v"}]
    claims = [claim(exactly("one", count - 2), exactly("two", 2, where=is_v(1)), name="c", constraints=same)]
    plan = allocate([node(), device_class(), *offered, *claims], max_steps=max_steps)
    assert plan.claim_sets[0].outcome is outcome
    gc.collect()
    assert [each for each in saved if isinstance(each, Ledger)] == []
