"""Pruning from the first step against the plain walk: the same answer, with the same devices, on random searches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from dra_plan.allocator import Outcome
from dra_plan.allocator.pruning.stocks import fillings
from dra_plan.allocator.pruning_rules import ALL_RULES, ALWAYS, NEVER, Pruning, PruningRule
from dra_plan.releases import Target
from tests.allocator.random_searches import (
    crowded_objects,
    diverse_objects,
    leaky_objects,
    packed_objects,
    random_objects,
)
from tests.allocator.searching import TARGETS, Cluster, answers, some_defects

PLAIN_STEPS = 3_000


def target_of(seed: int) -> Target:
    """A third each: as released, all defects repaired or another release, some defects repaired."""
    r = random.Random(seed)
    if seed % 3 == 0:
        return TARGETS["upstream"]
    return r.choice(list(TARGETS.values())) if seed % 3 == 1 else some_defects(r)


def check(
    seeds: Iterable[int],
    objects: Callable[[int], list[dict[str, Any]]] = random_objects,
    targets: Callable[[int], Target] = target_of,
    pruning: Pruning = ALWAYS,
) -> Counter[str]:
    """Compares the answers; counts outcomes, and the steps of both walks."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        cluster, target = Cluster.of(objects(seed)), targets(seed)
        plain = answers(cluster, target, pruning=NEVER, max_steps=PLAIN_STEPS)
        pruned = answers(cluster, target, pruning=pruning, max_steps=PLAIN_STEPS)
        for one, other in zip(plain, pruned, strict=True):
            if one.outcome is Outcome.UNDECIDED:
                seen["undecided"] += 1
                break  # what was settled for other nodes by then (Q1) is not known
            told = (one.outcome, one.message, list(one.allocations))
            assert told == (other.outcome, other.message, list(other.allocations)), f"seed {seed}, node {one.node}"
            seen[one.outcome.value] += 1
            seen["plain steps"] += one.steps
            seen["pruned steps"] += other.steps
    return seen


def test_same_answers() -> None:
    seen = check(range(300))
    assert min(seen["Fits"], seen["DoesNotFit"]) > 50
    assert seen["undecided"] < 15
    assert seen["pruned steps"] < seen["plain steps"] / 2


def test_same_answers_where_claims_compete_for_values() -> None:
    seen = check(range(200), crowded_objects)
    assert min(seen["Fits"], seen["DoesNotFit"]) > 30


def upstream(_: int) -> Target:
    return TARGETS["upstream"]


def test_same_answers_where_only_the_last_device_is_remembered() -> None:
    seen = check(range(400), diverse_objects, upstream)
    assert min(seen["Fits"], seen["DoesNotFit"]) > 100
    assert seen["pruned steps"] < seen["plain steps"] / 4


def test_same_answers_while_counters_leak() -> None:
    seen = check(range(400), leaky_objects, upstream)
    assert min(seen["Fits"], seen["DoesNotFit"]) > 50


def test_same_answers_where_shares_use_up_devices() -> None:
    seen = check(range(300), packed_objects)
    assert min(seen["Fits"], seen["DoesNotFit"]) > 100


def test_what_amounts_can_fill() -> None:
    assert fillings(((4,), (4,), (7,)), [3, 6, 10, 12, 100]) == [0, 4, 8, 11, 15]
    assert fillings(((2, 3), (3, 6)), [1, 4, 8, 9]) == [0, 3, 8, 9]
    assert fillings((), [5]) == [5], "nothing is known"
    assert fillings(((1,),), [5_000]) == [5_000], "too large to be looked at"


def test_a_horizon_that_moves_while_a_request_is_searched() -> None:
    """What was left out with the new horizon must not count as proven with the old one."""
    assert check([13_076], leaky_objects, upstream)["Fits"]


def test_shares_of_nothing_are_given_back_one_by_one() -> None:
    """Of a device without capacity, the counters are paid once while any share of it is held."""
    assert check([21_292], leaky_objects, lambda _: TARGETS["fixed"])["Fits"]


@pytest.mark.long
def test_same_answers_in_thousands_of_searches() -> None:
    check(range(300, 2_300))
    check(range(200, 1_500), crowded_objects)
    for objects in (diverse_objects, leaky_objects, packed_objects):
        check(range(400, 1_400), objects, upstream)
        check(range(1_400, 1_900), objects)


@pytest.mark.parametrize("rule", sorted(ALL_RULES))
def test_no_rule_needs_another(rule: PruningRule) -> None:
    check(range(10_000, 10_030), pruning=ALWAYS.without(rule))


@pytest.mark.long
@pytest.mark.parametrize("rule", sorted(ALL_RULES))
def test_each_rule_alone_gives_the_same_answers(rule: PruningRule) -> None:
    alone = ALWAYS.without(*ALL_RULES - {rule})
    for objects in (random_objects, crowded_objects, diverse_objects, leaky_objects, packed_objects):
        check(range(20_000, 20_200), objects, pruning=alone)
