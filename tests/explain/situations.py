"""Situations in which someone asks why: each a function that makes the objects, named as its golden text is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.build import (
    GPU,
    Object,
    allocated,
    bare_pod,
    claim,
    counters,
    device,
    device_class,
    distinct,
    first_of,
    match,
    node,
    request,
    slice_,
    taint,
)

Situation = Callable[[], list[Object]]
SITUATIONS: dict[str, Situation] = {}
ASKED: dict[str, dict[str, Any]] = {}
"""What else is asked for, by situation."""


def situation(**asked: Any) -> Callable[[Situation], Situation]:
    def keep(made: Situation) -> Situation:
        name = made.__name__.replace("_", "-")
        SITUATIONS[name], ASKED[name] = made, asked
        return made

    return keep


def cel(text: str) -> str:
    """`.model` is the attribute of the driver, `:memory` the capacity."""
    return text.replace(" .", f' device.attributes["{GPU}"].').replace(" :", f' device.capacity["{GPU}"].').strip()


def gpus(pool: str, models: str, **rest: Any) -> Object:
    """A slice with one GPU for each model."""
    devices = [device(f"gpu-{at}", model=model, capacity={"memory": "80Gi"}) for at, model in enumerate(models.split())]
    return slice_(pool, *devices, **{"number": 0, **rest})


def cluster(*slices: Object) -> list[Object]:
    """Nodes a and b, the class and the slices."""
    return [node("a"), node("b"), device_class(), *slices]


# -- too few -------------------------------------------------------------------------------------------------------


@situation()
def no_slices_at_all() -> list[Object]:
    return [*cluster(), claim("train", request("gpu"))]


@situation()
def no_device_on_some_nodes() -> list[Object]:
    return [*cluster(gpus("a", "A100")), claim("train", request("gpu", count=2))]


@situation()
def fewer_devices_than_asked() -> list[Object]:
    return [*cluster(gpus("a", "A100 A100"), gpus("b", "A100 A100 A100")), claim("train", request("gpu", count=4))]


@situation()
def all_in_use() -> list[Object]:
    busy = [allocated("old-1", "a/gpu-0", pod="web-1"), allocated("old-2", "a/gpu-1", pod="web-2")]
    return [*cluster(gpus("a", "A100 A100")), *busy, claim("train", request("gpu"))]


@situation()
def in_use_and_the_rest_unfit() -> list[Object]:
    slices = cluster(gpus("a", "H100 A100 A100"))
    return [*slices, allocated("old", "a/gpu-0", pod="web"), claim("train", request("gpu", cel(' .model == "H100"')))]


@situation()
def all_devices_of_a_kind_but_one_is_in_use() -> list[Object]:
    objects = cluster(gpus("a", "A100 A100 A100"))
    return [*objects, allocated("old", "a/gpu-1", pod="web"), claim("burn-in", request("gpus", allocationMode="All"))]


@situation()
def all_devices_of_a_kind_that_is_not_there() -> list[Object]:
    wanted = request("gpus", cel(' .model == "B200"'), allocationMode="All")
    return [*cluster(gpus("a", "A100 A100")), claim("burn-in", wanted)]


@situation()
def more_than_32_devices() -> list[Object]:
    return [*cluster(gpus("a", "A100 A100")), claim("train", request("gpu", count=40))]


# -- selectors -----------------------------------------------------------------------------------------------------


@situation()
def selector_other_values() -> list[Object]:
    wanted = request("gpu", cel(' .model == "H100"'))
    return [*cluster(gpus("a", "A100 A100 A100"), gpus("b", "L40S A100")), claim("train", wanted)]


@situation()
def selector_one_clause_of_three_decides() -> list[Object]:
    text = cel(f' .model == "A100" && :memory.compareTo(quantity("96Gi")) >= 0 && device.driver == "{GPU}"')
    return [*cluster(gpus("a", "A100 A100")), claim("train", request("gpu", text))]


@situation()
def selector_misspelt_attribute() -> list[Object]:
    wanted = request("gpu", cel(f'"modle" in device.attributes["{GPU}"] && .modle == "A100"'))
    return [*cluster(gpus("a", "A100 A100")), claim("train", wanted)]


@situation()
def selector_wrong_domain() -> list[Object]:
    text = '"model" in device.attributes["example.com"] && device.attributes["example.com"].model == "A100"'
    return [*cluster(gpus("a", "A100 A100")), claim("train", request("gpu", text))]


@situation()
def selector_unknown_attribute() -> list[Object]:
    wanted = request("gpu", f'"zone" in device.attributes["{GPU}"]')
    return [*cluster(gpus("a", "A100 A100")), claim("train", wanted)]


@situation()
def selector_wrong_type() -> list[Object]:
    devices = [device("gpu-0", generation=9, model="H100")]
    return [*cluster(slice_("a", *devices)), claim("train", request("gpu", cel(' .generation == "9"')))]


@situation()
def selector_attribute_that_is_a_capacity() -> list[Object]:
    text = f'"memory" in device.attributes["{GPU}"]'
    return [*cluster(gpus("a", "A100 A100")), claim("train", request("gpu", text))]


@situation()
def selector_of_the_class() -> list[Object]:
    objects = cluster(gpus("a", "A100 A100"))
    objects[2] = device_class(GPU, cel(f'device.driver == "{GPU}" && .model == "H100"'))
    return [*objects, device_class("any.example.com", f'device.driver == "{GPU}"'), claim("train", request("gpu"))]


@situation()
def selector_on_a_computed_value() -> list[Object]:
    wanted = request("gpu", cel(' .model.lowerAscii().matches("^.*A100.*$")'))
    return [*cluster(gpus("a", "NVIDIA-A100 NVIDIA-A100")), claim("train", wanted)]


# -- taints, capacity, counters ------------------------------------------------------------------------------------


@situation()
def taint_not_tolerated() -> list[Object]:
    devices = [device("gpu-0", taints=[taint("gpu.example.com/unhealthy", "xid-79")]), device("gpu-1")]
    return [*cluster(slice_("a", *devices)), claim("train", request("gpu", count=2))]


@situation()
def taint_and_in_use_together() -> list[Object]:
    devices = [device("gpu-0", taints=[taint("maintenance")]), device("gpu-1")]
    objects = cluster(slice_("a", *devices))
    return [*objects, allocated("old", "a/gpu-1", pod="web"), claim("train", request("gpu", count=2))]


def nic(name: str, **policy: Any) -> Object:
    bandwidth = {"value": "100G", **({"requestPolicy": policy} if policy else {})}
    return device(name, allowMultipleAllocations=True, capacity={"bandwidth": bandwidth})


@situation()
def capacity_used_by_others() -> list[Object]:
    shares = [
        allocated(f"flow-{n}", "a/nic-0", pod=f"web-{n}", shareID=f"0000-{n}", consumedCapacity={"bandwidth": "40G"})
        for n in (1, 2)
    ]
    wanted = request("nic", capacity={"requests": {"bandwidth": "50G"}})
    return [*cluster(slice_("a", nic("nic-0"))), *shares, claim("stream", wanted)]


def shares_nic(**policy: Any) -> list[Object]:
    """A request that names no amount, of a device of which 40G are in use."""
    used = allocated("flow", "a/nic-0", pod="web", shareID="0000-1", consumedCapacity={"bandwidth": "40G"})
    return [*cluster(slice_("a", nic("nic-0", **policy))), used, claim("stream", request("nic"))]


@situation()
def capacity_by_default_of_the_policy() -> list[Object]:
    return shares_nic(default="100G", validRange={"min": "10G", "step": "25G"})


@situation()
def capacity_rounded_up_by_the_policy() -> list[Object]:
    wanted = request("nic", capacity={"requests": {"bandwidth": "55G"}})
    return [*shares_nic(default="10G", validValues=["10G", "50G", "80G"])[:-1], claim("stream", wanted)]


@situation()
def capacity_as_a_whole_without_a_request() -> list[Object]:
    return shares_nic()


@situation()
def capacity_against_the_policy() -> list[Object]:
    policy = {"default": "1G", "validValues": ["1G", "10G", "25G"]}
    wanted = request("nic", capacity={"requests": {"bandwidth": "40G"}})
    return [*cluster(slice_("a", nic("nic-0", **policy))), claim("stream", wanted)]


@situation()
def capacity_misspelt() -> list[Object]:
    wanted = request("nic", capacity={"requests": {"bandwith": "10G"}})
    return [*cluster(slice_("a", nic("nic-0"))), claim("stream", wanted)]


def partitions() -> list[Object]:
    """A GPU of 40Gi, whole or in halves."""
    whole = device("gpu-0", profile="whole", consumes={"gpu-0": {"memory": "40Gi"}})
    halves = [device(f"half-{n}", profile="half", consumes={"gpu-0": {"memory": "20Gi"}}) for n in (0, 1)]
    return cluster(slice_("a", whole, *halves, number=0, of=2), counters("a", {"gpu-0": {"memory": "40Gi"}}))


@situation()
def counter_used_by_others() -> list[Object]:
    wanted = request("gpu", cel(' .profile == "whole"'))
    return [*partitions(), allocated("old", "a/half-0", pod="web"), claim("train", wanted)]


@situation()
def counter_not_enough_for_two_requests() -> list[Object]:
    whole, half = request("whole", cel(' .profile == "whole"')), request("half", cel(' .profile == "half"'))
    return [*partitions(), claim("both", whole, half)]


# -- together ------------------------------------------------------------------------------------------------------


def on_numa(*numas: int) -> Object:
    devices = [device(f"gpu-{at}", attributes={"example.com/numa": numa}) for at, numa in enumerate(numas)]
    return slice_("a", *devices)


@situation()
def match_attribute_never_met() -> list[Object]:
    rules = [match("example.com/numa")]
    return [*cluster(on_numa(0, 0, 1, 1)), claim("train", request("gpu", count=3), constraints=rules)]


@situation()
def match_attribute_missing() -> list[Object]:
    return [*cluster(gpus("a", "A100 A100")), claim("train", request("gpu"), constraints=[match("example.com/numa")])]


@situation()
def distinct_attribute_never_met() -> list[Object]:
    rules = [distinct("example.com/numa", "left", "right")]
    return [*cluster(on_numa(1, 1)), claim("train", request("left"), request("right"), constraints=rules)]


@situation()
def two_requests_for_one_device() -> list[Object]:
    wanted = [request(name, cel(' .model == "H100"')) for name in ("left", "right")]
    return [*cluster(gpus("a", "H100 A100")), claim("train", *wanted)]


@situation()
def two_claims_of_a_pod_and_another_claim() -> list[Object]:
    claims = [claim("one", request("gpu")), claim("two", request("gpu"))]
    objects = cluster(gpus("a", "A100 A100"))
    return [
        *objects,
        allocated("old", "a/gpu-0", pod="web"),
        *claims,
        bare_pod("train", claims={"first": "one", "second": "two"}),
    ]


@situation()
def more_requests_than_devices() -> list[Object]:
    return [*cluster(gpus("a", "A100 A100 A100")), claim("train", *(request(f"gpu-{at}") for at in range(5)))]


@situation()
def several_changes_needed() -> list[Object]:
    devices = [device("gpu-0", model="A100", taints=[taint("maintenance")], capacity={"memory": "40Gi"})]
    text = cel(' .model == "H100" && :memory.compareTo(quantity("80Gi")) >= 0')
    rules = [match("example.com/numa")]
    wanted = claim("train", request("gpu", text, "true"), request("spare"), constraints=rules)
    return [*cluster(slice_("a", *devices)), wanted]


# -- pools ---------------------------------------------------------------------------------------------------------


@situation()
def pool_incomplete() -> list[Object]:
    return [*cluster(gpus("a", "A100 A100", of=2)), claim("train", request("gpu"))]


@situation()
def pool_invalid() -> list[Object]:
    return [*cluster(slice_("a", device("gpu-0"), device("gpu-0"), number=0)), claim("train", request("gpu"))]


@situation()
def pool_obsolete() -> list[Object]:
    old, new = gpus("a", "A100", of=2), gpus("b", "A100", generation=2)
    new["spec"]["pool"]["name"] = "a"
    return [*cluster(old, new), claim("train", request("gpu", count=2))]


@situation()
def label_missing_on_the_node() -> list[Object]:
    term = {"matchExpressions": [{"key": "fabric", "operator": "In", "values": ["blue"]}]}
    made = gpus("blue", "A100 A100", nodeSelector={"nodeSelectorTerms": [term]})
    return [*cluster(made), claim("train", request("gpu"))]


# -- alternatives --------------------------------------------------------------------------------------------------


@situation()
def no_alternative_can_be_met() -> list[Object]:
    options = first_of(
        "gpu", request("new", cel(' .model == "B200"')), request("two-old", cel(' .model == "A100"'), count=2)
    )
    return [*cluster(gpus("a", "A100 L40S")), claim("train", options)]


@situation()
def fits_with_the_second_alternative() -> list[Object]:
    options = first_of("gpu", request("new", cel(' .model == "B200"')), request("old", cel(' .model == "A100"')))
    return [*cluster(gpus("a", "L40S A100")), claim("train", options)]


@situation()
def fits_but_not_the_first_device() -> list[Object]:
    devices = [
        device("gpu-0", model="A100"),
        device("gpu-1", model="H100", taints=[taint("maintenance")]),
        device("gpu-2", model="H100"),
        device("gpu-3", model="H100"),
    ]
    objects = cluster(slice_("a", *devices))
    wanted = request("gpu", cel(' .model == "H100"'))
    return [*objects, allocated("old", "a/gpu-2", pod="web"), claim("train", wanted)]


# -- errors --------------------------------------------------------------------------------------------------------


@situation()
def class_missing() -> list[Object]:
    return [*cluster(gpus("a", "A100")), claim("train", request("gpu", of="gpus.example.com"))]


@situation()
def template_missing() -> list[Object]:
    return [*cluster(gpus("a", "A100")), bare_pod("train", templates={"gpu": "one-gpu"})]


@situation()
def selector_takes_a_version_for_a_string() -> list[Object]:
    devices = [device("gpu-0", driverVersion={"version": "550.54.1"})]
    return [
        *cluster(slice_("a", *devices)),
        claim("train", request("gpu", cel(' .driverVersion.split(".")[0] == "550"'))),
    ]


@situation()
def selector_fails_on_one_device() -> list[Object]:
    devices = [device("gpu-0", model="A100"), device("gpu-1", model="A100", index=0)]
    return [*cluster(slice_("a", *devices)), claim("train", request("gpu", cel(" .index >= 0"), count=1))]


@situation()
def selector_fails_on_devices_of_another_driver() -> list[Object]:
    nics = slice_("a", device("card-0"), driver="fpga.example.com")
    objects = [node("a"), device_class("any.example.com", "true"), nics, gpus("a", "A100")]
    return [*objects, claim("train", request("gpu", cel(' .model == "A100"'), of="any.example.com"))]


@situation()
def selector_does_not_compile() -> list[Object]:
    return [*cluster(gpus("a", "A100")), claim("train", request("gpu", cel(' .model = "A100"')))]


@situation(feature_gates={"DRAPrioritizedList": False})
def feature_is_off() -> list[Object]:
    return [*cluster(gpus("a", "A100")), claim("train", first_of("gpu", request("any")))]


@situation()
def all_devices_next_to_a_broken_pool() -> list[Object]:
    broken = slice_("a", device("nic-0"), number=0, driver="nic.example.com", of=2)
    objects = cluster(gpus("a", "A100"), gpus("b", "A100"), broken)
    return [*objects, claim("burn-in", request("gpus", allocationMode="All"))]


@situation(max_steps=3)
def undecided() -> list[Object]:
    return [*cluster(gpus("a", " ".join(["A100"] * 12))), claim("train", request("gpu", count=6))]


@situation()
def allocated_for_another_node() -> list[Object]:
    old = allocated("data", "a/gpu-0", on="a")
    new = claim("more", request("gpu", count=2))
    return [
        *cluster(gpus("a", "A100 A100"), gpus("b", "A100 A100")),
        old,
        new,
        bare_pod("train", claims={"data": "data", "more": "more"}),
    ]


# -- sizes and names -----------------------------------------------------------------------------------------------


@situation()
def many_nodes_alike() -> list[Object]:
    nodes = [node(f"node-{n:03}") for n in range(40)]
    slices = [gpus(f"node-{n:03}", "A100 A100" if n % 4 else "A100") for n in range(40)]
    return [*nodes, device_class(), *slices, claim("train", request("gpu", cel(' .model == "H100"')))]


@situation()
def many_different_stories() -> list[Object]:
    nodes = [node(f"n{n:02}") for n in range(20)]
    slices = [slice_(f"n{n:02}", device("gpu-0", taints=[taint(f"broken-{n}")])) for n in range(20)]
    return [*nodes, device_class(), *slices, claim("train", request("gpu"))]


@situation()
def names_beyond_ascii() -> list[Object]:
    wanted = request("gpu", cel(' .model == "Großrechner"'))
    return [*cluster(gpus("a", "計算機 \x1b[31mrot")), claim("train", wanted)]


# -- defects of the release ----------------------------------------------------------------------------------------


@situation()
def refused_for_a_known_defect() -> list[Object]:
    wanted = request("nic", capacity={"requests": {f"{GPU}/bandwidth": "10G"}})
    return [*cluster(slice_("a", nic("nic-0"))), claim("stream", wanted)]


# -- single devices ------------------------------------------------------------------------------------------------


@situation(devices=[f"{GPU}/a/gpu-1"])
def one_device_with_every_check() -> list[Object]:
    bad = device(
        "gpu-1",
        model="A100",
        capacity={"memory": "40Gi"},
        taints=[taint("maintenance")],
        consumes={"board": {"power": "300"}},
        attributes={"example.com/numa": 1},
    )
    slices = [slice_("a", bad, number=0, of=2), counters("a", {"board": {"power": "250"}})]
    text = cel(' .model == "A100" && :memory.compareTo(quantity("64Gi")) >= 0')
    return [*cluster(*slices), claim("train", request("gpu", text), constraints=[match("example.com/numa")])]


@situation(devices=[f"{GPU}/a/gpu-0", f"{GPU}/a/gpu-1"])
def one_device_in_use_and_one_that_could_be_used() -> list[Object]:
    return [*cluster(gpus("a", "A100 A100")), allocated("old", "a/gpu-0", pod="web"), claim("train", request("gpu"))]


@situation(devices=[f"{GPU}/a/gpu-0"])
def one_device_of_an_incomplete_pool() -> list[Object]:
    return [*cluster(gpus("a", "A100", of=2)), claim("train", request("gpu"))]


@situation()
def nothing_to_plan() -> list[Object]:
    return cluster(gpus("a", "A100"))


@situation(together=True)
def claims_together() -> list[Object]:
    objects = cluster(gpus("a", "A100"))
    return [
        *objects,
        claim("one", request("gpu")),
        claim("two", request("gpu")),
        claim("three", request("gpu", count=2)),
    ]
