"""What decides on nodes whose devices do not match: the value and what the selector wants, or the labels of pools."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from dra_plan.explanation.hints import wanted
from tests.build import (
    GPU,
    Object,
    allocated,
    claim,
    counters,
    device,
    device_class,
    distinct,
    first_of,
    match,
    node,
    pod,
    request,
    running,
    slice_,
)

PROFILE = f'device.attributes["{GPU}"].profile'
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


def test_a_constant_of_another_type_and_devices_in_use() -> None:
    """The selector requires a string; the attribute is an integer, on the devices in use as well."""
    numa = f'device.attributes["{GPU}"].numaNode'
    asked = claim("c", request("gpu", f"{numa} == '0'"))
    devices = [device(f"gpu-{at}", numaNode=at % 2) for at in range(4)]
    held = [allocated("old", "a/gpu-1", pod="w"), running("w", "a", claims={"g": "old"})]
    said = text(node("a"), node("b"), slice_("a", *devices), *held, device_class(), asked, pod("p", claims={"g": "c"}))
    compared = 'the selector compares numaNode with the string "0", but it is an integer (1 on 2 devices, 0 on 2)'
    assert f"a: devices: gpu needs 1, no device matches: {compared} b: devices" in said
    assert "Request gpu of claim" not in said


# -- alternatives and constraints --------------------------------------------------------------------------------------


def test_every_alternative_is_in_the_line_of_the_nodes() -> None:
    """Of the first no device matches, of the second too few are free: on b one, on a none."""
    model = f'device.attributes["{GPU}"].model'
    choice = first_of("gpu", request("new", f'{model} == "B200"'), request("old", f'{model} == "H100"', count=2))
    objects: list[Object] = [device_class(), claim("c", choice), pod("p", claims={"g": "c"})]
    for name, used in (("a", 2), ("b", 1)):
        devices = [device(f"gpu-{at}", model="H100") for at in range(2)]
        held = [f"{name}/gpu-{at}" for at in range(used)]
        objects += [node(name), slice_(name, *devices), allocated(f"old-{name}", *held, pod=f"w-{name}")]
        objects += [running(f"w-{name}", name, claims={"g": f"old-{name}"})]
    said = text(*objects)
    assert (
        "2 nodes: devices: gpu/old needs 2, 0 to 1 available; gpu/new needs 1, no device matches "
        "b: 1 available (1 in use, by claim default/old-b (pod w-b)) "
        "a: none available (2 in use, by claim default/old-a (pod w-a))"
    ) in said


NIC = "nic.example.com"


def tied(*constraints: Object) -> str:
    """The text for a device of each driver under a constraint, on two nodes that differ in the names of devices."""
    root = "resource.kubernetes.io/pcieRoot"
    classes = [device_class("gpu", driver=GPU), device_class("nic", driver=NIC)]
    both = claim("c", request("gpu", of="gpu"), request("nic", of="nic"), constraints=[match(root), *constraints])
    objects: list[Object] = [*classes, both, pod("p", claims={"g": "c"})]
    for name in "ab":
        cards = [device(f"nic-{name}{at}") for at in range(2)]
        gpus = slice_(f"{name}-gpus", device(f"gpu-{name}", **{root: f"pci-{name}"}), nodeName=name)
        objects += [node(name), gpus, slice_(f"{name}-nics", *cards, driver=NIC, nodeName=name)]
    return text(*objects)


def test_a_driver_that_does_not_publish_the_attribute_of_a_constraint() -> None:
    """All devices are free; which constraint it is matters only if there are several."""
    of_driver = f"and driver {NIC} publishes it on none of its 4 devices ({GPU} does)"
    said = tied()
    rule = "devices: gpu and nic must have the same resource.kubernetes.io/pcieRoot"
    assert f"2 nodes (a, b): {rule}, {of_driver}" in said
    assert f"Check whether a newer version of driver {NIC} publishes resource.kubernetes.io/pcieRoot." in said
    assert "available" not in said
    assert "constraint #" not in said
    assert f"{rule} (constraint #0), {of_driver}" in tied(distinct("resource.kubernetes.io/pcieRoot", "gpu"))


def test_a_driver_that_publishes_the_attribute_on_other_devices() -> None:
    """A network card on another node has it, so that no version of the driver would help."""
    root = "resource.kubernetes.io/pcieRoot"
    elsewhere = [node("z", cpu="0"), slice_("z", device("nic-z", **{root: "pci-z"}), driver=NIC)]
    classes = [device_class("gpu", driver=GPU), device_class("nic", driver=NIC)]
    both = claim("c", request("gpu", of="gpu"), request("nic", of="nic"), constraints=[match(root)])
    own = [slice_("a-gpus", device("gpu-0", **{root: "p"}), nodeName="a"), slice_("a", "nic-0", driver=NIC)]
    said = text(node("a"), *own, *elsewhere, *classes, both, pod("p", cpu="1", claims={"g": "c"}))
    assert "1 without attribute resource.kubernetes.io/pcieRoot, which the claim's constraint compares" in said
    assert "newer version" not in said


def test_many_different_values_are_counted() -> None:
    roots = [device(f"gpu-{at}", root=f"pci-{at}") for at in range(4)]
    asked = claim("c", request("gpu", count=2), constraints=[match(f"{GPU}/root", "gpu")])
    pair = [node("a"), node("b", cpu="0"), slice_("a", *roots), device_class(), asked, pod("p", claims={"g": "c"})]
    assert "gpu (2 devices) needs the same root; no two of the 4 free devices have the same" in text(*pair)


def test_counters_that_are_used_up_come_before_devices_of_other_kinds() -> None:
    """Though the nodes are alike, with nothing but devices in the way; the slots that are free are shown."""
    places = {f"slot-{at}": "1" for at in range(4)}
    parts = [device(f"small-{at}", profile="small", consumes={"card": {f"slot-{at}": "1"}}) for at in range(4)]
    large = device("large", profile="large", consumes={"card": places})
    objects: list[Object] = [
        device_class(),
        claim("c", request("mig", f'{PROFILE} == "large"')),
        pod("p", claims={"g": "c"}),
    ]
    for name in "ab":
        held = [allocated(f"old-{name}", f"{name}/small-1", pod=f"w-{name}")]
        held += [running(f"w-{name}", name, claims={"g": f"old-{name}"})]
        objects += [node(name), slice_(name, *parts, large, of=2, number=0), counters(name, {"card": places}), *held]
    said = text(*objects)
    assert "2 nodes: devices: mig needs 1, none available" in said
    for name in "ab":
        used = f"1 device: counter card/slot-1: 1 needed, 0 left (used by default/old-{name} (pod w-{name}))"
        assert f"{name}: none available ({used})" in said
    assert "slot 0-3: . X . ." in said
    assert 'profile is "small"' not in said
