"""For every rule, input that breaks it and input next to it that does not."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .objects import (
    DRIVER,
    Data,
    allocated,
    claim,
    counted,
    counters,
    device,
    device_class,
    namespace,
    piece,
    pod,
    pool,
    request,
    selecting,
    shared,
    taint_rule,
    template,
)

LISTS = {"DRAListTypeAttributes": True}
RULES_ON = {"DRADeviceTaintRules": True}
ADMIN = "resource.kubernetes.io/admin-access"
NODE_B: Data = {"pool": pool("node-b"), "nodeName": "node-b"}
NODE_C: Data = {"pool": pool("node-c"), "nodeName": "node-c"}
GPU_0: Data = {"driver": DRIVER, "pool": "node-a", "device": "gpu-0"}
CONDITION: Data = {"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": "2026-01-01T00:00:00Z"}
GPU = f'device.attributes["{DRIVER}"]'


class Case(NamedTuple):
    """A code, input that breaks its rule, and input that does not; in both all else is correct."""

    code: str
    bad: list[Data]
    good: list[Data]
    version: str = "1.36"
    gates: Mapping[str, bool] = MappingProxyType({})


def _changed(value: Data, *path: str | int, to: Any) -> Data:
    """A copy with another value at the path; None removes it."""
    head, *rest = path
    inner: Any = value
    made: Any = list(inner) if isinstance(inner, list) else dict(inner)
    if rest:
        made[head] = _changed(made[head], *rest, to=to)
    elif to is None:
        del made[head]
    else:
        made[head] = to
    return made


def _selecting_nodes(*requirements: Data) -> Data:
    """A slice whose only device is on the nodes that meet one of the requirements."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]} for requirement in requirements]}
    return piece("node-a-gpu", device(nodeSelector=terms), nodeName=None, perDeviceNodeSelection=True)


def _selected(expression: str) -> list[Data]:
    """A claim with the selector on two devices, of which one has no index."""
    bare = device("gpu-1", attributes={"model": {"string": "t4"}, "driverVersion": {"version": "1.2.3"}})
    return [piece("node-a-gpu", device(), bare), device_class(), claim(request(selectors=selecting(expression)))]


def _cluster(*more: Data) -> list[Data]:
    return [piece(), device_class(), *more]


def _nodes(operator: str, value: str, terms: int = 1) -> Data:
    term = {"matchExpressions": [{"key": "zone", "operator": operator, "values": [value]}]}
    return {"nodeSelectorTerms": [term] * terms}


def alternative(name: str, **fields: Any) -> Data:
    return {"name": name, "deviceClassName": "gpu", **fields}


def _two_drivers(root: Data) -> list[Data]:
    """A GPU and a NIC that a constraint joins."""
    joined = "resource.kubernetes.io/pcieRoot"
    nic = {"name": "nic-0", "attributes": {joined: root}}
    return [
        piece("node-a-gpu", device(attributes={joined: {"string": "pci0000:00"}})),
        piece("node-a-nic", nic, driver="nic.example.com"),
        device_class(),
        device_class("nic", 'device.driver == "nic.example.com"'),
        claim(request(), request("nic", deviceClassName="nic"), constraints=[{"matchAttribute": joined}]),
    ]


CASES = [
    Case("DRA001", [_changed(piece(), "spec", "devices", 0, "attributes", "index", "int", to="0")], [piece()]),
    Case("DRA002", [claim(request(selector=[]))], [claim(request(selectors=[]))]),
    Case("DRA003", [_changed(piece(), "spec", "driver", to=None)], [piece()]),
    Case("DRA004", [piece(version="resource.k8s.io/v2")], [piece()]),
    Case("DRA005", [_changed(piece(), "kind", to=None)], [piece()]),
    Case(
        "DRA006", [_changed(claim(), "metadata", "name", to=None)], [_changed(claim(), "metadata", "name", to="made")]
    ),
    Case("DRA007", [claim(), claim()], [claim(), claim(name="other")]),
    Case(
        "DRA008",
        [piece("node-a-gpu", {"name": "gpu-0", "basic": {"attributes": {"index": {"int": 0}}}})],
        [piece("node-a-gpu", {"name": "gpu-0", "attributes": {"index": {"int": 0}}})],
    ),
    Case(
        "DRA009",
        [template(), pod(entry={"name": "gpu", "source": {"resourceClaimTemplateName": "gpus"}})],
        [template(), pod()],
    ),
    Case("DRA010", [piece(version="resource.k8s.io/v1beta2")], [piece()]),
    Case(
        "DRA011",
        [_changed(device_class(), "apiVersion", to="resource.k8s.io/v1alpha3")],
        [device_class()],
    ),
    Case("DRA012", [_changed(piece(), "spec", "pool", "generation", to=None)], [piece()]),
    Case("DRA014", [claim({"name": "gpu", "deviceClassName": "gpu", "count": 1})], [claim(request(count=1))]),
    Case(
        "DRA101",
        [piece("node-a-gpu", device("GPU_0"), driver="gpu example", pool=pool("node a/0"), nodeName="Node_A")],
        [piece("node-a-gpu", device("gpu-0"), driver="GPU.example.com", pool=pool("node-a/0"), nodeName="node-a")],
    ),
    Case(
        "DRA102",
        [piece("node-a-gpu", device(attributes={"core-count": {"int": 4}, "a/b/c": {"int": 1}, "x" * 33: {"int": 1}}))],
        [piece("node-a-gpu", device(attributes={"coreCount": {"int": 4}, "example.com/c": {"int": 1}}))],
    ),
    Case(
        "DRA103",
        [claim(constraints=[{"matchAttribute": "model"}])],
        [claim(constraints=[{"matchAttribute": f"{DRIVER}/model"}])],
    ),
    Case(
        "DRA104",
        [
            claim(
                request("a"), request("a"), constraints=[{"requests": ["a", "a"], "matchAttribute": f"{DRIVER}/model"}]
            )
        ],
        [
            claim(
                request("a"), request("b"), constraints=[{"requests": ["a", "b"], "matchAttribute": f"{DRIVER}/model"}]
            )
        ],
    ),
    Case(
        "DRA105",
        [piece("node-a-gpu", device(taints=[{"key": "a key", "value": "a value", "effect": "NoExecute"}]))],
        [piece("node-a-gpu", device(taints=[{"key": "example.com/key", "value": "value", "effect": "NoExecute"}]))],
    ),
    Case(
        "DRA110",
        [claim(*(request(f"r{number}") for number in range(33)))],
        [claim(*(request(f"r{number}") for number in range(32)))],
    ),
    Case(
        "DRA111",
        [piece("node-a-gpu", device(attributes={"model": {"string": "x" * 65}}))],
        [piece("node-a-gpu", device(attributes={"model": {"string": "x" * 64}}))],
    ),
    Case("DRA120", [claim(request(selectors=[{}]))], [claim(request(selectors=selecting("true")))]),
    Case(
        "DRA121",
        [claim(request(selectors=selecting("device.attribute == 1")))],
        [claim(request(selectors=selecting(f"{GPU}.index == 1")))],
    ),
    Case(
        "DRA122",
        [device_class("gpu", f"{GPU}.list.split(',').all(x, {GPU}.list.split(',').all(y, x.matches(y)))")],
        [device_class("gpu", f"{GPU}.list.split(',').size() == 2")],
    ),
    Case("DRA130", [piece(allNodes=True)], [piece(nodeName=None, allNodes=True)]),
    Case(
        "DRA131",
        [piece(nodeName=None, nodeSelector=_nodes("In", "a", terms=2))],
        [piece(nodeName=None, nodeSelector=_nodes("In", "a"))],
    ),
    Case(
        "DRA132",
        [piece(sharedCounters=[{"name": "card", "counters": {"slots": {"value": "1"}}}])],
        [counters(count=1)],
    ),
    Case("DRA133", [piece(pool=pool(count=0, generation=-1))], [piece(pool=pool())]),
    Case(
        "DRA134",
        [piece("node-a-gpu", device(attributes={"none": {}, "two": {"int": 1, "bool": True}}))],
        [piece("node-a-gpu", device(attributes={"one": {"int": 1}, "two": {"bool": True}}))],
    ),
    Case(
        "DRA135",
        [
            piece(
                "node-a-gpu",
                shared(policy={"default": "1Gi", "validRange": {"min": "1Gi", "max": "32Gi", "step": "3Gi"}}),
            ),
            piece("node-b-gpu", shared(policy={"default": "2Gi", "validValues": ["4Gi", "1Gi"]}), **NODE_B),
            piece("node-c-gpu", shared(policy={"validValues": ["4Gi"], "validRange": {"min": "1Gi"}}), **NODE_C),
        ],
        [
            piece(
                "node-a-gpu",
                shared(policy={"default": "1Gi", "validRange": {"min": "1Gi", "max": "16Gi", "step": "3Gi"}}),
            ),
            piece("node-b-gpu", shared(policy={"default": "1Gi", "validValues": ["1Gi", "4Gi"]}), **NODE_B),
        ],
    ),
    Case(
        "DRA136",
        [piece("node-a-gpu", device(bindingConditions=["example.com/ready"]))],
        [
            piece(
                "node-a-gpu",
                device(bindingConditions=["example.com/ready"], bindingFailureConditions=["example.com/failed"]),
            )
        ],
    ),
    Case(
        "DRA137",
        [piece("node-a-gpu", device(taints=[{"key": "broken", "effect": "NoScheduling"}]))],
        [piece("node-a-gpu", device(taints=[{"key": "broken", "effect": "NoSchedule"}]))],
    ),
    Case(
        "DRA138",
        [claim(request(tolerations=[{"key": "broken", "operator": "Exists", "value": "yes"}, {"operator": "Is"}]))],
        [claim(request(tolerations=[{"key": "broken", "operator": "Exists"}, {"operator": "Equal"}]))],
    ),
    Case(
        "DRA139",
        [piece("node-a-gpu", device(attributes={"driverVersion": {"version": "v550.54"}}))],
        [piece("node-a-gpu", device(attributes={"driverVersion": {"version": "550.54.0"}}))],
    ),
    Case("DRA140", [piece(devices=None)], [piece()]),
    Case(
        "DRA141",
        [claim({"name": "a"}, request("b", deviceClassName="gpu") | {"firstAvailable": [alternative("c")]})],
        [claim(request("a"), {"name": "b", "firstAvailable": [alternative("c")]})],
    ),
    Case(
        "DRA142",
        [claim(request("a", allocationMode="All", count=2), request("b", count=-1), request("c", allocationMode="Al"))],
        [claim(request("a", allocationMode="All"), request("b", count=1), request("c", allocationMode="ExactCount"))],
    ),
    Case(
        "DRA143",
        [claim(constraints=[{"requests": ["gpus"], "matchAttribute": f"{DRIVER}/model"}])],
        [claim(constraints=[{"requests": ["gpu"], "matchAttribute": f"{DRIVER}/model"}])],
    ),
    Case("DRA144", [claim(constraints=[{"requests": ["gpu"]}])], [claim()]),
    Case(
        "DRA145",
        [claim(status={"reservedFor": [{"resource": "pods", "name": "pod", "uid": "u"}]})],
        [claim(status=allocated(reservedFor=[{"resource": "pods", "name": "pod", "uid": "u"}]))],
    ),
    Case(
        "DRA146",
        [claim(request(capacity={"requests": {"memory": "-1Gi"}}))],
        [claim(request(capacity={"requests": {"memory": "1Gi"}}))],
    ),
    Case(
        "DRA147",
        [claim(config=[{"requests": ["gpu"]}])],
        [claim(config=[{"opaque": {"driver": DRIVER, "parameters": {"sharing": "none"}}}])],
    ),
    Case(
        "DRA148",
        [device_class(extendedResourceName="gpus.kubernetes.io/gpu")],
        [device_class(extendedResourceName="example.com/gpu")],
    ),
    Case(
        "DRA149",
        [template(), pod(entry={"name": "gpu"})],
        [template(), pod(entry={"name": "gpu", "resourceClaimTemplateName": "gpus"})],
    ),
    Case("DRA151", [template(), pod({"name": "gpus"})], [template(), pod({"name": "gpu"})]),
    Case(
        "DRA152",
        [piece("node-a-gpu", device(attributes={"links": {"ints": [1, 2]}}))],
        [piece("node-a-gpu", device(attributes={"links": {"int": 1}}))],
    ),
    Case(
        "DRA160",
        [piece("node-a-gpu", device(nodeAllocatableResourceMappings={"cpu": {"capacityKey": "cores"}}))],
        [
            piece(
                "node-a-gpu",
                device(
                    capacity={"memory": {"value": "1Gi"}},
                    nodeAllocatableResourceMappings={"cpu": {"capacityKey": "memory"}},
                ),
            )
        ],
        gates={"DRANodeAllocatableResources": True},
    ),
    Case(
        "DRA201",
        _cluster(claim(request(deviceClassName="gpus"))),
        _cluster(claim(request(deviceClassName="gpu"))),
    ),
    Case("DRA202", [template(name="gpu"), template(namespace="other"), pod()], [template(), pod()]),
    Case("DRA203", [piece(), claim(), pod()], [piece(), device_class(), claim(), template(), pod()]),
    Case(
        "DRA204",
        [template(), pod({"name": "gpu", "request": "gpus"})],
        [template(), pod({"name": "gpu", "request": "gpu"})],
    ),
    Case(
        "DRA205",
        _cluster(namespace(), claim(request(adminAccess=True))),
        _cluster(namespace(**{ADMIN: "true"}), claim(request(adminAccess=True))),
    ),
    Case(
        "DRA206",
        _cluster(claim(request(adminAccess=True))),
        _cluster(namespace(**{ADMIN: "true"}), claim(request(adminAccess=True))),
    ),
    Case(
        "DRA207",
        [
            device_class(extendedResourceName="example.com/gpu"),
            device_class("b", extendedResourceName="example.com/gpu"),
        ],
        [device_class(extendedResourceName="example.com/gpu"), device_class("b", extendedResourceName="example.com/b")],
    ),
    Case("DRA208", [template(), pod()], [template(), pod({"name": "gpu"})]),
    Case(
        "DRA210",
        [piece("s0", device("a"), pool=pool(count=2)), piece("s1", device("b"), pool=pool(count=3))],
        [piece("s0", device("a"), pool=pool(count=2)), piece("s1", device("b"), pool=pool(count=2))],
    ),
    Case("DRA211", [piece(pool=pool(count=3))], [piece(pool=pool(count=1))]),
    Case(
        "DRA212",
        [piece("old", device("a")), piece("new", device("a"), pool=pool(generation=2))],
        [piece("new", device("a"), pool=pool(generation=2))],
    ),
    Case(
        "DRA213",
        [piece("s0", device("a"), pool=pool(count=2)), piece("s1", device("a"), pool=pool(count=2))],
        [piece("s0", device("a"), pool=pool(count=2)), piece("s1", device("b"), pool=pool(count=2))],
    ),
    Case(
        "DRA214",
        [counters("s0"), counters("s1")],
        [counters("s0"), counters("s1", set_name="other")],
    ),
    Case(
        "DRA215",
        [counters(), piece("node-a-gpu", counted(counter_set="cards"), pool=pool(count=2))],
        [counters(), piece("node-a-gpu", counted(), pool=pool(count=2))],
    ),
    Case(
        "DRA216",
        [counters(), piece("node-a-gpu", counted("11"), pool=pool(count=2))],
        [counters(), piece("node-a-gpu", counted("10"), pool=pool(count=2))],
    ),
    Case("DRA220", _selected(f"{GPU}.index == 0"), _selected(f'"index" in {GPU} && {GPU}.index == 0')),
    Case("DRA221", _selected(f'{GPU}.modell == "t4"'), _selected(f'{GPU}.model == "t4"')),
    Case(
        "DRA222",
        _selected('device.attributes["gpu.example.org"].model == "t4"'),
        _selected(f'{GPU}.model == "t4"'),
    ),
    Case(
        "DRA223",
        _selected(f'"driverVersion" in {GPU} && {GPU}.driverVersion == "1.2.3"'),
        _selected(f'"driverVersion" in {GPU} && {GPU}.driverVersion == semver("1.2.3")'),
    ),
    Case(
        "DRA230",
        _cluster(
            claim(request(selectors=selecting(f'{GPU}.model == "h100"')), name="other-model"),
            claim(request(count=2), name="too-many"),
            claim(request(capacity={"requests": {"memory": "1Gi"}}), name="no-memory"),
            claim(
                {"name": "gpu", "firstAvailable": [alternative("two", count=2), alternative("three", count=3)]},
                name="alternatives",
            ),
        ),
        _cluster(
            claim(request(selectors=selecting(f'{GPU}.model == "a100"')), name="model"),
            claim(request(count=1), name="one"),
            claim(
                {"name": "gpu", "firstAvailable": [alternative("two", count=2), alternative("one", count=1)]},
                name="alternatives",
            ),
        ),
    ),
    Case(
        "DRA231",
        [piece(pool=pool(count=2)), device_class(), claim(request(allocationMode="All"))],
        [piece(pool=pool(count=1)), device_class(), claim(request(allocationMode="All"))],
    ),
    Case(
        "DRA232",
        [
            piece("node-a-gpu", device(capacity={f"{DRIVER}/memory": {"value": "16Gi"}})),
            device_class(),
            claim(request(capacity={"requests": {"memory": "1Gi"}})),
        ],
        [
            piece("node-a-gpu", device(capacity={f"{DRIVER}/memory": {"value": "16Gi"}})),
            device_class(),
            claim(request(capacity={"requests": {f"{DRIVER}/memory": "1Gi"}})),
        ],
    ),
    Case("DRA240", _two_drivers({"strings": ["pci0000:00"]}), _two_drivers({"string": "pci0000:00"}), gates=LISTS),
    Case(
        "DRA241",
        _cluster(claim(constraints=[{"matchAttribute": f"{DRIVER}/numaNode"}])),
        _cluster(claim(constraints=[{"matchAttribute": f"{DRIVER}/index"}])),
    ),
    Case(
        "DRA153",
        [
            piece("node-a-gpu", device(attributes={"a/b/c": {"int": 1}})),
            claim(request(capacity={"requests": {"gpu-memory": "1"}})),
        ],
        [piece("node-a-gpu", device(attributes={"a/c": {"int": 1}}))],
    ),
    Case(
        "DRA154",
        [_selecting_nodes({"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Gt", "values": ["x"]})],
        [_selecting_nodes({"key": "b", "operator": "Gt", "values": ["1"]})],
    ),
    Case(
        "DRA155",
        [piece("node-a-gpu", device(attributes={"driver": {"version": "1.0.18446744073709551616"}}))],
        [piece("node-a-gpu", device(attributes={"driver": {"version": "1.0.18446744073709551615"}}))],
    ),
    Case(
        "DRA156",
        [
            piece("node-a-gpu", shared(policy={"default": "17Gi"})),
            piece(
                "node-b-gpu", shared(policy={"default": "1Gi", "validRange": {"min": "1Gi", "step": "-1"}}), **NODE_B
            ),
        ],
        [piece("node-a-gpu", shared(policy={"default": "16Gi", "validValues": []}))],
    ),
    Case(
        "DRA157",
        [_changed(claim(), "metadata", to={"name": "claim", "namespace": "team", "finalizers": ["gpu"]})],
        [_changed(claim(), "metadata", to={"name": "claim", "namespace": "team", "finalizers": ["example.com/gpu"]})],
    ),
    Case(
        "DRA158",
        [_changed(taint_rule(), "status", to={"conditions": [{**CONDITION, "status": "true"}]})],
        [_changed(taint_rule(), "status", to={"conditions": [CONDITION]})],
        gates=RULES_ON,
    ),
    Case(
        "DRA159",
        [piece(), device_class(), claim(status=allocated(devices=[{**GPU_0, "networkData": {"ips": ["10.9.8.7"]}}]))],
        [
            piece(),
            device_class(),
            claim(status=allocated(devices=[{**GPU_0, "networkData": {"ips": ["10.9.8.7/24"]}}])),
        ],
    ),
    Case(
        "DRA250",
        [_changed(taint_rule(), "spec", "deviceSelector", to={})],
        [taint_rule()],
        gates=RULES_ON,
    ),
    Case(
        "DRA251",
        [piece(), taint_rule(driver="gpu.example.org")],
        [piece(), taint_rule(driver=DRIVER)],
        gates=RULES_ON,
    ),
]

ELSEWHERE = {
    "DRA013": "depends on how deep data is nested: test_reading",
    "DRA301": "depends on what was there before: test_updates",
    "DRA302": "depends on what was there before: test_updates",
    "DRA252": "depends on a gate, not on the input: test_rules",
}
"""Rules whose cases need more than two inputs."""
