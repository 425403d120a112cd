"""More ways to break some rules than the one that their examples show, each next to input that does not."""

from typing import Any

from .cases import Case
from .objects import (
    DRIVER,
    Data,
    claim,
    device,
    device_class,
    piece,
    pool,
    request,
    selecting,
    shared,
)

NODE_B: Data = {"pool": pool("node-b"), "nodeName": "node-b"}
NODE_C: Data = {"pool": pool("node-c"), "nodeName": "node-c"}
GPU_0: Data = {"driver": DRIVER, "pool": "node-a", "device": "gpu-0"}
GPU = f'device.attributes["{DRIVER}"]'


def _selecting_nodes(*requirements: Data) -> Data:
    """A slice whose only device is on the nodes that meet one of the requirements."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]} for requirement in requirements]}
    return piece("node-a-gpu", device(nodeSelector=terms), nodeName=None, perDeviceNodeSelection=True)


def _cluster(*more: Data) -> list[Data]:
    return [piece(), device_class(), *more]


def alternative(name: str, **fields: Any) -> Data:
    return {"name": name, "deviceClassName": "gpu", **fields}


def _case(code: str, bad: list[Data], good: list[Data]) -> Case:
    return Case(code, bad, good, "1.36", {})


VARIANTS = [
    _case(
        "DRA101",
        [piece("node-a-gpu", device("GPU_0"), driver="gpu example", pool=pool("node a/0"), nodeName="Node_A")],
        [piece("node-a-gpu", device("gpu-0"), driver="GPU.example.com", pool=pool("node-a/0"), nodeName="node-a")],
    ),
    _case(
        "DRA102",
        [piece("node-a-gpu", device(attributes={"core-count": {"int": 4}, "a/b/c": {"int": 1}, "x" * 33: {"int": 1}}))],
        [piece("node-a-gpu", device(attributes={"coreCount": {"int": 4}, "example.com/c": {"int": 1}}))],
    ),
    _case(
        "DRA105",
        [piece("node-a-gpu", device(taints=[{"key": "a key", "value": "a value", "effect": "NoExecute"}]))],
        [piece("node-a-gpu", device(taints=[{"key": "example.com/key", "value": "value", "effect": "NoExecute"}]))],
    ),
    _case(
        "DRA110",
        [claim(*(request(f"r{number}") for number in range(33)))],
        [claim(*(request(f"r{number}") for number in range(32)))],
    ),
    _case(
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
    _case(
        "DRA138",
        [claim(request(tolerations=[{"key": "broken", "operator": "Exists", "value": "yes"}, {"operator": "Is"}]))],
        [claim(request(tolerations=[{"key": "broken", "operator": "Exists"}, {"operator": "Equal"}]))],
    ),
    _case(
        "DRA141",
        [claim({"name": "a"}, request("b", deviceClassName="gpu") | {"firstAvailable": [alternative("c")]})],
        [claim(request("a"), {"name": "b", "firstAvailable": [alternative("c")]})],
    ),
    _case(
        "DRA142",
        [claim(request("a", allocationMode="All", count=2), request("b", count=-1), request("c", allocationMode="Al"))],
        [claim(request("a", allocationMode="All"), request("b", count=1), request("c", allocationMode="ExactCount"))],
    ),
    _case(
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
    _case(
        "DRA153",
        [
            piece("node-a-gpu", device(attributes={"a/b/c": {"int": 1}})),
            claim(request(capacity={"requests": {"gpu-memory": "1"}})),
        ],
        [piece("node-a-gpu", device(attributes={"a/c": {"int": 1}}))],
    ),
    _case(
        "DRA154",
        [_selecting_nodes({"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Gt", "values": ["x"]})],
        [_selecting_nodes({"key": "b", "operator": "Gt", "values": ["1"]})],
    ),
    _case(
        "DRA156",
        [
            piece("node-a-gpu", shared(policy={"default": "17Gi"})),
            piece(
                "node-b-gpu", shared(policy={"default": "1Gi", "validRange": {"min": "1Gi", "step": "-1"}}), **NODE_B
            ),
        ],
        [piece("node-a-gpu", shared(policy={"default": "16Gi", "validValues": []}))],
    ),
]
