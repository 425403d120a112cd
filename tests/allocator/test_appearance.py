"""Nodes that share an answer: it must be the answer, to the step, that a search of their own would have given."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from dra_plan.allocator import NodeOutcome
from dra_plan.allocator.likeness import Likeness
from dra_plan.releases import Target

from .random_searches import random_fleet
from .searching import TARGETS, Cluster, answers, some_defects


def told(answer: NodeOutcome, target: Target) -> tuple[object, ...]:
    """Everything that is told of an answer; a defect that the target does not have is nobody's concern."""
    sighted = {name for name in answer.sighted if getattr(target.quirks, name)}
    return answer.outcome, answer.message, list(answer.allocations), answer.steps, sighted


def check(seeds: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many answers were compared, and how many of them were shared."""
    shared = compared = 0
    recall = Likeness.recall

    def counted(self: Likeness, view: object) -> object:
        nonlocal shared
        answer = recall(self, view)
        shared += answer is not None
        return answer

    monkeypatch.setattr(Likeness, "recall", counted)
    for seed in seeds:
        cluster = Cluster.of(random_fleet(seed))
        targets = [*TARGETS.values(), some_defects(random.Random(seed))]
        target = targets[seed % len(targets)]
        each = answers(cluster, target, max_steps=3000)
        together = answers(cluster, target, max_steps=3000, shares_answers=True)
        compared += len(each)
        for own, common in zip(each, together, strict=True):
            assert told(own, target) == told(common, target), f"seed {seed}, node {own.node}"
    return compared, shared


def test_shared_answers_are_the_own_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, shared = check(range(50), monkeypatch)
    assert shared > compared / 6, "the fleets must have nodes that look the same"


@pytest.mark.long
def test_shared_answers_are_the_own_ones_in_thousands_of_fleets(monkeypatch: pytest.MonkeyPatch) -> None:
    check(range(50, 6000), monkeypatch)
