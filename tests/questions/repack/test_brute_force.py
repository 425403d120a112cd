"""`repack` against every assignment of small clusters: the same fewest moves, bounds that are true, steps that hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dra_plan import Cluster
from dra_plan.questions.repack.script import script
from tests.questions.repack.fleets import Asks, Scattered, carried_out, crossed, scattered, shares, tied

SEEDS = 100
ALL_SEEDS = 1_000


def check(seed: int, made: Callable[[int], Scattered] = scattered) -> str:
    scene = made(seed)
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


def outcomes(seeds: range, made: Callable[[int], Scattered] = scattered) -> dict[str, int]:
    found: dict[str, int] = {}
    for seed in seeds:
        told = check(seed, made)
        found[told] = found.get(told, 0) + 1
    return found


def test_the_fewest_moves_are_those_of_every_assignment_tried() -> None:
    found = outcomes(range(SEEDS))
    assert found["Moves"] >= 10
    assert found["Fits"] >= 10
    assert found["Impossible"] >= 10
    assert not found.get("More")
    assert not found.get("Undecided")


@pytest.mark.long
def test_the_fewest_moves_of_many_clusters_are_those_of_every_assignment_tried() -> None:
    found = outcomes(range(ALL_SEEDS))
    assert not found.get("More")
    assert not found.get("Undecided")


def test_pods_that_have_to_swap_nodes_swap_them() -> None:
    found = outcomes(range(40), crossed)
    assert found["Moves"] >= 5
    assert not found.get("More")
    assert not found.get("Undecided")


@pytest.mark.long
def test_pods_that_have_to_swap_nodes_swap_them_in_many_clusters() -> None:
    found = outcomes(range(ALL_SEEDS), crossed)
    assert not found.get("More")
    assert not found.get("Undecided")


def test_pods_that_share_claims_or_reach_for_devices_of_all_nodes_stay() -> None:
    found = outcomes(range(60), tied)
    assert found["Moves"] >= 5
    assert not found.get("More")
    assert not found.get("Undecided")


@pytest.mark.long
def test_pods_that_share_claims_or_reach_for_devices_of_all_nodes_stay_in_many_clusters() -> None:
    found = outcomes(range(ALL_SEEDS), tied)
    assert not found.get("More")
    assert not found.get("Undecided")


def test_pods_that_are_tied_to_others_are_counted() -> None:
    seen = 0
    for seed in range(60):
        scene = tied(seed)
        found = Cluster.of(scene.objects()).repack(most=True, movable="bare")
        if found.outcome == "Fits":
            continue
        told = {each.reason: each.pods for each in found.left_alone}
        wanted = {"SharedClaim": len(scene.sharing), "SharedDevices": len(scene.afar)}
        assert {reason: told.get(reason, 0) for reason in wanted} == wanted, seed
        moved = {pod.name for wave in found.waves for pod in wave.moved}
        assert not moved & (scene.sharing | scene.afar), seed
        seen += bool(scene.sharing and scene.afar)
    assert seen >= 5


@pytest.mark.parametrize(("first", "second"), [("p", "q"), ("q", "p")])
@pytest.mark.parametrize("bare", [False, True])
def test_one_of_two_that_swap_waits_until_the_other_has_left(first: str, second: str, *, bare: bool) -> None:
    """Each of them would fit on its own node again, and on no third one."""
    nodes = {"x": (4, 4, "A"), "y": (2, 4, "A")}
    scene = Scattered(nodes, {first: ("x", Asks(2, 3)), second: ("y", Asks(1, 3))}, Asks(3, 1), 1)
    scene.bare = {"p"} if bare else set()
    found = Cluster.of(scene.objects()).repack(for_="pod/room-0", movable="bare")
    assert (found.outcome, found.moves, found.at_least) == ("Moves", 2, 2)
    [one, other] = found.waves
    assert [pod.name for pod in one.waiting] == [pod.name for pod in other.moved]
    assert not other.waiting
    where = carried_out(scene.objects(), found.waves, ["room-0"])
    assert where == {first: "y", second: "x", "room-0": "x"}
    lines = script(found.document).splitlines()
    evictions = [number for number, line in enumerate(lines) if "/eviction" in line]
    [start] = [number for number, line in enumerate(lines) if line.startswith("# Wave 2")]
    assert len(evictions) == 2
    assert max(evictions) < start
    assert any(line.startswith("gone default ") for line in lines[evictions[0] : evictions[1]])


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
