"""Amounts that steps can't be counted for are errors of 1.37: the pruned walk meets them where the plain one does."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from dra_plan import Cluster, releases
from dra_plan.allocator import Allocator, View
from dra_plan.allocator.pruning_rules import ALWAYS, NEVER
from dra_plan.claims.expand import expand
from tests.allocator.build import DRIVER, claim, device, device_class, every, exactly, is_v, option, pool
from tests.build import node

AMOUNTS = ("1", "500m", "250m", "1500100u", "-1", "9223372036854775807", "2", "0", "1Ki")
TARGET = releases.target("1.37")


def random_device(r: random.Random, index: int) -> dict[str, Any]:
    valid = {"min": r.choice(["0", "1", "500m"]), "step": r.choice(["1", "500m", "250m", "100u"])}
    policy = {"requestPolicy": {"default": r.choice(["1", "500m"]), "validRange": valid}} if r.random() < 0.7 else {}
    shared = {"allowMultipleAllocations": True} if r.random() < 0.7 else {}
    return device(
        f"d{index}", v=r.randrange(3), capacity={"c": {"value": r.choice(["4", "1500m"]), **policy}}, **shared
    )


def random_request(r: random.Random, name: str) -> dict[str, Any]:
    capacity = {"capacity": {"requests": {"c": r.choice(AMOUNTS)}}} if r.random() < 0.6 else {}
    where = {"where": is_v(r.randrange(3))} if r.random() < 0.4 else {}
    kind = r.random()
    if kind < 0.15:
        return every(name, **capacity)
    if kind < 0.3:
        alternatives = [{"name": "a", **option(count=1, **capacity)}, {"name": "b", **option(count=1, **where)}]
        return {"name": name, "firstAvailable": alternatives}
    return exactly(name, r.randint(1, 2), **capacity, **where)


def random_cluster(seed: int) -> Cluster:
    r = random.Random(seed)
    devices = [random_device(r, index) for index in range(r.randint(2, 5))]
    constraints = [{"distinctAttribute": f"{DRIVER}/v"}] if r.random() < 0.3 else []
    claims = [
        claim(*[random_request(r, f"r{n}") for n in range(r.randint(1, 3))], name=f"c{number}", constraints=constraints)
        for number in range(r.randint(1, 2))
    ]
    return Cluster.of([node(), device_class(), *pool(*devices), *claims], kubernetes_version="1.37")


def test_errors_come_where_the_plain_walk_meets_them() -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(400):
        inventory = random_cluster(seed).inventory
        [claim_set] = expand(inventory, together=True).sets
        view = View.of(inventory, TARGET)
        pruned, plain = (
            Allocator(claim_set.claims, view, max_steps=20_000, pruning=pruning).allocate(inventory.nodes[0])
            for pruning in (ALWAYS, NEVER)
        )
        assert (pruned.outcome, pruned.message, pruned.allocations) == (plain.outcome, plain.message, plain.allocations)
        outcomes[plain.outcome.value] += 1
    assert min(outcomes[name] for name in ("Fits", "DoesNotFit", "Error")) > 40
