"""`pools`: filters, totals, and devices that are parts of others: how many of each kind still fit."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from tests.build import allocated, counters, device, device_class, node, slice_

Object = dict[str, Any]
NIC = "nic.example.com"


def card(*, used: tuple[str, ...] = ()) -> list[Object]:
    """One card of four places: a part of four, two of two places, four of one."""
    parts = [("whole", "4p", range(4))]
    parts += [(f"half-{n}", "2p", range(n, n + 2)) for n in (0, 2)]
    parts += [(f"quarter-{n}", "1p", range(n, n + 1)) for n in range(4)]
    devices = [
        device(name, profile=profile, consumes={"card": {**{f"place-{at}": "1" for at in places}}})
        for name, profile, places in parts
    ]
    total = {f"place-{at}": "1" for at in range(4)}
    slices = [slice_("a", *devices, number=0, of=2), counters("a", {"card": total})]
    holders = [allocated(f"old-{name}", f"a/{name}") for name in used]
    return [node("a"), device_class(), *slices, *holders]


def fits(objects: list[Object]) -> dict[str, int]:
    [pool] = Cluster.of(objects).pools().to_dict()["pools"]
    assert pool["physicalDevices"] == 1
    return {each["profile"]: each["fit"] for each in pool["profiles"]}


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ((), {"4p": 1, "2p": 2, "1p": 4}),
        (("quarter-1",), {"4p": 0, "2p": 1, "1p": 3}),
        (("half-2",), {"4p": 0, "2p": 1, "1p": 2}),
        (("whole",), {"4p": 0, "2p": 0, "1p": 0}),
    ],
)
def test_how_many_of_each_profile_still_fit(used: tuple[str, ...], expected: dict[str, int]) -> None:
    assert fits(card(used=used)) == expected


def test_parts_are_not_counted_as_devices_that_are_available() -> None:
    lines = str(Cluster.of(card(used=("quarter-1",))).pools()).splitlines()
    assert "1 (7 parts)   see below   1" in lines[1]
    assert "gpu.example.com: 1 pool, 1 partitioned device." in lines
    assert any(line.split() == ["gpu.example.com", "a", "2p", "2", "1"] for line in lines)


def test_devices_beside_the_parts_of_others_are_counted() -> None:
    objects = [*card(used=("quarter-1",)), allocated("old", "a/plain-1")]
    for each in objects:
        if each["kind"] == "ResourceSlice" and each["spec"].get("devices"):
            each["spec"]["devices"] += [device("plain-0"), device("plain-1"), device("plain-2")]
    pools = Cluster.of(objects).pools()
    lines = str(pools).splitlines()
    assert "4 (1 in 7 parts)   2 + parts   2" in lines[1]
    assert "gpu.example.com: 1 pool, 2 of 3 devices available, 1 partitioned device." in lines
    [pool] = pools.to_dict()["pools"]
    assert pool["physicalDevices"] == 4
    assert [each["name"] for each in pool["devices"] if "part" not in each] == ["plain-0", "plain-1", "plain-2"]


def fleet() -> list[Object]:
    gpus = [slice_(name, device("gpu-0", model="H100"), device("gpu-1", model="L4")) for name in ("a", "b")]
    nics = slice_("a-nics", device("nic-0"), number=0, driver=NIC, nodeName="a", of=2)
    return [node("a"), node("b"), device_class(), *gpus, nics, allocated("old", "a/gpu-0")]


def test_totals_are_told_by_driver_and_model() -> None:
    lines = str(Cluster.of(fleet()).pools()).splitlines()
    assert "gpu.example.com: 2 pools, 3 of 4 devices available (H100 1/2 and L4 2/2)." in lines
    assert "nic.example.com: 1 pool, 0 of 1 device available." in lines


def test_totals_of_a_fleet_can_be_read() -> None:
    devices = [device(f"gpu-{n}") for n in range(4)]
    pools = [slice_(f"n{n}", *devices) for n in range(1000)]
    lines = str(Cluster.of([*map(node, (f"n{n}" for n in range(1000))), device_class(), *pools]).pools()).splitlines()
    assert "gpu.example.com: 1,000 pools, 4,000 of 4,000 devices available." in lines
    assert len(lines) < 10


def test_no_pool_is_said() -> None:
    assert str(Cluster.of(fleet()).pools(states="Incomplete", nodes="b")).startswith("No pools.\n")


@pytest.mark.parametrize(
    ("asked", "pools"),
    [
        ({"drivers": NIC}, ["a-nics"]),
        ({"states": "Complete"}, ["a", "b"]),
        ({"states": ["Incomplete"], "nodes": "b"}, []),
        ({"drivers": ["gpu.example.com"], "nodes": "b"}, ["b"]),
    ],
)
def test_pools_are_chosen_by_driver_node_and_state(asked: dict[str, Any], pools: list[str]) -> None:
    assert [pool.pool_name for pool in Cluster.of(fleet()).pools(**asked)] == pools


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"drivers": "gpu.exmple.com"}, "no pool has the driver 'gpu.exmple.com': did you mean gpu.example.com?"),
        ({"states": "Complet"}, "no pool has the state 'Complet': did you mean Complete?"),
    ],
)
def test_what_no_pool_has_is_an_error(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as error:
        Cluster.of(fleet()).pools(**asked)
    assert str(error.value) == said
