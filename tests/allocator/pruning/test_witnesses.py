"""Each rule of pruning earns its place: some search is decided with it and not without it."""

from __future__ import annotations

import pytest

from dra_plan import claims, releases
from dra_plan.allocator import Allocator, NodeOutcome, Outcome
from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.allocator.pruning_rules import ALL_RULES, USUAL, Pruning, PruningRule
from dra_plan.allocator.view import View
from dra_plan.manifests.decode import from_dicts
from tests.allocator.described import objects

from .witnesses import WITNESSES

FITS = {"R6"}
STEPS_WITH, STEPS_WITHOUT = 8_000, 10_000


def answer(description: str, pruning: Pruning, max_steps: int) -> NodeOutcome:
    inventory = from_dicts(objects(description))
    view = View.of(inventory, releases.target("1.36.2"))
    [claim_set] = claims.expand(inventory, namespace=None, selector=None, together=True).sets
    return Allocator(claim_set.claims, view, pruning=pruning, max_steps=max_steps).allocate(inventory.nodes[0])


def test_each_rule_has_a_witness() -> None:
    assert set(WITNESSES) == ALL_RULES


@pytest.mark.parametrize("rule", WITNESSES)
def test_decided_with_the_rule(rule: PruningRule) -> None:
    found = answer(WITNESSES[rule], USUAL, STEPS_WITH)
    assert found.outcome is (Outcome.FITS if rule in FITS else Outcome.DOES_NOT_FIT)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", WITNESSES)
def test_undecided_without_it(rule: PruningRule) -> None:
    assert answer(WITNESSES[rule], USUAL.without(rule), STEPS_WITHOUT).outcome is Outcome.UNDECIDED


@pytest.mark.long
@pytest.mark.parametrize("rule", WITNESSES)
def test_undecided_without_it_within_the_usual_steps(rule: PruningRule) -> None:
    assert answer(WITNESSES[rule], USUAL.without(rule), DEFAULT_MAX_STEPS).outcome is Outcome.UNDECIDED
