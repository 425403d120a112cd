"""A sample of the broken inputs; `make fuzz` runs many more."""

from __future__ import annotations

import pytest

from .inputs import run_of
from .judging import judge

SOME, MANY = 80, 4_000


def test_some_broken_inputs() -> None:
    judged = [judge(seed) for seed in range(SOME)]
    assert [one for one in judged if one.fault] == []
    assert {one.status for one in judged} >= {0, 1, 2}


def test_a_seed_is_one_input() -> None:
    assert [run_of(seed) for seed in range(20)] == [run_of(seed) for seed in range(20)]
    assert len({repr(run_of(seed)) for seed in range(200)}) == 200


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_many_broken_inputs(part: int) -> None:
    each = MANY // 8
    for seed in range(SOME + part * each, SOME + (part + 1) * each):
        assert not (judged := judge(seed)).fault, judged
