"""Minimal cases of known defects that the recorded ones do not tell apart: upstream's answer, and the repaired one."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from dra_plan import allocate, releases
from tests.build import node, taint_rule

from .build import DRIVER, claim, device, device_class, every, exactly, is_v, option, pool


def outcome(objects: list[dict[str, Any]], **options: Any) -> tuple[str, list[str]]:
    """The outcome on the only node, and the devices in order."""
    [claim_set] = allocate(objects, together=True, **options).to_dict()["claimSets"]
    [answer] = claim_set["nodes"]
    results = [r for c in answer["claims"] for r in c["allocation"]["devices"].get("results", [])]
    return answer["outcome"], [result["device"] for result in results]


def told(objects: list[dict[str, Any]], **options: Any) -> list[str]:
    warnings = allocate(objects, together=True, **options).to_dict()["warnings"]
    return [w["message"].split(" ")[0].rstrip(",:") for w in warnings if w["code"] == "upstream-defect"]


def test_the_names_that_the_type_checker_knows_are_the_fields() -> None:
    assert get_args(releases.Quirk) == releases.Quirks.__struct_fields__


Q5 = [
    node(),
    device_class(),
    *pool(
        device("d1", v=1, consumes={"m": "8"}, capacity={"c": {"value": "4"}}, allowMultipleAllocations=True),
        device("d2", v=2, consumes={"m": "8"}),
        counters={"m": "16"},
    ),
    claim(exactly("r0"), exactly("r1", where=is_v(1))),
]

Q21 = [
    node(),
    device_class(),
    *pool(
        device("d1", v=1, capacity={"c": {"value": "4"}}, allowMultipleAllocations=True),
        device("d2", v=2),
    ),
    claim(
        exactly("r0", where=is_v(1)),
        {
            "name": "r1",
            "firstAvailable": [
                {"name": "all", "allocationMode": "All", **option(where=is_v(1))},
                {"name": "one", **option(count=1, where=is_v(2))},
            ],
        },
        constraints=[{"requests": ["r1"], "matchAttribute": f"{DRIVER}/v"}],
    ),
]

Q22 = [
    node(),
    device_class(),
    *pool(
        device(
            "d1",
            capacity={"c": {"value": "10Ki", "requestPolicy": {"default": "1Ki", "validRange": {"max": "512"}}}},
            allowMultipleAllocations=True,
        )
    ),
    claim(exactly("r", capacity={"requests": {"c": "1024"}})),
]


@pytest.mark.parametrize(
    ("defect", "objects", "repaired"),
    [("Q5", Q5, ["d2", "d1"]), ("Q21", Q21, ["d1", "d2"]), ("Q22", Q22, ["d1"])],
    ids=["Q5", "Q21", "Q22"],
)
def test_defect_refuses_what_the_api_promises(defect: str, objects: list[dict[str, Any]], repaired: list[str]) -> None:
    old: dict[str, Any] = {"kubernetes_version": "1.36.2"}
    assert outcome(objects, **old) == ("DoesNotFit", [])
    assert outcome(objects, quirks="fixed", **old) == ("Fits", repaired)
    assert told(objects, **old) == [defect]
    assert told(objects, quirks="fixed", **old) == []


@pytest.mark.parametrize(("objects", "devices"), [(Q5, ["d2", "d1"]), (Q21, ["d1", "d2"])], ids=["Q5", "Q21"])
def test_what_was_repaired_in_1_36_3_is_gone_there(objects: list[dict[str, Any]], devices: list[str]) -> None:
    for version in ("1.36", "1.36.3"):
        assert outcome(objects, kubernetes_version=version) == ("Fits", devices)
        assert told(objects, kubernetes_version=version) == []


def test_all_alternative_loses_its_index_up_to_1_35() -> None:
    """Q20: from its second device on, the second alternative is mistaken for the first, which wants three devices."""
    objects = [
        node(),
        device_class(),
        *pool(device("d1", v=1), device("d2", v=1)),
        claim(
            {
                "name": "r",
                "firstAvailable": [
                    {"name": "three", **option(count=3)},
                    {"name": "all", "allocationMode": "All", **option()},
                ],
            }
        ),
    ]
    assert outcome(objects) == ("Fits", ["d1", "d2"])
    assert outcome(objects, kubernetes_version="1.35") == ("DoesNotFit", [])
    assert outcome(objects, kubernetes_version="1.35", quirks="fixed") == ("Fits", ["d1", "d2"])
    assert told(objects, kubernetes_version="1.35") == ["Q20"]


def test_capacity_of_the_wrong_device_decides_in_1_34() -> None:
    """C1: the first device of the slice lacks what is asked for, so the second is not even tried."""
    objects = [
        node(),
        device_class(),
        *pool(device("d1", capacity={"other": {"value": "4"}}), device("d2", capacity={"c": {"value": "4"}})),
        claim(exactly("r", capacity={"requests": {"c": "1"}})),
    ]
    options: dict[str, Any] = {"kubernetes_version": "1.34", "feature_gates": {"DRAConsumableCapacity": True}}
    assert outcome(objects, **options) == ("DoesNotFit", [])
    assert outcome(objects, quirks="fixed", **options) == ("Fits", ["d2"])
    assert outcome(objects) == ("Fits", ["d2"])
    assert told(objects, **options) == ["C1"]


def test_capacity_refused_late_leaves_the_device_taken_in_1_34() -> None:
    """C1 and Q21: d2 passes because d1 has the capacity, then fails by its own, and stays taken."""
    objects = [
        node(),
        device_class(),
        *pool(device("d1", v=1, capacity={"c": {"value": "4"}}), device("d2", v=2)),
        claim(
            {
                "name": "r",
                "firstAvailable": [
                    {"name": "big", **option(count=1, where=is_v(2)), "capacity": {"requests": {"c": "1"}}},
                    {"name": "any", **option(count=1, where=is_v(2))},
                ],
            }
        ),
    ]
    options: dict[str, Any] = {"kubernetes_version": "1.34", "feature_gates": {"DRAConsumableCapacity": True}}
    assert outcome(objects, **options) == ("DoesNotFit", [])
    assert outcome(objects, quirks="fixed", **options) == ("Fits", ["d2"])


def test_taint_rule_without_selector_taints_everything_upstream() -> None:
    """E1 and E3: both are told as soon as such a rule exists."""
    objects = [node(), device_class(), *pool(device("d1")), claim(exactly("r")), taint_rule()]
    gates = {"DRADeviceTaintRules": True}
    assert outcome(objects, feature_gates=gates) == ("DoesNotFit", [])
    assert outcome(objects, feature_gates=gates, quirks="fixed") == ("Fits", ["d1"])
    assert told(objects, feature_gates=gates, kubernetes_version="1.36.2") == ["E3", "E1"]
    assert told(objects, feature_gates=gates, kubernetes_version="1.36.3") == ["E1"]
    assert outcome(objects) == ("Fits", ["d1"]), "the gate is off by default"


def test_taint_rule_means_what_its_selector_says() -> None:
    objects = [node(), device_class(), *pool(device("d1"), device("d2")), claim(exactly("r"))]
    rule = taint_rule(driver=DRIVER, pool="p", device="d1")
    assert outcome([*objects, rule], feature_gates={"DRADeviceTaintRules": True}) == ("Fits", ["d2"])


def test_all_next_to_a_broken_pool_is_only_this_nodes_business_once_repaired() -> None:
    broken = pool(device("x"), name="q")
    broken[0]["spec"]["pool"]["resourceSliceCount"] = 2
    objects = [node(), device_class(), *pool(device("d1")), *broken, claim(every("r"))]
    assert outcome(objects)[0] == "Error"
    assert outcome(objects, quirks="fixed")[0] == "DoesNotFit"


def test_every_defect_has_a_switch_and_a_description() -> None:
    switches = set(releases.Quirks.__struct_fields__)
    assert {defect.quirk for defect in releases.DEFECTS} == switches
    assert len({defect.id for defect in releases.DEFECTS}) == len(releases.DEFECTS)
