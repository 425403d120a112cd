"""Explaining many claims on a node with many devices ends: steps that take long count as often as usual ones."""

from typing import Any

import pytest

import dra_plan
from dra_plan import releases
from dra_plan.allocator import View
from dra_plan.explanation.placement import Budget, Placement
from dra_plan.manifests.decode import from_dicts
from tests.limits import ended_after

Data = dict[str, Any]
ROOT = "d.example.com/root"


def cluster(claims: int, devices: int, requests: int = 8, count: int = 4) -> list[Data]:
    """Claims that want more devices together than the only node has, those of each below one root."""
    asked = [{"name": f"r{n}", "exactly": {"deviceClassName": "c", "count": count}} for n in range(requests)]
    pieces = [range(begin, min(begin + 100, devices)) for begin in range(0, devices, 100)]
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}},
        *(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"s{piece[0]:05}"},
                "spec": {
                    "driver": "d.example.com",
                    "pool": {"name": "n", "generation": 1, "resourceSliceCount": len(pieces)},
                    "nodeName": "n",
                    "devices": [{"name": f"g{n}", "attributes": {"root": {"int": n // 50 % 7}}} for n in piece],
                },
            }
            for piece in pieces
        ),
        *(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaim",
                "metadata": {"name": f"x{n}", "namespace": "default"},
                "spec": {"devices": {"requests": asked, "constraints": [{"matchAttribute": ROOT}]}},
            }
            for n in range(claims)
        ),
    ]


def placement(objects: list[Data]) -> Placement:
    inventory = from_dicts(objects)
    view = View.of(inventory, releases.target("1.36"))
    return Placement(node=inventory.nodes[0], claims=tuple(inventory.claims), view=view)


def test_a_step_counts_for_what_it_looks_at() -> None:
    assert placement(cluster(1, 800)).step_weight == 1
    assert placement(cluster(4, 100)).step_weight == 1
    assert placement(cluster(26, 800)).step_weight == 83


def test_a_budget_is_paid_by_weight() -> None:
    large, budget = placement(cluster(13, 400)), Budget(2_000, 2_000)
    answer = large.ask(budget)
    assert budget.left == 2_000 - (answer.steps + 1) * large.step_weight
    assert answer.steps <= 2_000 // large.step_weight + 1


@pytest.mark.long
def test_what_is_asked_together_is_explained_in_time() -> None:
    with ended_after(40):
        plan = dra_plan.Cluster.of(cluster(18, 560)).explain(together=True)
    (told,) = plan.to_dict()["claimSets"]
    assert told["outcome"] == "DoesNotFit"
