"""All findings come in one run: a field of the wrong type hides nothing but what follows from it."""

from typing import Any

import pytest

import dra_plan

from .objects import Data, claim, device, device_class, piece, pod, pool, request, selecting, template


def told(*objects: Data, **options: Any) -> list[str]:
    findings = dra_plan.validate(objects, ignore=["DRA012", "DRA203"], **options).findings
    return [f"{finding.code} {finding.field}" for finding in findings]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (
            [claim(request(count="2", selectors=selecting("device.nothing")))],
            [
                "DRA001 spec.devices.requests[0].exactly.count",
                "DRA121 spec.devices.requests[0].exactly.selectors[0].cel.expression",
            ],
        ),
        (
            [device_class(), claim(request(count="two")), claim(request(deviceClassName="gpus"), name="b")],
            [
                "DRA001 spec.devices.requests[0].exactly.count",
                "DRA201 spec.devices.requests[0].exactly.deviceClassName",
            ],
        ),
        # What is wrong is there all the same, for those who name it.
        ([device_class(config="x"), claim(request())], ["DRA001 spec.config"]),
        ([template(request(count=[])), pod({"name": "gpu"})], ["DRA001 spec.spec.devices.requests[0].exactly.count"]),
        (
            [claim(request(5), constraints=[{"requests": ["5"], "matchAttribute": "a/b"}])],
            ["DRA001 spec.devices.requests[0].name"],
        ),
        # No device of the input is known to lack what is asked for, where a slice can't be read.
        (
            [
                piece("node-a-gpu", device(capacity="much")),
                piece("node-b-gpu", pool=pool("node-b"), nodeName="node-b"),
                device_class(),
                claim(request(count=2)),
            ],
            ["DRA001 spec.devices[0].capacity"],
        ),
        # Here it is plain what was meant, and there is too little of it.
        (
            [
                piece("node-a-gpu", device(capacity={"memory": "40Gi"})),
                device_class(),
                claim(request(capacity={"requests": {"memory": "80Gi"}})),
            ],
            [
                "DRA001 spec.devices[0].capacity.memory",
                "DRA230 spec.devices.requests[0].exactly.capacity.requests.memory",
            ],
        ),
        (
            [piece("node-a-gpu", device(), device(7), nodeName="A_")],
            ["DRA101 spec.nodeName", "DRA001 spec.devices[1].name"],
        ),
    ],
)
def test_nothing_else_is_hidden(objects: list[Data], expected: list[str]) -> None:
    assert sorted(told(*objects)) == sorted(expected)


def suggested(*objects: Data) -> list[str]:
    findings = dra_plan.validate(objects, ignore=["DRA012", "DRA203"]).findings
    return [f"{finding.code} {finding.suggestion}" for finding in findings]


def test_amounts_are_compared_with_compare_to() -> None:
    whole = 'device.capacity["gpu.example.com"].memory >= quantity("64Gi")'
    mended = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("64Gi")) >= 0'
    assert suggested(device_class("gpu", whole)) == [f"DRA121 {mended}"]
    assert suggested(device_class("gpu", f"{whole} && device.nothing")) == ["DRA121 "]
    number = 'device.capacity["gpu.example.com"].memory >= '
    for written, amount in (("17179869184", "16Gi"), ("1000", "1000"), ("1.5", "1.5")):
        mended = f'device.capacity["gpu.example.com"].memory.compareTo(quantity("{amount}")) >= 0'
        [one] = dra_plan.validate([device_class("gpu", number + written)]).findings
        assert (one.code, one.suggestion) == ("DRA121", mended)
        said = f'amounts cannot be compared with operators such as >=: use compareTo(quantity("{amount}")); '
        assert one.message.startswith(said)
    version = device(attributes={"v": {"version": "1.2.3"}})
    text = 'device.attributes["gpu.example.com"].v >= "1.0.0"'
    mended = 'device.attributes["gpu.example.com"].v.compareTo(semver("1.0.0")) >= 0'
    assert suggested(piece("node-a-gpu", version), device_class("gpu", text)) == [f"DRA220 {mended}"]


def test_a_bare_amount_is_wrapped() -> None:
    assert suggested(piece("node-a-gpu", device(capacity={"memory": "80Gi"}))) == ["DRA001 {value: 80Gi}"]


def test_flat_requests_are_judged_as_if_they_were_right() -> None:
    flat = {"name": "a", "deviceClassName": "B_", "count": "2", "selectors": selecting("device.nothing")}
    assert sorted(told(claim(flat, constraints=[{"requests": ["b"], "matchAttribute": "a/b"}]))) == [
        "DRA001 spec.devices.requests[0].count",
        "DRA014 spec.devices.requests[0]",
        "DRA101 spec.devices.requests[0].deviceClassName",
        "DRA121 spec.devices.requests[0].selectors[0].cel.expression",
        "DRA143 spec.devices.constraints[0].requests[0]",
    ]


def test_a_selector_that_fails_hides_none_of_the_next() -> None:
    gpu = 'device.attributes["gpu.example.com"]'
    bad = [f"{gpu}.model > 5", "device.nothing", 'device.attributes["gpu.exampel.com"].model == "a100"']
    codes = [text.split()[0] for text in told(piece(), device_class(), claim(request(selectors=selecting(*bad))))]
    assert sorted(codes) == ["DRA121", "DRA220", "DRA220"]


def test_a_claim_that_no_container_uses() -> None:
    field = "DRA208 spec.resourceClaims[0].name"
    assert told(template(), pod()) == [field]
    assert told(template(), pod({"name": "gpu"})) == []


def test_what_is_missing_as_its_gate_is_off_is_told_so() -> None:
    lists = piece("node-a-gpu", device(attributes={"roots": {"strings": ["a", "b"]}}))
    [problem, dropped] = dra_plan.validate(lists).findings
    assert (problem.code, problem.field) == ("DRA134", "spec.devices[0].attributes.roots")
    why = "because feature gate DRAListTypeAttributes is off"
    assert problem.message.endswith(f"(Kubernetes 1.36 drops strings {why})")
    assert dropped.code == "DRA152"
    first = claim({"name": "a", "firstAvailable": [{"name": "b", "deviceClassName": "c"}]})
    found = dra_plan.validate(first, feature_gates={"DRAPrioritizedList": False}, select=["DRA141"]).findings
    assert ["Kubernetes 1.36 drops firstAvailable" in finding.message for finding in found] == [True]
