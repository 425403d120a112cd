"""The bound of `repack` where not all columns are made: who leaves costs what the place is worth that it needs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dra_plan import Cluster
from dra_plan.placement import repacking
from dra_plan.placement.leaving import Vacancies
from dra_plan.placement.node_capacity import Combination
from tests.questions.repack.fleets import Asks, Scattered
from tests.questions.repack.test_brute_force import check, check_shares


@pytest.fixture(autouse=True)
def as_in_a_large_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more columns than on a fleet where all would be too many."""
    monkeypatch.setattr(repacking, "MOST_LOOKS", 0)
    monkeypatch.setattr(repacking, "MOST_TIGHT", 0)


def crowded() -> Scattered:
    """Four devices are to come free on `a`; three pods have to go to `b`, where nobody has room before `q` leaves."""
    nodes = {"a": (4, 9, "A"), "b": (3, 8, "A"), "c": (0, 8, "A"), "d": (1, 1, "A")}
    pods = {f"p{each}": ("a", Asks(1, 2)) for each in range(3)}
    pods |= {"r": ("a", Asks(1, 1)), "q": ("b", Asks(0, 8))}
    return Scattered(nodes, pods, Asks(4, 1), 1)


def test_who_leaves_for_those_that_leave_is_part_of_the_bound() -> None:
    scene = crowded()
    found = Cluster.of(scene.objects()).repack(for_="pod/room-0")
    assert found.outcome == "Moves"
    assert found.moves == found.at_least == scene.fewest(1) == 5


def test_a_place_is_worth_nothing_where_somebody_takes_the_pods_as_they_are() -> None:
    scene = crowded()
    scene.nodes["e"] = (3, 8, "A")
    found = Cluster.of(scene.objects()).repack(for_="pod/room-0")
    assert found.moves == found.at_least == 4


def test_bounds_are_true_where_few_columns_are_made() -> None:
    found = [check(seed) for seed in range(100, 160)]
    assert found.count("Moves") >= 5
    for seed in range(100, 130):
        check_shares(seed)


def test_more_room_than_was_found_is_not_excluded() -> None:
    """A node that holds many combinations: what is not examined is not proved to be impossible."""
    check(264)


def test_what_does_not_fit_by_numbers_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters and allocator are not asked about pods that need more than there is, but would refuse them."""
    by_numbers, seen = Vacancies._is_in_numbers, {True: 0, False: 0}

    def checked(self: Vacancies, node: str, stay: Sequence[int], comes: Combination) -> bool:
        found = by_numbers(self, node, stay, comes)
        seen[found] += 1
        exist = all(len(shape.members) >= number for shape, number in zip(self.shapes, comes, strict=True))
        if not found and exist:
            with monkeypatch.context() as patched:
                patched.setattr(Vacancies, "_is_in_numbers", lambda *_: True)
                assert not self.fits(node, stay, comes)
        return found

    monkeypatch.setattr(Vacancies, "_is_in_numbers", checked)
    for seed in range(160, 180):
        check(seed)
        check_shares(seed)
    assert min(seen.values()) > 100, seen


def test_nothing_is_proved_by_combinations_that_were_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repacking, "MOST_HELD", 2)
    for seed in range(100, 120):
        check(seed)
        check_shares(seed)


@pytest.mark.long
def test_bounds_of_many_clusters_are_true_where_few_columns_are_made() -> None:
    for seed in range(1_000):
        check(seed)
        check_shares(seed)
