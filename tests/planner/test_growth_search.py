"""The cheapest numbers that are enough: the search alone, against going through all numbers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from decimal import Decimal

import pytest

from dra_plan.questions.grow.search import ALL_ASKED, CheapestSearch, Counts, Verdict, one_fewer

ONE = (Decimal(1),)


def least(enough: Callable[[Counts], Verdict], top: Counts, costs: tuple[Decimal, ...]) -> Decimal:
    every = itertools.product(*(range(count + 1) for count in top))
    return min(cost(counts, costs) for counts in every if enough(counts))


def cost(counts: Counts, costs: tuple[Decimal, ...]) -> Decimal:
    return sum((one * count for one, count in zip(costs, counts, strict=True)), Decimal(0))


@pytest.mark.parametrize("number", [0, 1, 2, 31, 32, 33, 500, 9_999])
def test_one_kind(number: int) -> None:
    asked: list[Counts] = []

    def enough(counts: Counts) -> bool:
        asked.append(counts)
        return counts[0] >= number

    found = CheapestSearch(enough, ONE).below((10_000,))
    assert found.counts == (number,)
    assert found.at_least == number
    assert found.exact is (number <= ALL_ASKED + 1)
    assert len(asked) == len(set(asked)) <= ALL_ASKED + 16


@pytest.mark.parametrize("seed", range(40))
def test_several_kinds_that_stand_in_for_each_other(seed: int) -> None:
    """Each pod is of some size, a node of a kind holds so much."""
    chance = random.Random(seed)
    kinds = chance.randint(2, 3)
    sizes = [chance.randint(1, 5) for _ in range(kinds)]
    costs = tuple(Decimal(chance.choice(["1", "1.5", "2", "0.1", "7"])) for _ in range(kinds))
    wanted = chance.randint(1, 11)

    def enough(counts: Counts) -> bool:
        return sum(size * count for size, count in zip(sizes, counts, strict=True)) >= wanted

    top = (12,) * kinds
    found = CheapestSearch(enough, costs).below(top)
    assert enough(found.counts)
    assert cost(found.counts, costs) == found.at_least == least(enough, top, costs)
    assert not any(enough(fewer) for fewer in one_fewer(found.counts))


@pytest.mark.parametrize("seed", range(40))
def test_more_that_is_not_always_better(seed: int) -> None:
    """Whatever is enough in any order: among the cheapest numbers every one is asked about."""
    chance = random.Random(seed)
    good = {number for number in range(1, 24) if chance.random() < 0.3} | {24}
    found = CheapestSearch(lambda counts: counts[0] in good, ONE).below((24,))
    assert found.counts == (min(good),)
    assert found.exact
    far = {number + 100 for number in good}
    assert not any(
        (counts[0] - 1) in far
        for counts in (CheapestSearch(lambda counts: counts[0] in far, ONE).below((max(far),)).counts,)
    )


def test_what_can_not_be_decided_leaves_both_bounds() -> None:
    found = CheapestSearch(lambda counts: None if counts[0] in (3, 4) else counts[0] > 4, ONE).below((8,))
    assert (found.counts, found.at_least, found.exact) == ((5,), 3, False)


def test_a_search_among_too_many_numbers_is_cut_short() -> None:
    """Two kinds that need each other in no way that halving finds."""

    def enough(counts: Counts) -> bool:
        return counts[0] * counts[1] * counts[2] >= 60_000

    costs = (Decimal(3), Decimal(1), Decimal(1))
    found = CheapestSearch(enough, costs).below((128, 128, 128))
    assert enough(found.counts)
    assert found.at_least < cost(found.counts, costs)
    assert not found.exact
    assert not any(enough(fewer) for fewer in one_fewer(found.counts))
