"""Pools that are alike have one row in the first table of `pools`; what sets one apart keeps it apart."""

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.pools import text as pool_table
from dra_plan.text.columns import Screen
from dra_plan.text.formats import parse
from tests.build import allocation, claim, gpus, placed

from . import documents


def fleet(count: int = 9, **differs: dict[str, Any]) -> dict[str, Any]:
    """Pools of one device and one counter set each, but for what differs."""
    pools = []
    for number in range(count):
        name = f"worker-{number}"
        device = {"name": "gpu-0", "state": "Available", "model": "H100"}
        counters = [{"name": "set", "total": {"memory": "40Gi"}, "left": {"memory": "40Gi"}}]
        usual = {"devices": [device], "totalDevices": 1, "counterSets": counters}
        pools.append(documents.pool("gpu.example.com", name, **{**usual, **differs.get(name.replace("-", "_"), {})}))
    return {**documents.pool_list(), "pools": pools}


def printed(document: dict[str, Any], form: str = "table", screen: Screen | None = None) -> str:
    return parse(form, pool_table.FORMATS)(documents.typed(document), screen)


def rows(text: str) -> list[list[str]]:
    """The cells of the first table, without its headers."""
    lines = text.split("\n\n", maxsplit=1)[0].splitlines()[1:]
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in lines]


def test_one_row_for_many() -> None:
    text = printed(fleet())
    assert rows(text) == [
        ["gpu.example.com", "worker-0 and 8 like it", "H100", "Complete", "1/1", "1", "0", "1", "1"],
    ]
    assert "gpu.example.com   worker-0 and 8 like it   set           all" in text
    assert "9 pools" in text


@pytest.mark.parametrize(
    "other",
    [
        {"state": "Incomplete"},
        {"allocatedDevices": 0},
        {"observedResourceSliceCount": 0},
        {"devices": [{"name": "gpu-0", "state": "Available", "model": "A100"}]},
        {"nodes": ["worker-3", "worker-4"]},
    ],
)
def test_what_differs_stays_apart(other: dict[str, Any]) -> None:
    names = [row[1] for row in rows(printed(fleet(worker_3=other)))]
    assert names == ["worker-0 and 7 like it", "worker-3"]


def test_counters_that_differ_have_a_row_of_their_own() -> None:
    taken = [{"name": "set", "total": {"memory": "40Gi"}, "left": {"memory": "20Gi"}}]
    text = printed(fleet(worker_3={"counterSets": taken}))
    assert len(rows(text)) == 1
    assert "worker-0 and 7 like it   set           all" in text
    assert "worker-3                 set           memory 20Gi of 40Gi" in text


def test_nodes_are_told_where_the_pools_are_not_named_like_them() -> None:
    other = {f"worker_{number}": {"nodes": [f"node-{number}"]} for number in range(9)}
    assert [row[-1] for row in rows(printed(fleet(**other)))] == ["9 nodes"]


def test_few_pools_and_the_wide_table_name_each() -> None:
    assert [row[1] for row in rows(printed(fleet(3)))] == ["worker-0", "worker-1", "worker-2"]
    assert [row[1] for row in rows(printed(fleet(), "wide"))] == [f"worker-{number}" for number in range(9)]
    assert "NODES" not in printed(fleet(3))  # they are called as the pools
    assert [row[1] for row in rows(printed(fleet(3)))] == ["worker-0", "worker-1", "worker-2"]


@pytest.mark.parametrize("width", [40, 80])
def test_on_a_screen(width: int) -> None:
    text = printed(fleet(), screen=Screen(width, colour=False))
    assert max(map(len, text.splitlines())) <= width
    assert "worker-0" in text


def test_a_row_says_which_pods_use_the_devices() -> None:
    """The most devices come first; a pod that is being deleted is marked, and a claim without pods is named."""
    held = {"big": ["gpu-0", "gpu-1"], "going": ["gpu-2"], "kept": ["gpu-3"]}
    objects = gpus("a", "b", each=5)
    for name, devices in held.items():
        users = [] if name == "kept" else [{"resource": "pods", "name": name, "uid": f"u-{name}"}]
        results = [result for device in devices for result in allocation("a", device)["devices"]["results"]]
        status = {"allocation": {"devices": {"results": results}}, "reservedFor": users}
        objects.append(claim(f"c-{name}", status=status))
        if users:
            leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if name == "going" else {}
            objects.append(placed(name, "a", claims={"gpu": f"c-{name}"}, metadata=leaving))
    first, second = str(Cluster.of(objects).pools()).splitlines()[1:3]
    assert first.endswith(" default/big: 2, claim default/c-kept: 1, default/going (being deleted): 1")
    assert second.endswith(" -")
