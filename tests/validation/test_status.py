"""The status of claims and taint rules, as the API server judges what components write."""

from typing import Any

import pytest

import dra_plan

from .objects import DRIVER, Data, claim, taint_rule

SHARE = "0b1a5e9e-6a8f-4c7c-9d7c-3a52b58a3c11"
CONDITION = {"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": "2026-01-01T00:00:00Z"}
DEVICE = {"driver": DRIVER, "pool": "node-a", "device": "gpu-0"}
RESULTS = "status.allocation.devices.results[0]"
ALLOCATION = "status.allocation"


def told(obj: Data, **options: Any) -> list[str]:
    findings = dra_plan.validate(obj, ignore=["DRA010", "DRA012", "DRA2"], **options).findings
    return [f"{finding.code} {finding.field}" for finding in findings]


def status(result: Data | None = None, config: list[Data] | None = None, **fields: Any) -> Data:
    """A claim with one allocated device; `fields` are those of the status, `selector` that of the allocation."""
    results = [{"request": "gpu", **DEVICE, **(result or {})}]
    allocation: Data = {"devices": {"results": results, **({"config": config} if config else {})}}
    if (selector := fields.pop("selector", None)) is not None:
        allocation["nodeSelector"] = {"nodeSelectorTerms": selector}
    return claim(status={"allocation": allocation, **fields})


def reported(**fields: Any) -> Data:
    return status(devices=[{**DEVICE, **fields}])


def opaque(**fields: Any) -> Data:
    return {"source": "FromClaim", "opaque": {"driver": DRIVER, "parameters": {}}, **fields}


@pytest.mark.parametrize(
    ("obj", "fields"),
    [
        (status(), []),
        (status({"driver": "A_B"}), [f"DRA101 {RESULTS}.driver"]),
        (status({"pool": "A_B"}), [f"DRA101 {RESULTS}.pool"]),
        (status({"device": "a.b"}), [f"DRA101 {RESULTS}.device"]),
        (status({"request": "other"}), [f"DRA143 {RESULTS}.request"]),
        (status({"shareID": SHARE}), []),
        (status({"shareID": SHARE.upper()}), [f"DRA159 {RESULTS}.shareID"]),
        (status({"bindingConditions": ["a"]}), [f"DRA136 {RESULTS}.bindingFailureConditions"]),
        (status(config=[opaque()]), []),
        (status(config=[opaque(source="Elsewhere")]), [f"DRA159 {ALLOCATION}.devices.config[0].source"]),
        (status(config=[opaque(source="")]), [f"DRA003 {ALLOCATION}.devices.config[0].source"]),
        (status(config=[opaque(requests=["x"])]), [f"DRA143 {ALLOCATION}.devices.config[0].requests[0]"]),
        (status(config=[{"source": "FromClass"}]), [f"DRA147 {ALLOCATION}.devices.config[0].opaque"]),
        (status(selector=[]), [f"DRA003 {ALLOCATION}.nodeSelector.nodeSelectorTerms"]),
        (status(selector=[{}, {}]), []),
        (
            status(selector=[{"matchFields": [{"key": "x", "operator": "In", "values": ["n"]}]}]),
            [f"DRA131 {ALLOCATION}.nodeSelector.nodeSelectorTerms[0].matchFields[0].key"],
        ),
        (status(reservedFor=[{"resource": "pods", "name": "a", "uid": "u"}]), []),
        (
            status(reservedFor=[{"resource": "", "name": "", "uid": "u"}]),
            ["DRA003 status.reservedFor[0].resource", "DRA003 status.reservedFor[0].name"],
        ),
        (status(devices=[DEVICE, DEVICE]), ["DRA104 status.devices[1]"]),
        (reported(conditions=[CONDITION]), []),
        (reported(conditions=[CONDITION, CONDITION]), ["DRA104 status.devices[0].conditions[1].type"]),
        (reported(conditions=[{**CONDITION, "status": "Yes"}]), ["DRA158 status.devices[0].conditions[0].status"]),
        (reported(conditions=[{**CONDITION, "reason": "1 a"}]), ["DRA158 status.devices[0].conditions[0].reason"]),
        (reported(conditions=[{**CONDITION, "type": "/"}]), ["DRA105 status.devices[0].conditions[0].type"]),
        (
            reported(conditions=[{**CONDITION, "observedGeneration": -1}]),
            ["DRA158 status.devices[0].conditions[0].observedGeneration"],
        ),
        (
            reported(conditions=[{**CONDITION, "type": f"T{n}"} for n in range(9)]),
            ["DRA110 status.devices[0].conditions"],
        ),
        (reported(data={"a": "x" * (10240 - len('{"a":""}'))}), []),
        (reported(data={"a": "x" * (10241 - len('{"a":""}'))}), ["DRA111 status.devices[0].data"]),
        (reported(networkData={"ips": ["10.9.8.7/24", "2001:db8::1/64"]}), []),
        (reported(networkData={"ips": ["::ffff:102:304/120"]}), ["DRA159 status.devices[0].networkData.ips[0]"]),
        (reported(networkData={"ips": ["10.9.8.7"]}), ["DRA159 status.devices[0].networkData.ips[0]"]),
        (reported(networkData={"ips": ["2001:DB8::1/64"]}), ["DRA159 status.devices[0].networkData.ips[0]"]),
        (reported(networkData={"ips": ["10.9.8.7/24"] * 2}), ["DRA104 status.devices[0].networkData.ips[1]"]),
        (
            reported(networkData={"ips": [f"10.0.0.{n}/24" for n in range(17)]}),
            ["DRA110 status.devices[0].networkData.ips"],
        ),
        (reported(data=[]), ["DRA001 status.devices[0].data"]),
        (reported(networkData={"interfaceName": "x" * 257}), ["DRA111 status.devices[0].networkData.interfaceName"]),
        (
            reported(networkData={"hardwareAddress": "x" * 129}),
            ["DRA111 status.devices[0].networkData.hardwareAddress"],
        ),
        ({**taint_rule(), "status": {"conditions": [CONDITION]}}, []),
        (
            {**taint_rule(), "status": {"conditions": [{**CONDITION, "reason": ""}]}},
            ["DRA003 status.conditions[0].reason"],
        ),
    ],
)
def test_status(obj: Data, fields: list[str]) -> None:
    assert told(obj) == fields


def test_binding_conditions_are_dropped_with_their_gate() -> None:
    obj = status({"bindingConditions": ["a"] * 5})
    assert told(obj, feature_gates={"DRADeviceBindingConditions": False}) == [f"DRA152 {RESULTS}.bindingConditions"]


def test_shares_without_their_gate_are_dropped() -> None:
    off = {"DRAConsumableCapacity": False}
    assert told(status({"shareID": "x"}), feature_gates=off) == [f"DRA152 {RESULTS}.shareID"]
    shared = status({"shareID": SHARE}, devices=[{**DEVICE, "shareID": SHARE}])
    assert told(shared, feature_gates=off) == [f"DRA152 {RESULTS}.shareID"]
    twice = status({"shareID": SHARE}, devices=[DEVICE, {**DEVICE, "shareID": SHARE}])
    assert "DRA104 status.devices[1]" in told(twice, feature_gates=off)


def test_texts_that_are_no_unicode() -> None:
    assert (
        told(reported(conditions=[{**CONDITION, "type": "\ud800"}]))[-1]
        == "DRA105 status.devices[0].conditions[0].type"
    )
