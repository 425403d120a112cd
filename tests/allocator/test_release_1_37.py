"""What 1.37 does otherwise than 1.36.3, rule by rule, where the recorded cases do not tell rules apart."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_plan import allocate
from tests.build import node, taint_rule

from .build import DRIVER, claim, device, device_class, every, exactly, is_v, option, pool
from .test_quirks import outcome, told

NEW: dict[str, Any] = {"kubernetes_version": "1.37"}
OLD: dict[str, Any] = {"kubernetes_version": "1.36.3"}
SHARED: dict[str, Any] = {"allowMultipleAllocations": True}


def answer(objects: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
    """The answer for the only node."""
    [claim_set] = allocate(objects, together=True, **options).to_dict()["claimSets"]
    [found] = claim_set["nodes"]
    return found


def message(objects: list[dict[str, Any]], **options: Any) -> str:
    return answer(objects, **options)["message"]


# Amounts

NOT_COUNTABLE = "capacity request cannot be represented in the device's range arithmetic: "


def ranged(amount: str, default: str = "1", value: str = "10", **valid: str) -> list[dict[str, Any]]:
    """One shared device whose capacity is asked for by a range."""
    capacity = {"c": {"value": value, "requestPolicy": {"default": default, "validRange": valid}}}
    asked = exactly("r", capacity={"requests": {"c": amount}})
    return [node(), device_class(), *pool(device("d1", capacity=capacity, **SHARED)), claim(asked)]


def consumed(objects: list[dict[str, Any]], **options: Any) -> str:
    [found] = answer(objects, **options)["claims"]
    return found["allocation"]["devices"]["results"][0]["consumedCapacity"]["c"]


@pytest.mark.parametrize(
    ("amount", "valid", "new", "old"),
    [
        ("1100m", {"min": "1", "step": "500m"}, "1500m", "2"),
        ("1600m", {"min": "500m", "step": "500m"}, "2", "2"),
        ("1100m", {"min": "1", "step": "1"}, "2", "2"),
        ("3Ki", {"min": "1Ki", "step": "1500"}, "4024", "4024"),
        ("2048", {"min": "1Ki", "step": "1Ki"}, "2Ki", "2Ki"),
        ("2000", {"min": "1k", "step": "1k"}, "2k", "2000"),
        ("1e3", {"min": "1e2", "step": "3e2"}, "1e3", "1k"),
        ("500m", {"min": "750m", "step": "250m"}, "750m", "750m"),
    ],
)
def test_steps_are_counted_in_thousandths_and_keep_their_notation(
    amount: str, valid: dict[str, str], new: str, old: str
) -> None:
    objects = ranged(amount, value="100Ki", default=valid["min"], **valid)
    assert consumed(objects, **NEW) == new
    assert consumed(objects, **OLD) == old


def test_ranges_finer_than_thousandths_are_still_counted_in_units() -> None:
    """Q23 goes on where thousandths can't say what the range says, and where the gate is off."""
    fine = ranged("1100u", min="1", step="100u")
    assert consumed(ranged("1000200u", min="1", step="100u"), **NEW) == "2"
    assert consumed(fine, **NEW) == "1"
    half = ranged("1100m", min="1", step="500m")
    assert consumed(half, **NEW, feature_gates={"DRAFractionalCapacityRange": False}) == "2"
    assert told(half, **NEW, feature_gates={"DRAFractionalCapacityRange": False}) == ["Q23"]
    assert told(half, **NEW) == []
    assert consumed(half, **NEW, quirks="fixed") == "1500m"


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        (
            ranged("1000100u", min="1", step="500m"),
            NOT_COUNTABLE + "request 1000100u is not a representable milli value",
        ),
        (
            ranged("9223372036854775807m", value="9E", min="0", step="9223372036854775806m"),
            NOT_COUNTABLE + "rounding request 9223372036854775807m up to the next step passes the milli-value range",
        ),
        (
            ranged("9300P", value="9E", min="0", step="9E"),
            "capacity request cannot be represented in the device's range arithmetic: request 9300P exceeds MaxInt64",
        ),
        (
            ranged("9100P", value="9E", min="0", step="9E"),
            NOT_COUNTABLE + "rounding request 9100P up to the next step passes MaxInt64",
        ),
        (
            [
                node(),
                device_class(),
                *pool(device("d1", capacity={"c": {"value": "-1"}}, **SHARED)),
                claim(exactly("r")),
            ],
            "capacity value is negative",
        ),
    ],
)
def test_amounts_that_steps_can_not_count_are_errors_for_the_pod(objects: list[dict[str, Any]], problem: str) -> None:
    found = answer(objects, **NEW)
    assert found["outcome"] == "Error"
    assert found["message"] == (
        f'claim default/c, request r: checking capacity for device {DRIVER}/p/d1: capacity "c": {problem}'
    )
    assert answer(objects, **OLD)["outcome"] != "Error"


def test_the_error_comes_before_any_other_refusal_for_capacity() -> None:
    """Also where another capacity of the device has too little left, whichever comes first."""
    policy = {"default": "1", "validRange": {"min": "1", "step": "500m"}}
    capacities = {"a": {"value": "1"}, "b": {"value": "10", "requestPolicy": policy}}
    asked = exactly("r", capacity={"requests": {"a": "5", "b": "1000100u"}})
    objects = [node(), device_class(), *pool(device("d1", capacity=capacities, **SHARED)), claim(asked)]
    assert 'capacity "b": capacity request cannot be represented' in message(objects, **NEW)
    asked["exactly"]["capacity"]["requests"]["none"] = "1"
    assert answer(objects, **NEW)["outcome"] == "DoesNotFit", "a device without the capacity is passed over"


def test_an_alternative_is_named_alone_in_the_error() -> None:
    asked = {"name": "r", "firstAvailable": [{"name": "s", **option(count=1, capacity={"requests": {"c": "-1"}})}]}
    objects = [node(), device_class(), *pool(device("d1", capacity={"c": {"value": "1"}}, **SHARED)), claim(asked)]
    assert message(objects, **NEW).startswith("claim default/c, request s: checking capacity for device ")


# What the search may take


def test_all_fails_where_a_device_has_no_room_left() -> None:
    """Q10: the device is meant, so it is missed."""
    held = claim(exactly("x"), name="held")
    held["status"] = {
        "allocation": {
            "devices": {
                "results": [
                    {
                        "request": "x",
                        "driver": DRIVER,
                        "pool": "p",
                        "device": "d1",
                        "shareID": "11111111-1111-4111-8111-111111111111",
                        "consumedCapacity": {"c": "4"},
                    }
                ]
            }
        }
    }
    devices = [device(name, capacity={"c": {"value": "4"}}, **SHARED) for name in ("d1", "d2")]
    objects = [node(), device_class(), *pool(*devices), held, claim(every("r"))]
    assert outcome(objects, **OLD) == ("Fits", ["d2"])
    assert outcome(objects, **NEW) == ("DoesNotFit", [])


def test_each_device_of_a_request_is_remembered_by_distinct_attribute() -> None:
    """Q2, also after a device was given back."""
    devices = [device("d1", v=1), device("d2", v=2), device("d3", v=1), device("d4", v=3)]
    constraints = [{"distinctAttribute": f"{DRIVER}/v"}]
    objects = [node(), device_class(), *pool(*devices), claim(exactly("r", 3), constraints=constraints)]
    assert outcome(objects, **OLD) == ("Fits", ["d1", "d2", "d3"])
    assert outcome(objects, **NEW) == ("Fits", ["d1", "d2", "d4"])
    assert told(objects, **NEW) == []


def test_drivers_that_share_a_pool_name_have_counters_of_their_own() -> None:
    """Q1: both are short of their counters together, and each has enough alone."""
    other = pool(device("e1", consumes={"m": "8"}), counters={"m": "8"}, driver="b.example.com")
    for index, slice_ in enumerate(other):
        slice_["metadata"]["name"] = f"b-{index}"
    mine = pool(device("d1", consumes={"m": "8"}), counters={"m": "8"})
    asked = claim(exactly("r1"), {"name": "r2", "exactly": {"deviceClassName": "b", "count": 1}})
    objects = [node(), device_class(), device_class("b", "b.example.com"), *mine, *other, asked]
    assert outcome(objects, **OLD) == ("DoesNotFit", [])
    assert outcome(objects, **NEW) == ("Fits", ["d1", "e1"])


def test_counters_of_other_nodes_concern_nobody() -> None:
    """Q15: a pool whose device slices are on another node is not there, broken as it may be."""
    there = pool(device("x", consumes={"none": "1"}), counters={"m": "1"}, name="q", nodeName="n2")
    there[1]["spec"].pop("nodeName")
    there[1]["spec"]["nodeName"] = "n2"
    objects = [node(), device_class(), *pool(device("d1")), *there, claim(every("r"))]
    assert outcome(objects, **NEW) == ("Fits", ["d1"])
    assert outcome(objects, **OLD)[0] == "Error"


def test_taint_rules_act_by_default() -> None:
    objects = [node(), device_class(), *pool(device("d1"), device("d2")), claim(exactly("r"))]
    rule = taint_rule(device="d1") | {"apiVersion": "resource.k8s.io/v1"}
    assert outcome([*objects, rule], **NEW) == ("Fits", ["d2"])
    assert outcome([*objects, rule], **OLD) == ("Fits", ["d1"])


def test_a_rule_without_device_selector_still_taints_every_device() -> None:
    """E1 is mended after 1.37.0, E3 was before."""
    objects = [node(), device_class(), *pool(device("d1")), claim(exactly("r")), taint_rule()]
    assert outcome(objects, **NEW) == ("DoesNotFit", [])
    assert told(objects, **NEW) == ["E1"]


def test_all_next_to_a_broken_pool_still_stops_the_pod() -> None:
    """Q12 is mended after 1.37.0."""
    broken = pool(device("x"), name="q")
    broken[0]["spec"]["pool"]["resourceSliceCount"] = 2
    objects = [node(), device_class(), *pool(device("d1")), *broken, claim(every("r"))]
    assert outcome(objects, **NEW)[0] == "Error"


def test_a_share_without_capacity_pays_its_counters_once() -> None:
    """Q19."""
    held = claim(exactly("x"), name="held")
    share = {"request": "x", "driver": DRIVER, "pool": "p", "device": "d1", "shareID": "s-1"}
    held["status"] = {"allocation": {"devices": {"results": [share]}}}
    devices = pool(device("d1", consumes={"m": "8"}, **SHARED), counters={"m": "8"})
    objects = [node(), device_class(), *devices, held, claim(exactly("r"))]
    assert outcome(objects, **OLD) == ("DoesNotFit", [])
    assert outcome(objects, **NEW) == ("Fits", ["d1"])


# What the result says


def configured(*requests: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    config = [{"requests": names, "opaque": {"driver": DRIVER, "parameters": {"x": 1}}}]
    devices = pool(*[device(f"d{number}", v=number) for number in range(3)])
    return [node(), device_class(), *devices, claim(*requests, config=config)]


def configs(objects: list[dict[str, Any]], **options: Any) -> list[list[str]]:
    [found] = answer(objects, **options)["claims"]
    return [entry.get("requests", []) for entry in found["allocation"]["devices"].get("config", [])]


def choice(name: str, *alternatives: str) -> dict[str, Any]:
    return {"name": name, "firstAvailable": [{"name": one, **option(count=1)} for one in alternatives]}


@pytest.mark.parametrize(
    ("requests", "names", "new", "old"),
    [
        ([exactly("a"), exactly("b")], ["a", "b"], [[]], [["a", "b"], ["a", "b"]]),
        ([exactly("a"), exactly("b")], ["a"], [["a"]], [["a"]]),
        ([choice("a", "s", "t")], ["a/s", "a/t"], [[]], [["a/s", "a/t"]]),
        ([choice("a", "s", "t"), exactly("b")], ["a/s", "a/t"], [["a/s", "a/t"]], [["a/s", "a/t"]]),
        ([choice("a", "s", "t"), exactly("b")], ["a/s", "b"], [[]], [["a/s", "b"], ["a/s", "b"]]),
        ([exactly("a")], ["a"], [[]], [["a"]]),
    ],
)
def test_configuration_is_told_once_and_names_no_request_if_it_is_for_all(
    requests: list[dict[str, Any]], names: list[str], new: list[list[str]], old: list[list[str]]
) -> None:
    """Two alternatives of one request are not all requests of a claim that has two."""
    objects = configured(*requests, names=names)
    assert configs(copy.deepcopy(objects), **NEW) == new
    assert configs(objects, **OLD) == old


# Texts

ADVICE = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has()"
    " for optional fields"
)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (
            is_v(1),
            "no such key: v" + ADVICE,
        ),
        ("1 / int(device.capacity['x'].size()) == 1", "division by zero"),
    ],
)
def test_errors_of_selectors_name_the_device(expression: str, said: str) -> None:
    objects = [
        node(),
        device_class(),
        *pool(device("d1", attributes={"w": {"int": 1}})),
        claim(exactly("r", where=expression)),
    ]
    place = f"claim default/c: selector #0 on device {DRIVER}/p/d1: CEL runtime error: "
    assert message(objects, **NEW) == place + said
    assert message(objects, **OLD) == "claim default/c: selector #0: CEL runtime error: " + said.removesuffix(ADVICE)


def test_errors_of_compiling_name_no_device() -> None:
    objects = [node(), device_class(), *pool(device("d1")), claim(exactly("r", where="nothing"))]
    assert message(objects, **NEW).startswith("claim default/c: selector #0: CEL compile error: ")


# Fields and gates


def grouped() -> list[dict[str, Any]]:
    """A pool of two slices, one of which has a device in a compatibility group."""
    first, counters = pool(device("d1", consumes={"m": "1"}), counters={"m": "8"})
    first["spec"]["devices"][0]["consumesCounters"][0]["compatibilityGroups"] = ["g"]
    return [node(), device_class(), first, counters]


def codes(objects: list[dict[str, Any]], **options: Any) -> list[tuple[str, str]]:
    warnings = allocate(objects, together=True, **options).to_dict()["warnings"]
    return [(w["code"], w["message"]) for w in warnings]


def test_a_slice_with_compatibility_groups_is_not_there_without_the_gate() -> None:
    """Its pool is incomplete, which All tells; older releases do not know the field."""
    objects = [*grouped(), claim(exactly("r"))]
    assert outcome(objects, **OLD) == ("Fits", ["d1"])
    assert outcome(objects, **NEW) == ("DoesNotFit", [])
    other = pool(device("e1"), name="q")
    beside = copy.deepcopy([*grouped(), *other, claim(exactly("r"))])
    assert outcome(beside, **NEW) == ("Fits", ["e1"])
    plain = grouped()
    plain.insert(2, copy.deepcopy(plain[2]))
    plain[2]["metadata"]["name"] = "p-2"
    plain[2]["spec"]["devices"] = [device("d2")]
    for slice_ in plain[2:]:
        slice_["spec"]["pool"]["resourceSliceCount"] = 3
    assert "resource pool a.example.com/p is currently being updated" in message([*plain, claim(every("r"))], **NEW)


def test_compatibility_groups_with_the_gate_are_an_honest_not_simulated() -> None:
    gates = {"DRADeviceCompatibilityGroups": True}
    objects = [*grouped(), claim(exactly("r"))]
    assert outcome(objects, **NEW, feature_gates=gates) == ("Fits", ["d1"])
    [gate, field] = codes(objects, **NEW, feature_gates=gates)
    assert gate[0] == "gate-not-recorded"
    assert field == (
        "not-simulated",
        "compatibilityGroups: the field is not simulated: groups are not compared, so all devices count as compatible",
    )


def test_list_attributes_reach_the_allocator_with_their_gate() -> None:
    """P11 ends: the constraint sees sets, in the experimental allocator, which was not recorded."""
    lists: dict[str, Any] = {"feature_gates": {"DRAListTypeAttributes": True}}
    devices = [device(f"d{n}", attributes={"l": {"ints": values}}) for n, values in enumerate([[1, 2], [2, 3]])]
    constraints = [{"matchAttribute": f"{DRIVER}/l"}]
    objects = [node(), device_class(), *pool(*devices), claim(exactly("r", 2), constraints=constraints)]
    assert outcome(objects, **OLD, **lists) == ("DoesNotFit", [])
    assert outcome(objects, **NEW, **lists) == ("Fits", ["d0", "d1"])
    [(code, told_)] = codes(objects, **NEW, **lists)
    assert (code, "KEP-5491" in told_) == ("gate-not-recorded", True)
    assert allocate(objects, **NEW, **lists).to_dict()["target"]["variant"] == "experimental"


DROPPED = {
    "skipNodeOperations": "DRAOptionalNodeOperations",
    "partitionTypeAttribute": "DRAPartitionableDevicesType",
    "nodeAllocatableResources": "DRANodeAllocatableResources",
    "derivedAttributes": "DRADerivedAttributes",
}


def with_field(name: str) -> list[dict[str, Any]]:
    asked, slices = exactly("r"), pool(device("d1"))
    if name == "derivedAttributes":
        asked["exactly"][name] = [{"name": "x", "expression": "1"}]
    elif name == "nodeAllocatableResources":
        slices[0]["spec"]["devices"][0][name] = {"cpu": {"mapping": {"capacityKey": "c"}}}
    else:
        slices[0]["spec"][name] = ["*"] if name == "skipNodeOperations" else f"{DRIVER}/p"
    return [node(), device_class(), *slices, claim(asked)]


@pytest.mark.parametrize("name", DROPPED)
def test_no_field_of_1_37_passes_in_silence(name: str) -> None:
    objects, gate = with_field(name), DROPPED[name]
    on = {"DRAResourcePoolStatus": True, gate: True}
    assert codes(objects, **OLD) == [("field-dropped", f"{name}: Kubernetes 1.36 does not have the field and drops it")]
    assert codes(objects, **NEW) == [
        ("field-dropped", f"{name}: Kubernetes 1.37 drops the field: feature gate {gate} is off")
    ]
    told_ = dict(codes(objects, **NEW, feature_gates=on))
    assert told_["not-simulated"].startswith(f"{name}: the field is not simulated: ")
    assert told_["not-simulated"].endswith("; it is ignored")
    assert outcome(objects, **NEW) == outcome(objects, **OLD) == ("Fits", ["d1"])


def test_the_first_api_of_node_allocatable_resources_is_gone() -> None:
    slices = pool(device("d1", nodeAllocatableResourceMappings={"cpu": {"capacityKey": "c"}}))
    objects = [node(), device_class(), *slices, claim(exactly("r"))]
    on = {"feature_gates": {"DRANodeAllocatableResources": True}}
    assert codes(objects, **OLD, **on) == []
    told_ = "nodeAllocatableResourceMappings: Kubernetes 1.37 does not have the field and drops it"
    assert ("field-dropped", told_) in codes(objects, **NEW, **on)
