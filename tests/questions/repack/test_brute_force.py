"""`repack` against every assignment of small clusters: the same fewest moves, bounds that are true, steps that hold."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from tests.questions.repack.fleets import carried_out, scattered, shares

SEEDS = 100
ALL_SEEDS = 1_000


def check(seed: int) -> str:
    scene = scattered(seed)
    cluster = Cluster.of(scene.objects())
    bare = seed % 3 == 0
    movable = "bare" if bare else None
    if scene.often == 1 and seed % 2:
        found = cluster.repack(for_="pod/room-0", movable=movable)
    else:
        found = cluster.repack(most=True, movable=movable)
    document = found.document
    numbers = range(scene.often, 0, -1)
    most = next(((number, moves) for number in numbers if (moves := scene.fewest(number, bare=bare)) is not None), None)
    rooms, fewest = most or (0, 0)
    told = (seed, found.outcome, document.found, document.moves, document.at_least, most)
    assert document.found <= rooms <= document.at_most or document.asked == "For", told
    if document.found < rooms:
        assert found.outcome == "Undecided", told
        return "Undecided"
    if found.outcome == "Impossible":
        assert rooms < scene.often, told
    if document.found == document.at_most or document.asked == "For":
        assert document.at_least <= fewest or not rooms, told
    assert fewest <= document.moves, told
    where = carried_out(scene.objects(), found.waves, [f"room-{number}" for number in range(scene.often)])
    assert sum(bool(node) for name, node in where.items() if name.startswith("room")) == document.found, told
    assert all(node for name, node in where.items() if not name.startswith("room")), told
    return found.outcome if document.moves == fewest else "More"


def outcomes(seeds: range) -> dict[str, int]:
    found: dict[str, int] = {}
    for seed in seeds:
        told = check(seed)
        found[told] = found.get(told, 0) + 1
    return found


def test_the_fewest_moves_are_those_of_every_assignment_tried() -> None:
    found = outcomes(range(SEEDS))
    assert found["Moves"] >= 10
    assert found["Fits"] >= 10
    assert found["Impossible"] >= 10
    assert not found.get("More")
    assert found.get("Undecided", 0) <= SEEDS // 50, found


@pytest.mark.long
def test_the_fewest_moves_of_many_clusters_are_those_of_every_assignment_tried() -> None:
    found = outcomes(range(ALL_SEEDS))
    assert not found.get("More")
    assert found.get("Undecided", 0) <= ALL_SEEDS // 100, found


def check_shares(seed: int) -> str:
    scene = shares(seed)
    found = Cluster.of(scene.objects()).repack(free=f"{scene.room}xA")
    fewest = scene.fewest()
    told = (seed, scene, found.outcome, found.moves, found.at_least, fewest)
    if found.outcome in ("Fits", "Moves"):
        assert fewest is not None, told
        assert found.at_least <= fewest <= found.moves, told
        return found.outcome if found.moves == fewest else "More"
    assert found.outcome == "Undecided" or fewest is None, told
    assert fewest is None or found.at_least <= fewest, told
    return found.outcome


def test_devices_that_pods_share_come_free_by_no_fewer_moves_than_are_told() -> None:
    """The scheduler chooses the device on a node, so that a pod can't be led to one: more may move than had to."""
    found = [check_shares(seed) for seed in range(60)]
    assert found.count("Moves") >= 5
    assert found.count("More") + found.count("Undecided") <= 2, found
