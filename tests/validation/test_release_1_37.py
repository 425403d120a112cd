"""What validate says under 1.37: fields that came, went or need a gate, amounts of ranges, and whose rules judge."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import validate
from tests.build import taint_rule

from .objects import DRIVER, Data, claim, device, piece, request


def found(obj: Data, version: str = "1.37", **options: Any) -> list[tuple[str, str, str]]:
    findings = validate(obj, kubernetes_version=version, **options).to_dict()["findings"]
    return [(one["code"], one["field"], one["message"]) for one in findings if one["severity"] != "info"]


def ranged(default: str, value: str = "10", **valid: str) -> Data:
    """A slice with one shared device, whose capacity has a range."""
    capacity = {"c": {"value": value, "requestPolicy": {"default": default, "validRange": valid}}}
    return piece("s", device(capacity=capacity, allowMultipleAllocations=True))


def of_policy(obj: Data, version: str = "1.37", **options: Any) -> list[str]:
    said = found(obj, version, **options)
    return [f"{code} {field.rpartition('.')[2]}: {message}" for code, field, message in said if "validRange" in field]


def test_steps_of_ranges_with_fractions_are_counted_in_thousandths() -> None:
    odd = ranged("350m", min="100m", step="100m")
    assert of_policy(odd, "1.36") == []
    assert of_policy(odd) == ["DRA135 step: the default is not a whole number of steps of 100m above min 100m"]
    assert of_policy(odd, feature_gates={"DRAFractionalCapacityRange": False}) == []
    even = ranged("4", min="1", step="1500m")
    assert len(of_policy(even, "1.36")) == 1
    assert of_policy(even) == []


@pytest.mark.parametrize(
    ("valid", "said"),
    [
        ({"min": "0", "step": "0"}, "DRA135 step: 0 is not greater than 0"),
        ({"min": "0", "step": "-1"}, "DRA135 step: -1 is negative"),
        ({"min": "-1"}, "DRA135 min: -1 is negative"),
        ({"min": "0", "max": "10E"}, "DRA135 max: 10E is more than an int64 holds"),
    ],
)
def test_amounts_that_can_not_be_counted_with_are_refused(valid: dict[str, str], said: str) -> None:
    assert said in of_policy(ranged("1", **valid))
    assert said not in of_policy(ranged("1", **valid), "1.36")


def grouped(*groups: str) -> Data:
    taken = {"counterSet": "s", "counters": {"m": {"value": "1"}}, "compatibilityGroups": list(groups)}
    return piece("s", device(consumesCounters=[taken]))


def test_compatibility_groups_are_two_at_most() -> None:
    on = {"feature_gates": {"DRADeviceCompatibilityGroups": True}}
    field = "spec.devices[0].consumesCounters[0].compatibilityGroups"
    assert ("DRA110", field, "3 compatibility groups; at most 2 are allowed") in found(grouped("a", "b", "c"), **on)
    assert not [one for one in found(grouped("a", "b"), **on) if one[1] == field]


NEW = {
    "spec.skipNodeOperations": (piece("s", skipNodeOperations=["*"]), "DRAOptionalNodeOperations"),
    "spec.partitionTypeAttribute": (
        piece("s", partitionTypeAttribute=f"{DRIVER}/p"),
        "DRAPartitionableDevicesType",
    ),
    "spec.devices[0].nodeAllocatableResources": (
        piece("s", device(nodeAllocatableResources={"cpu": {"overhead": {}}})),
        "DRANodeAllocatableResources",
    ),
    "spec.devices[0].consumesCounters[0].compatibilityGroups": (grouped("a"), "DRADeviceCompatibilityGroups"),
    "spec.devices.requests[0].exactly.derivedAttributes": (
        claim(request(derivedAttributes=[{"name": "a", "expression": "1"}])),
        "DRADerivedAttributes",
    ),
}


@pytest.mark.parametrize("field", NEW)
def test_fields_of_1_37_are_dropped_without_their_gate_and_before(field: str) -> None:
    obj, gate = NEW[field]
    off = ("DRA152", field, f"Kubernetes 1.37 drops the field because feature gate {gate} is off")
    assert off in found(obj)
    assert ("DRA152", field, "Kubernetes 1.36 does not have the field and drops it") in found(obj, "1.36")
    on = {"DRAResourcePoolStatus": True, gate: True}
    assert not [one for one in found(obj, feature_gates=on) if one[0] in ("DRA002", "DRA152")]


def test_fields_that_went_are_dropped_whatever_the_gate() -> None:
    mapped = piece(
        "s", device(nodeAllocatableResourceMappings={"cpu": {"capacityKey": "c"}}, capacity={"c": {"value": "1"}})
    )
    on = {"DRANodeAllocatableResources": True}
    field = "spec.devices[0].nodeAllocatableResourceMappings"
    assert ("DRA152", field, "Kubernetes 1.37 does not have the field and drops it") in found(mapped, feature_gates=on)
    assert not [one for one in found(mapped, "1.36", feature_gates=on) if one[0] == "DRA152"]


def rule(version: str, conditions: int = 0) -> Data:
    one = {"type": "T", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-08-26T00:00:00Z"}
    status = {"conditions": [{**one, "type": f"T{number}"} for number in range(conditions)]} if conditions else None
    return taint_rule("r", version=f"resource.k8s.io/{version}", driver=DRIVER, status=status)


def test_taint_rules_are_served_as_v1() -> None:
    assert found(rule("v1")) == []
    assert [one[0] for one in found(rule("v1beta2"))] == ["DRA010"]
    assert "DRA011" in [one[0] for one in found(rule("v1"), "1.36")]
    assert found(rule("v1", conditions=8)) == []
    assert [one[0] for one in found(rule("v1", conditions=9))] == ["DRA110"]


def test_unfit_taint_rules_of_v1_are_told_by_their_schema() -> None:
    wrong = rule("v1")
    wrong["spec"]["taint"] = []
    assert [one[0] for one in found(wrong)] == ["DRA001"]


@pytest.mark.parametrize(("version", "release"), [("1.34", "1.34.9"), ("1.35", "1.35.6"), ("1.37", "1.37.0")])
def test_whose_rules_judge_is_said(version: str, release: str) -> None:
    [warning] = validate(claim(), kubernetes_version=version).to_dict()["warnings"]
    assert warning["code"] == "rules-of-another-release"
    assert warning["message"].startswith(f"the API server of {release} was not recorded: ")
    assert validate(claim(), kubernetes_version="1.36").to_dict()["warnings"] == []


@pytest.mark.parametrize(
    ("release", "group", "code"),
    [
        ("1.37", "v1beta1", None),
        ("1.37", "v1alpha3", None),
        ("1.37", "v1alpha2", "DRA011"),
        ("1.36", "v1alpha2", None),
        ("1.36", "v1beta1", "DRA011"),
        ("1.34", "v1alpha2", "DRA011"),
    ],
)
def test_pod_groups_are_served_as_v1beta1(release: str, group: str, code: str | None) -> None:
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    made = {"apiVersion": f"scheduling.k8s.io/{group}", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "n"}}
    assert [one[0] for one in found({**made, "spec": spec}, release)] == ([code] if code else [])
