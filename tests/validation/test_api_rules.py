"""The API server's rules at their edges: what is still accepted, and what no longer is, with the field."""

from typing import Any

import pytest

import dra_plan

from .objects import (
    DRIVER,
    Data,
    allocated,
    claim,
    counters,
    device,
    device_class,
    piece,
    pod,
    pool,
    request,
    selecting,
    shared,
    taint_rule,
    template,
)

OLD = {"kubernetes_version": "1.34", "feature_gates": {"DRAPartitionableDevices": True, "DRADeviceTaints": True}}


def found(*objects: Data, **options: Any) -> list[str]:
    """Code and field of every finding of the API rules."""
    findings = dra_plan.validate(objects, select=["DRA1"], **options).findings
    return [f"{finding.code} {finding.field}" for finding in findings]


def of_device(**fields: Any) -> Data:
    return piece("node-a-gpu", device(**fields))


def attributes(number: int) -> Data:
    return {f"a{index}": {"int": index} for index in range(number)}


def term(**fields: Any) -> Data:
    return {"nodeSelectorTerms": [fields]}


def expression(operator: str, *values: str) -> Data:
    return {"key": "zone", "operator": operator, **({"values": list(values)} if values else {})}


def policy(**fields: Any) -> Data:
    return piece("node-a-gpu", shared(policy=fields))


def constraint(**fields: Any) -> Data:
    return claim(request("a"), request("b"), constraints=[fields])


UNUSED_STEP = "DRA156 spec.devices[0].capacity.memory.requestPolicy.validRange.step"
POLICY = "DRA135 spec.devices[0].capacity.memory.requestPolicy"
SELECTOR = "DRA131 spec.nodeSelector.nodeSelectorTerms"
A_REQUEST = "spec.devices.requests[0]"

ACCEPTED: list[Data] = [
    piece("s", device("a" * 63)),
    piece(driver="a." * 30 + "abc"),
    piece(pool=pool("a/b.c/d-e")),
    piece("s", *(device(f"d{number}") for number in range(128))),
    piece("s", *(device(f"d{number}", taints=[]) for number in range(128))),
    of_device(attributes=attributes(32)),
    of_device(attributes={"resource.kubernetes.io/pcieRoot": {"string": "x"}, "_x": {"int": 1}}),
    of_device(attributes={"v": {"version": "1.2.3-rc.1+build"}}),
    of_device(taints=[{"key": f"k{n}", "effect": "None"} for n in range(16)]),
    piece(nodeName=None, perDeviceNodeSelection=True, devices=[device(nodeName="a"), device("b", allNodes=True)]),
    piece(nodeName=None, nodeSelector=term(matchExpressions=[expression("Exists")])),
    piece(nodeName=None, nodeSelector=term(matchExpressions=[expression("Gt", "4")])),
    piece(
        nodeName=None,
        nodeSelector=term(matchFields=[{"key": "metadata.name", "operator": "In", "values": ["a"]}]),
    ),
    policy(default="1Gi"),
    policy(default="1Gi", validRange={"min": "1Gi"}),
    policy(default="4Gi", validRange={"min": "1Gi", "max": "16Gi", "step": "3Gi"}),
    policy(default="1Gi", validValues=[f"{number}Gi" for number in range(1, 11)]),
    claim(request("a", selectors=selecting(*["true"] * 32))),
    claim({"name": "a", "firstAvailable": [{"name": f"s{n}", "deviceClassName": "gpu"} for n in range(8)]}),
    claim(request("a"), {"name": "b", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}),
    constraint(matchAttribute=f"{DRIVER}/model", requests=["a", "b"]),
    constraint(distinctAttribute=f"{DRIVER}/model"),
    claim(request("a", tolerations=[{"operator": "Exists"}, {"key": "k", "value": "v", "effect": "NoExecute"}])),
    claim(
        {"name": "a", "firstAvailable": [{"name": "b", "deviceClassName": "gpu"}]},
        config=[{"requests": ["a/b", "a"], "opaque": {"driver": DRIVER, "parameters": {}}}],
    ),
    device_class(extendedResourceName="kubernetes.io.example.com/gpu"),
    counters(count=1),
    taint_rule(),
    pod(entry={"name": "gpu", "resourceClaimName": "claim"}),
    claim(request(tolerations=[{"operator": "Exists", "effect": "None"}])),
    claim(request(tolerations=[{"key": f"k{n}", "operator": "Exists"} for n in range(17)])),
    policy(default="1Gi", validValues=[]),
    policy(default="1Gi", validValues=[], validRange={"min": "1Gi"}),
    policy(validValues=[]),
]

ONLY_UNWISE: list[tuple[Data, list[str]]] = [
    (policy(default="17Gi"), ["DRA156 spec.devices[0].capacity.memory.requestPolicy.default"]),
    (
        policy(default="17Gi", validRange={"min": "1Gi"}),
        ["DRA156 spec.devices[0].capacity.memory.requestPolicy.default"],
    ),
    (policy(default="1Gi", validRange={"min": "1Gi", "step": "-1"}), [UNUSED_STEP]),
    (constraint(matchAttribute="a/b/c"), ["DRA153 spec.devices.constraints[0].matchAttribute"]),
    (of_device(capacity={"a/b/c": {"value": "1"}}), ["DRA153 spec.devices[0].capacity[a/b/c]"]),
    (
        claim(request(capacity={"requests": {"test-capacity": "-1"}})),
        [f"{code} spec.devices.requests[0].exactly.capacity.requests.test-capacity" for code in ("DRA146", "DRA153")],
    ),
    (
        of_device(attributes={"v": {"version": "1.0.18446744073709551616"}}),
        ["DRA155 spec.devices[0].attributes.v.version"],
    ),
]
"""What the API server takes, with what is told of it."""

REFUSED: list[tuple[Data, list[str]]] = [
    (piece("s", device("a" * 64)), ["DRA101 spec.devices[0].name"]),
    (piece("s", device("a.b")), ["DRA101 spec.devices[0].name"]),
    (piece("s", device("-a")), ["DRA101 spec.devices[0].name"]),
    (piece(driver="a." * 31 + "ab"), ["DRA101 spec.driver"]),
    (piece(pool=pool("a//b")), ["DRA101 spec.pool.name"]),
    (piece(pool=pool("a/B")), ["DRA101 spec.pool.name"]),
    (piece("A"), ["DRA101 metadata.name"]),
    (piece("s", *(device(f"d{n}") for n in range(129))), ["DRA110 spec.devices"]),
    (
        piece("s", *(device(f"d{n}", taints=[{"key": "k", "effect": "None"}]) for n in range(65))),
        ["DRA110 spec.devices"],
    ),
    (piece("s", device("a"), device("a")), ["DRA104 spec.devices[1].name"]),
    (of_device(attributes=attributes(33)), ["DRA110 spec.devices[0].attributes"]),
    (
        of_device(attributes=attributes(20), capacity={f"c{n}": {"value": "1"} for n in range(13)}),
        ["DRA110 spec.devices[0].attributes"],
    ),
    (of_device(attributes={"1a": {"int": 1}}), ["DRA102 spec.devices[0].attributes[1a]"]),
    (of_device(capacity={"a-b": {"value": "1"}}), ["DRA102 spec.devices[0].capacity.a-b"]),
    (of_device(attributes={"v": {"version": "1.2"}}), ["DRA139 spec.devices[0].attributes.v.version"]),
    (of_device(attributes={"v": {"version": "01.2.3"}}), ["DRA139 spec.devices[0].attributes.v.version"]),
    (
        of_device(attributes={"s": {"string": "é" * 33}}),
        ["DRA111 spec.devices[0].attributes.s.string"],
    ),
    (of_device(taints=[{"key": f"k{n}", "effect": "None"} for n in range(17)]), ["DRA110 spec.devices[0].taints"]),
    (of_device(nodeName="a"), ["DRA130 spec.devices[0].nodeName"]),
    (piece(nodeName=None), ["DRA130 spec"]),
    (piece(nodeName=""), ["DRA130 spec.nodeName"]),
    (piece(nodeName=None, allNodes=False), ["DRA130 spec.allNodes"]),
    (piece(nodeName=None, perDeviceNodeSelection=True), ["DRA130 spec.devices[0]"]),
    (
        piece(nodeName=None, perDeviceNodeSelection=True, devices=[device(nodeName="a", allNodes=True)]),
        ["DRA130 spec.devices[0].allNodes"],
    ),
    (piece(nodeName=None, nodeSelector={"nodeSelectorTerms": []}), [SELECTOR]),
    (
        piece(nodeName=None, nodeSelector=term(matchExpressions=[expression("Is", "a")])),
        [f"{SELECTOR}[0].matchExpressions[0].operator"],
    ),
    (
        piece(nodeName=None, nodeSelector=term(matchExpressions=[expression("In")])),
        [f"{SELECTOR}[0].matchExpressions[0].values"],
    ),
    (piece(sharedCounters=[{"name": "c", "counters": {"a": {"value": "1"}}}]), ["DRA132 spec.sharedCounters"]),
    (
        piece(
            devices=None,
            sharedCounters=[{"name": f"c{n}", "counters": {"a": {"value": "1"}}} for n in range(9)],
        ),
        ["DRA110 spec.sharedCounters"],
    ),
    (
        piece(devices=None, sharedCounters=[{"name": "c", "counters": {f"a{n}": {"value": "1"} for n in range(33)}}]),
        ["DRA110 spec.sharedCounters[0].counters"],
    ),
    (
        piece(devices=None, sharedCounters=[{"name": "c", "counters": {"a": {"value": "1"}}}] * 2),
        ["DRA104 spec.sharedCounters[1].name"],
    ),
    (
        of_device(consumesCounters=[{"counterSet": f"c{n}", "counters": {"a": {"value": "1"}}} for n in range(3)]),
        ["DRA110 spec.devices[0].consumesCounters"],
    ),
    (
        of_device(consumesCounters=[{"counterSet": "c", "counters": {"a": {"value": "1"}}}] * 2),
        ["DRA104 spec.devices[0].consumesCounters[1].counterSet"],
    ),
    (
        of_device(bindingConditions=["a", "a"], bindingFailureConditions=["a"]),
        ["DRA136 spec.devices[0].bindingConditions[1]", "DRA136 spec.devices[0].bindingFailureConditions[0]"],
    ),
    (
        of_device(bindingConditions=list("abcde"), bindingFailureConditions=["f"]),
        ["DRA110 spec.devices[0].bindingConditions"],
    ),
    (
        of_device(capacity={"memory": {"value": "1", "requestPolicy": {"default": "1"}}}),
        [POLICY],
    ),
    (policy(validValues=["1Gi"]), [f"{POLICY}.default"]),
    (policy(default="1Gi", validValues=["1Gi", "1024Mi"]), [f"{POLICY}.validValues[1]"]),
    (policy(default="1Gi", validValues=["1Gi", "17Gi"]), [f"{POLICY}.validValues[1]"]),
    (policy(default="1Gi", validValues=[f"{n}Gi" for n in range(1, 12)]), ["DRA110" + POLICY[6:] + ".validValues"]),
    (policy(default="1Gi", validRange={"max": "2Gi"}), [f"{POLICY}.validRange.min"]),
    (policy(default="1Gi", validRange={"min": "2Gi"}), [f"{POLICY}.validRange.min"]),
    (policy(default="2Gi", validRange={"min": "1Gi", "step": "2Gi"}), [f"{POLICY}.validRange.step"]),
    (claim(request("A")), [f"DRA101 {A_REQUEST}.name"]),
    (claim(request(deviceClassName="A")), [f"DRA101 {A_REQUEST}.exactly.deviceClassName"]),
    (claim(request(selectors=selecting(*["true"] * 33))), [f"DRA110 {A_REQUEST}.exactly.selectors"]),
    (claim(request(selectors=selecting("1"))), [f"DRA121 {A_REQUEST}.exactly.selectors[0].cel.expression"]),
    (
        claim(request(selectors=selecting("true" + " " * 10240))),
        [f"DRA121 {A_REQUEST}.exactly.selectors[0].cel.expression"],
    ),
    (
        claim({"name": "a", "firstAvailable": [{"name": f"s{n}", "deviceClassName": "gpu"} for n in range(9)]}),
        [f"DRA110 {A_REQUEST}.firstAvailable"],
    ),
    (
        claim({"name": "a", "firstAvailable": [{"name": "s", "deviceClassName": "gpu"}] * 2}),
        [f"DRA104 {A_REQUEST}.firstAvailable[1].name"],
    ),
    (claim({"name": "a", "firstAvailable": []}), [f"DRA141 {A_REQUEST}"]),
    (constraint(distinctAttribute="model"), ["DRA103 spec.devices.constraints[0].distinctAttribute"]),
    (
        constraint(matchAttribute=f"{DRIVER}/model", requests=["a/x"]),
        ["DRA143 spec.devices.constraints[0].requests[0]"],
    ),
    (
        claim(config=[{"requests": ["x"], "opaque": {"driver": DRIVER, "parameters": {}}}]),
        ["DRA143 spec.devices.config[0].requests[0]"],
    ),
    (
        claim(config=[{"opaque": {"driver": "a b", "parameters": {}}}]),
        ["DRA101 spec.devices.config[0].opaque.driver"],
    ),
    (
        claim(config=[{"opaque": {"driver": DRIVER, "parameters": {"x": "y" * 10240}}}]),
        ["DRA111 spec.devices.config[0].opaque.parameters"],
    ),
    (claim(constraints=[{"matchAttribute": "a.b/c"}] * 33), ["DRA110 spec.devices.constraints"]),
    (
        claim(request(tolerations=[{"key": "a b", "operator": "Exists"}])),
        [f"DRA105 {A_REQUEST}.exactly.tolerations[0].key"],
    ),
    (
        claim(status=allocated(devices=[{"driver": DRIVER, "pool": "node-a", "device": "gpu-1"}])),
        ["DRA145 status.devices[0]"],
    ),
    (
        claim(
            status=allocated(reservedFor=[{"resource": "pods", "name": name, "uid": "u"} for name in ("a", "b")]),
        ),
        ["DRA104 status.reservedFor[1].uid"],
    ),
    (claim(request("other"), status=allocated()), ["DRA143 status.allocation.devices.results[0].request"]),
    (template(request(count=-1)), ["DRA142 spec.spec.devices.requests[0].exactly.count"]),
    (device_class("gpu", "device"), ["DRA121 spec.selectors[0].cel.expression"]),
    (device_class(extendedResourceName="gpu"), ["DRA148 spec.extendedResourceName"]),
    (device_class(extendedResourceName="requests.example.com/gpu"), ["DRA148 spec.extendedResourceName"]),
    (device_class(config=[{}]), ["DRA147 spec.config[0].opaque"]),
    (
        pod(entry={"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}),
        ["DRA149 spec.resourceClaims[0].resourceClaimTemplateName"],
    ),
    (pod({"name": "gpu"}, {"name": "gpu"}), ["DRA104 spec.containers[0].resources.claims[1]"]),
]


@pytest.mark.parametrize("obj", ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted(obj: Data) -> None:
    assert found(obj) == []


@pytest.mark.parametrize(("obj", "fields"), ONLY_UNWISE, ids=range(len(ONLY_UNWISE)))
def test_accepted_with_a_warning(obj: Data, fields: list[str]) -> None:
    assert found(obj) == fields
    refusers = {finding.rule.refused_by for finding in dra_plan.validate(obj, select=["DRA1"]).findings}
    assert "APIServer" not in refusers


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("ResourceClaim", None),
        ("ResourceClaim", {}),
        ("ResourceClaimTemplate", None),
        ("ResourceClaimTemplate", {"spec": {}}),
        ("DeviceClass", None),
    ],
)
def test_what_may_be_left_out(kind: str, spec: Data | None) -> None:
    obj = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "a"}}
    findings = dra_plan.validate({**obj, **({"spec": spec} if spec is not None else {})}).findings
    assert [finding.code for finding in findings] == ["DRA012"]


def test_alternatives_in_the_flat_form() -> None:
    made = claim({"name": "a", "firstAvailable": [{"name": "b", "deviceClassName": "gpu"}]})
    made["apiVersion"] = "resource.k8s.io/v1beta1"
    assert [finding.code for finding in dra_plan.validate([device_class(), made]).findings] == ["DRA010"]


@pytest.mark.parametrize(("obj", "fields"), REFUSED, ids=range(len(REFUSED)))
def test_refused(obj: Data, fields: list[str]) -> None:
    assert found(obj) == fields


def test_what_an_older_release_allows_and_forbids() -> None:
    together = piece(sharedCounters=[{"name": "c", "counters": {"a": {"value": "1"}}}])
    assert found(together, **OLD) == []
    many = of_device(taints=[{"key": f"k{n}", "effect": "NoExecute"} for n in range(5)])
    assert found(many, **OLD) == ["DRA110 spec.devices[0].taints"]
    counted = [{"name": f"c{n}", "counters": {f"a{i}": {"value": "1"} for i in range(20)}} for n in range(2)]
    assert found(piece(sharedCounters=counted), **OLD) == ["DRA110 spec.sharedCounters"]


SHARED = "spec.devices[0].allowMultipleAllocations"
ALTERNATIVES = claim({"name": "a", "firstAvailable": [{"name": "b", "deviceClassName": "gpu"}]})
REQUEST = "spec.devices.requests[0]"


@pytest.mark.parametrize(
    ("gate", "obj", "told"),
    [
        ("DRAPartitionableDevices", counters(count=1), ["DRA140 spec", "DRA152 spec.sharedCounters"]),
        ("DRADeviceTaints", of_device(taints=[{"key": "k", "effect": "None"}]), ["DRA152 spec.devices[0].taints"]),
        ("DRADeviceBindingConditions", of_device(bindsToNode=True), ["DRA152 spec.devices[0].bindsToNode"]),
        ("DRAConsumableCapacity", piece("s", shared()), [f"DRA152 {SHARED}"]),
        ("DRAExtendedResource", device_class(extendedResourceName="a.b/c"), ["DRA152 spec.extendedResourceName"]),
        ("DRAPrioritizedList", ALTERNATIVES, [f"DRA141 {REQUEST}", f"DRA152 {REQUEST}.firstAvailable"]),
        ("DRAAdminAccess", claim(request(adminAccess=True)), [f"DRA152 {REQUEST}.exactly.adminAccess"]),
    ],
)
def test_fields_that_a_gate_drops(gate: str, obj: Data, told: list[str]) -> None:
    assert found(obj) == []
    assert found(obj, feature_gates={gate: False}) == told


@pytest.mark.parametrize(
    ("gate", "obj"),
    [
        ("DRADeviceTaints", of_device(taints=[{"key": "k", "effect": "Foo"}])),
        ("DRAConsumableCapacity", policy(default="1Gi", validValues=["2Gi", "1Gi"])),
        ("DRADeviceBindingConditions", of_device(bindingConditions=["a", "b", "c", "d", "e"])),
        ("DRAPartitionableDevices", piece(sharedCounters=[{"name": "c", "counters": {"a": {"value": "1"}}}])),
        ("DRAPartitionableDevices", of_device(nodeName="node-a")),
    ],
)
def test_what_a_gate_drops_is_not_judged(gate: str, obj: Data) -> None:
    assert [told.partition(" ")[0] for told in found(obj, feature_gates={gate: False})] == ["DRA152"]
    assert "DRA152" not in {told.partition(" ")[0] for told in found(obj)}


def test_what_a_gate_drops_is_missed_where_it_is_needed() -> None:
    lists = of_device(attributes={"links": {"ints": [1, 2]}})
    path = "spec.devices[0].attributes.links"
    assert found(lists) == [f"DRA134 {path}", f"DRA152 {path}.ints"]
    assert found(lists, feature_gates={"DRAListTypeAttributes": True}) == []


def test_attributes_and_capacities_count_together() -> None:
    named = attributes(20), {f"c{number}": {"value": "1"} for number in range(13)}
    [finding] = dra_plan.validate([of_device(attributes=named[0], capacity=named[1])]).findings
    assert finding.message == "33 attribute and capacity names; at most 32 are allowed"
