"""Pools of many nodes: what holds for a pool is found once, not once a node."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import gather_pools, releases
from dra_plan.allocator import View
from dra_plan.manifests.decode import from_dicts
from tests.build import node
from tests.work import instructions

from .build import device, pool


def fleet(nodes: int, *, pools: int | None = None, counters: bool = False) -> list[dict[str, Any]]:
    """Nodes with a slice each; these make one pool a node, or one of them all, with counters or without."""
    objects: list[dict[str, Any]] = []
    size = nodes if pools == 1 else 1
    for index in range(nodes):
        consumes = {"m": "1"} if counters else None
        [made] = pool(device(f"d{index}", consumes=consumes), nodeName=f"n{index}")
        made["metadata"]["name"] = f"s{index:04}"
        made["spec"]["pool"] |= {"name": "p" if pools == 1 else f"p{index}", "resourceSliceCount": size + counters}
        objects += [node(f"n{index}"), made]
    if counters:
        [sets] = pool(name="p", nodeName="n0")
        sets["metadata"]["name"] = "sets"
        sets["spec"] |= {"devices": [], "sharedCounters": [{"name": "s", "counters": {"m": {"value": "9"}}}]}
        sets["spec"]["pool"] |= {"resourceSliceCount": size + 1}
        objects.append(sets)
    return objects


def gathered(objects: list[dict[str, Any]]) -> int:
    inventory = from_dicts(objects)
    view = View.of(inventory, releases.target())
    return instructions(lambda: [view.gatherer.gather(each) for each in inventory.nodes])


@pytest.mark.parametrize("counters", [False, True])
def test_one_pool_of_all_nodes_costs_what_its_slices_cost(counters: bool) -> None:
    few, many = (gathered(fleet(nodes, pools=1, counters=counters)) for nodes in (40, 160))
    assert many < 4.4 * few


def test_one_pool_of_all_nodes_is_listed_in_time_that_grows_with_its_slices() -> None:
    few, many = (instructions(lambda n=n: gather_pools(fleet(n, pools=1)).to_dict()) for n in (40, 160))
    assert many < 4.4 * few


def test_nodes_that_see_the_same_slices_share_the_pool() -> None:
    objects = [*(node(f"n{index}") for index in range(3)), *pool(device("d"), nodeName="", allNodes=True)]
    inventory = from_dicts(objects)
    view = View.of(inventory, releases.target())
    [one], [two], [three] = (view.gatherer.gather(each) for each in inventory.nodes)
    assert one is two
    assert two is three


def test_the_slices_on_other_nodes_are_those_that_were_counted() -> None:
    inventory = from_dicts(fleet(3, pools=1))
    view = View.of(inventory, releases.target())
    [seen] = view.gatherer.gather(inventory.nodes[1])
    assert [slice_.name for slice_ in seen.slices] == ["s0001"]
    assert [slice_.name for slice_ in seen.elsewhere] == ["s0000", "s0002"]
    assert seen.usable
