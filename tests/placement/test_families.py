"""Each kind of claim against brute force, without upstream's defects: verdict, largest number, and minimal proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from dra_plan import Cluster

from .families import FAMILIES, family_fleet
from .fleets import Brute, TooManyError, objects_of


def check(family: str, seeds: Iterable[int], wanted: int) -> Counter[str]:
    """Compares so many fleets of a kind, and counts what they were."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        fleet, where = family_fleet(family, seed), f"{family} {seed}"
        brute = Brute(fleet)
        try:
            most = brute.most()
            plan = Cluster.of(objects_of(fleet), quirks="fixed").place()
            assert plan.outcome == ("Placed" if most == len(fleet.pods) else "Impossible"), where
            assert (plan.document.at_least, plan.document.at_most) == (most, most), where
            assert brute.is_possible({each.candidate.pod.metadata.name: each.node for each in plan.found.placed}), where
            if plan.document.proof is not None:
                pods = [each for each in fleet.pods if each.name in {name.name for name in plan.document.proof.pods}]
                assert brute.most(pods) == plan.document.proof.together < len(pods), where
                for one in pods:
                    others = [each for each in pods if each is not one]
                    assert brute.most(others) == len(others), f"{where}: without {one.name}"
        except TooManyError:
            continue
        seen["all" if most == len(fleet.pods) else "some" if most else "none"] += 1
        if seen.total() == wanted:
            break
    return seen


@pytest.mark.sampled(2)
@pytest.mark.parametrize("family", FAMILIES)
def test_each_kind_of_claim(family: str) -> None:
    seen = check(family, range(60), 30)
    assert min(seen[name] for name in ("all", "some", "none")) >= 2, seen


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_each_kind_of_claim_in_many_cases(family: str) -> None:
    seen = check(family, range(10_000, 12_000), 1_200)
    assert seen.total() == 1_200
    assert min(seen[name] for name in ("all", "some", "none")) >= 40, seen
