"""What decides on nodes whose devices do not match: the value and what the selector wants, or the labels of pools."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from dra_plan.explanation.hints import wanted
from tests.build import GPU, Object, claim, device, device_class, node, pod, request, slice_

MEMORY = f'device.capacity["{GPU}"].memory'


def text(*objects: Object) -> str:
    return " ".join(str(Cluster.of(list(objects)).explain("pod/p")).split())


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        (f'{MEMORY}.compareTo(quantity("80Gi")) >= 0', 'at least "80Gi"'),
        (f'{MEMORY}.compareTo(quantity("80Gi")) == 0', '"80Gi"'),
        (f'{MEMORY}.isGreaterThan(quantity("80Gi"))', 'more than "80Gi"'),
        (f'{MEMORY}.isLessThan(quantity("80Gi"))', 'less than "80Gi"'),
        ('device.attributes["d"].model in ["A", "B"]', '"A" or "B"'),
        ('device.attributes["d"].model != "A"', 'another one than "A"'),
        ('device.attributes["d"].index < 4', "less than 4"),
        ('4 > device.attributes["d"].index', '4 > device.attributes["d"].index'),
        ('device.attributes["d"].model.startsWith("A")', 'device.attributes["d"].model.startsWith("A")'),
        ('device.attributes["d"].model.lowerAscii() == "a"', 'device.attributes["d"].model.lowerAscii() == "a"'),
        ('device.attributes["d"].model in ["A", string(1)]', 'device.attributes["d"].model in ["A", string(1)]'),
    ],
)
def test_what_a_clause_wants(clause: str, said: str) -> None:
    assert wanted(clause) == said


def h100(name: str, memory: str = "81559Mi") -> list[Object]:
    return [node(name), slice_(name, device("gpu-0", capacity={"memory": memory}))]


def asking(**spec: object) -> list[Object]:
    asked = request("gpu", f'{MEMORY}.compareTo(quantity("80Gi")) >= 0')
    return [device_class(), claim("c", asked), pod("p", claims={"g": "c"}, **spec)]


def test_the_value_of_devices_comes_with_what_the_selector_wants() -> None:
    said = text(*h100("a"), *h100("b"), node("c"), *asking())
    found = 'no device matches: memory is "81559Mi" on 2 devices; the selector wants at least "80Gi"'
    assert f"2 nodes (a, b): devices: gpu needs 1, {found}" in said
    assert "Request gpu of claim" not in said


def test_values_are_those_of_the_nodes_of_the_line() -> None:
    """The cpu of b and c sets them apart, though the devices of all three lack the same."""
    small = [*h100("b", "40Gi"), *h100("c", "24Gi"), slice_("more", device("gpu-1", capacity={"memory": "40Gi"}))]
    small[4]["spec"]["nodeName"] = "b"
    for each in (small[0], small[2]):
        each["status"]["allocatable"]["cpu"] = "1"
    said = text(*h100("a"), *small, *asking(cpu="4"))
    assert 'a: devices: gpu needs 1, no device matches: memory is "81559Mi" on 1 device;' in said
    both = 'no device matches: memory is "40Gi" on 2 devices, "24Gi" on 1; the selector'
    assert f"2 nodes (b, c): cpu: needs 4, 1 of 1 free; devices: gpu needs 1, {both}" in said


def selecting(name: str, driver: str, rack: str) -> Object:
    term = {"matchExpressions": [{"key": "rack", "operator": "In", "values": [rack]}]}
    return slice_(name, "dev-0", driver=driver, nodeName=None, nodeSelector={"nodeSelectorTerms": [term]})


def test_pools_for_nodes_with_other_labels_are_named() -> None:
    nodes = [node("a", labels={"rack": "r2"}), node("b", labels={"rack": "r1"}, cpu="1")]
    pools = [selecting("appliance", "gpu.example.com", "r1"), selecting("other", "nic.example.com", "r1")]
    wants = device_class("gpu", 'device.driver == "gpu.example.com"')
    said = text(*nodes, *pools, wants, claim("c", request(of="gpu")), pod("p", cpu="4", claims={"g": "c"}))
    assert "a: devices: no devices (those of pool appliance are for nodes with rack=r1)" in said
    assert "pool other" not in said
