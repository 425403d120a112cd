"""Device names that several slices of a pool have: an error where a node gathers both, else a warning."""

from itertools import product
from typing import Any

import pytest

import dra_plan

from .objects import Data, device, device_class, piece, pool


def node(name: str) -> Data:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": name[-1]}}}


def zone(value: str) -> Data:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [value]}]}]}


NODES = [node("node-a"), node("node-b")]
PLACES: dict[str, Any] = {
    "a": {"nodeName": "node-a"},
    "b": {"nodeName": "node-b"},
    "all": {"nodeName": None, "allNodes": True},
    "zone a": {"nodeName": None, "nodeSelector": zone("a")},
    "zone b": {"nodeName": None, "nodeSelector": zone("b")},
    "each a": {"nodeName": None, "perDeviceNodeSelection": True, "devices": [device(nodeName="node-a")]},
    "each b": {"nodeName": None, "perDeviceNodeSelection": True, "devices": [device(nodeSelector=zone("b"))]},
}


def slices(*places: str) -> list[Data]:
    return [piece(f"s{i}", **{"pool": pool("p", count=len(places)), **PLACES[at]}) for i, at in enumerate(places)]


def found(objects: list[Data]) -> list[str]:
    return [f"{one.code} {one.object}" for one in dra_plan.validate(objects, select=["DRA21"]).findings]


@pytest.mark.parametrize("places", list(product(PLACES, repeat=2)), ids="-".join)
def test_an_error_where_a_node_finds_the_pool_invalid(places: tuple[str, str]) -> None:
    objects = [*NODES, *slices(*places), device_class()]
    states = {pool.state.value for pool in dra_plan.gather_pools(objects).document.pools}
    assert states <= {"Complete", "Invalid"}
    assert found(objects) == ["DRA213 ResourceSlice s1" if "Invalid" in states else "DRA217 ResourceSlice s1"]


def test_without_nodes_only_what_is_certain_is_an_error() -> None:
    assert found(slices("zone a", "zone a")) == ["DRA213 ResourceSlice s1"]
    assert found(slices("zone a", "zone b")) == ["DRA217 ResourceSlice s1"]
    assert found(slices("a", "zone a")) == ["DRA217 ResourceSlice s1"]
    assert found(slices("a", "all")) == ["DRA213 ResourceSlice s1"]


def test_the_slice_that_the_node_sees_is_named() -> None:
    report = dra_plan.validate(slices("a", "b", "b", "a"), select=["DRA21"])
    assert [(one.code, one.object, one.message.split(" is also in ")[1]) for one in report.findings] == [
        ("DRA217", "ResourceSlice s1", "ResourceSlice s0, for other nodes"),
        ("DRA213", "ResourceSlice s2", "ResourceSlice s1"),
        ("DRA213", "ResourceSlice s3", "ResourceSlice s0"),
    ]


def test_many_devices_of_a_slice_for_another_node_are_one_warning() -> None:
    devices = [device(f"gpu-{number}") for number in range(8)]
    parts = [piece(f"s{at}", *devices, pool=pool("p", count=3), nodeName=f"n{at}") for at in range(3)]
    report = dra_plan.validate(parts, select=["DRA21"])
    assert [one.code for one in report.findings] == ["DRA217", "DRA217"]
    assert report.findings[1].message.startswith('device "gpu-0" (and 7 more) of pool "p" is also in ResourceSlice s0')
