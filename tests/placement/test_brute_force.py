"""The best placement against brute force, without any of upstream's defects: as many pods, and as many at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

import dra_plan
from dra_plan.placement import search
from dra_plan.placement.node_kinds import PlacementCluster
from dra_plan.placement.search import BestPlacement, seek

from .fleets import Brute, Fleet, TooManyError, objects_of, random_fleet

GATES = {"DRAListTypeAttributes": True}


def sought(fleet: Fleet) -> BestPlacement:
    gates = GATES if fleet.lists else None
    cluster = dra_plan.Cluster.of(objects_of(fleet), quirks="fixed", feature_gates=gates)
    ground = PlacementCluster(cluster.inventory, cluster.target)
    return seek(ground, [pod for pod in ground.cluster.pods.values() if not pod.spec.node_name])


def check(seeds: Iterable[int], *, network: bool = False, exact: bool = True) -> Counter[str]:
    """Compares, and counts what the cases had in them. What is not `exact` may fall short, and its bounds are wider."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        fleet = random_fleet(seed, network=network)
        brute = Brute(fleet)
        placement = sought(fleet)
        try:
            most = brute.most()
        except TooManyError:
            seen["too many"] += 1
            continue
        assert placement.reached[0] <= most <= placement.bounds[0], f"seed {seed}: {most} are possible"
        seen["exact"] += placement.reached == placement.bounds
        assert not exact or placement.reached == placement.bounds, f"seed {seed}: {most} are possible, and no more"
        nodes = {placed.candidate.pod.metadata.name: placed.node for placed in placement.placed}
        assert brute.is_possible(nodes), f"seed {seed}"
        users = Counter(claim for pod in fleet.pods for claim in pod.claims)
        seen["all" if most == len(fleet.pods) else "some" if most else "none"] += 1
        seen["shared claims"] += any(number > 1 for number in users.values())
        seen["several nodes"] += len(set(nodes.values())) > 1
    return seen


def test_as_many_pods_as_brute_force_finds() -> None:
    seen = check(range(60))
    assert min(seen[name] for name in ("all", "some", "none", "shared claims", "several nodes")) >= 3, seen


@pytest.mark.long
def test_as_many_pods_as_brute_force_finds_in_many_cases() -> None:
    seen = check(range(1_000, 4_050))
    assert sum(seen[name] for name in ("all", "some", "none")) >= 3_000
    assert min(seen[name] for name in ("all", "some", "none", "shared claims", "several nodes")) >= 100, seen


def check_generated(seeds: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns made as they are needed: what is placed can be placed, and no bound excludes what is possible."""
    monkeypatch.setattr(search, "MOST_COMBINATIONS", 0)
    seen = check(seeds, exact=False)
    number = sum(seen[name] for name in ("all", "some", "none"))
    assert seen["exact"] >= 0.95 * number, seen


def test_columns_that_are_made_when_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    check_generated(range(40), monkeypatch)


@pytest.mark.long
def test_columns_that_are_made_when_needed_in_many_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    check_generated(range(1_000, 1_600), monkeypatch)
