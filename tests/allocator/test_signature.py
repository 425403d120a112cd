"""Nodes that share an answer: it must be the answer, to the step, that a search of their own would have given."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from dra_plan.allocator import Allocator, NodeOutcome, Outcome
from dra_plan.allocator.signature import Likeness
from dra_plan.api.resource import ResourceClaimStatus
from dra_plan.releases import Target

from .random_searches import random_fleet
from .searching import TARGETS, Cluster, SimpleView, answers, some_defects


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
    check(range(50, 1_500), monkeypatch)


def check_going_on(seeds: Iterable[int]) -> tuple[int, int]:
    """How many answers of later allocators were compared, and how many of them were known from earlier ones."""
    known = compared = 0
    for seed in seeds:
        cluster = Cluster.of(random_fleet(seed))
        chance = random.Random(seed)
        targets = [*TARGETS.values(), some_defects(chance)]
        target = targets[seed % len(targets)]
        alike = None
        view = SimpleView(target, classes=cluster.classes, slices=cluster.slices, claims=cluster.claims)
        pending = [claim for claim in cluster.claims if claim.allocation is None]
        taken = [claim for claim in cluster.claims if claim.allocation is not None]
        if view.shared_counter_names:
            continue  # the node that is asked first decides for all: nobody goes on there
        for turn in range(4):
            now = view.with_state(view.with_claims([*taken, *pending]).state)
            fresh = Allocator(pending, now, max_steps=3000, shares_answers=False)
            later = Allocator(pending, now, max_steps=3000, likeness=alike)
            alike = later.likeness
            assert alike is not None
            before = dict(alike._answers)
            fitting = []
            for node in cluster.nodes:
                own, common = fresh.allocate(node), later.allocate(node)
                assert told(own, target) == told(common, target), f"seed {seed}, turn {turn}, node {own.node}"
                compared += 1
                fitting += [own] if own.outcome is Outcome.FITS else []
            known += bool(before) and len(alike._answers) < len(before) + len(cluster.nodes)
            if not fitting:
                break
            given = zip(pending, chance.choice(fitting).allocations, strict=True)
            taken += [
                replace(
                    claim,
                    metadata=replace(claim.metadata, name=f"{claim.metadata.name}-{turn}"),
                    status=ResourceClaimStatus(allocation=allocation),
                )
                for claim, allocation in given
            ]
    return compared, known


def test_answers_of_an_earlier_allocator_are_the_own_ones() -> None:
    compared, known = check_going_on(range(60))
    assert compared > 500
    assert known > 20


@pytest.mark.long
def test_answers_of_an_earlier_allocator_are_the_own_ones_in_thousands_of_fleets() -> None:
    check_going_on(range(60, 1_200))
