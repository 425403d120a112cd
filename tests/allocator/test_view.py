"""The view of a cluster: a value, whose edits share what did not change."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import releases
from dra_plan.allocator import Allocator, Outcome, PoolID, View
from dra_plan.manifests.decode import from_dicts
from tests import build
from tests.build import node, taint_rule

from .build import DRIVER, claim, device, device_class, exactly, pool

TAINT = {"key": "k", "effect": "NoSchedule"}


def allocated(name: str, device_name: str) -> dict[str, Any]:
    return build.allocated(name, f"p/{device_name}", driver=DRIVER)


@pytest.fixture
def view() -> View:
    objects = [node(), device_class(), *pool(device("d1"), device("d2")), allocated("old", "d1"), claim(exactly("r"))]
    return View.of(from_dicts(objects), releases.target())


def outcome(view: View) -> Outcome:
    wanted = from_dicts([claim(exactly("r"), name="new")]).claims
    return Allocator(wanted, view).allocate(from_dicts([node()]).nodes[0]).outcome


def test_an_edit_leaves_the_view_as_it_was(view: View) -> None:
    before = {name: getattr(view, name) for name in ("target", "classes", "slices", "claims", "gatherer", "state")}
    assert outcome(view.with_slices([])) is Outcome.DOES_NOT_FIT
    assert outcome(view.with_classes({})) is Outcome.ERROR
    both = from_dicts([allocated("one", "d1"), allocated("two", "d2")]).claims
    assert outcome(view.with_claims(both)) is Outcome.DOES_NOT_FIT
    assert outcome(view.with_state(view.with_claims(both).state)) is Outcome.DOES_NOT_FIT
    assert outcome(view) is Outcome.FITS
    assert all(getattr(view, name) is part for name, part in before.items())


def test_an_edit_shares_what_it_does_not_touch(view: View) -> None:
    gatherer, state, holders = view.gatherer, view.state, view.holders
    compiled = view.compile("true")
    other = view.with_claims(())
    assert other.gatherer is gatherer
    assert other.state is not state
    assert other.compile("true") is compiled
    assert view.with_slices(()).state is state
    assert view.with_slices(()).holders is holders
    repaired = view.repaired("counters_by_pool_name")
    assert repaired.state is state
    assert repaired.gatherer is not gatherer
    assert repaired.compile("true") is compiled
    without_shares = view.at(releases.target(feature_gates={"DRAConsumableCapacity": False}))
    assert without_shares.state is not state


def test_a_target_has_one_view(view: View) -> None:
    assert view.at(view.target) is view
    assert view.repaired("admin_pays") is view.repaired("admin_pays")
    assert view.repaired("admin_pays") is not view.repaired()


def test_holders_are_the_claims_with_devices_in_a_pool(view: View) -> None:
    assert list(view.holders) == [PoolID(DRIVER, "p")]
    assert [claim.key for claim in view.holders[PoolID(DRIVER, "p")]] == ["default/old"]


@pytest.mark.parametrize(
    ("gate", "quirks", "count"),
    [(False, "upstream", 0), (True, "upstream", 2), (True, "fixed", 1)],
)
def test_which_taint_rules_count(gate: bool, quirks: str, count: int) -> None:
    """Rule E.1: none with the gate off; one without a selector counts only where that defect is not repaired."""
    rules = [taint_rule("all"), taint_rule("one", device="d1")]
    target = releases.target(feature_gates={"DRADeviceTaintRules": gate}, quirks=quirks)
    view = View.of(from_dicts(rules), target)
    assert len(view.taint_rules) == count
    assert len(view.given_rules) == 2


def test_pools_are_gathered_once_for_all_states(view: View) -> None:
    one, other = view.with_state(view.state), view.with_state(view.with_claims(()).state)
    assert one.gatherer is other.gatherer is view.gatherer


def test_counters_are_shared_by_drivers_whose_pools_have_one_name() -> None:
    def counting(driver: str, **changes: Any) -> list[dict[str, Any]]:
        consumes = [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]
        made = pool(device("d", consumesCounters=consumes), device("e"))
        for slice_ in made:
            slice_["metadata"]["name"] += driver
            slice_["spec"]["driver"] = driver
            slice_["spec"].update(changes)
        return made

    def names(*objects: dict[str, Any], quirks: str = "upstream") -> frozenset[str]:
        return View.of(from_dicts(objects), releases.target(quirks=quirks)).shared_counter_names

    one, other = counting("one.example"), counting("other.example")
    assert names(*one, *other) == {"p"}
    assert names(*one, *other, quirks="fixed") == set()
    assert names(*one) == set()
    assert names(*one, *counting("other.example", devices=[device("d")])) == set(), "nothing of it is charged"
