"""Small correct objects, to be broken one rule at a time. All of them together break no rule.

They are apart from `tests.build`, for what breaks a rule may be a null, and kept texts have these names.
"""

from typing import Any

Data = dict[str, Any]
DRIVER = "gpu.example.com"
V1 = "resource.k8s.io/v1"


def device(name: str = "gpu-0", **fields: Any) -> Data:
    return {"name": name, "attributes": {"model": {"string": "a100"}, "index": {"int": 0}}, **fields}


def piece(name: str = "node-a-gpu", *devices: Data, version: str = V1, **spec: Any) -> Data:
    whole = {"driver": DRIVER, "pool": pool(), "nodeName": "node-a", "devices": list(devices) or [device()], **spec}
    kept = {key: value for key, value in whole.items() if value is not None}
    return {"apiVersion": version, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": kept}


def pool(name: str = "node-a", generation: int = 1, count: int = 1) -> Data:
    return {"name": name, "generation": generation, "resourceSliceCount": count}


def device_class(name: str = "gpu", *expressions: str, **spec: Any) -> Data:
    selectors = [{"cel": {"expression": text}} for text in expressions or [f'device.driver == "{DRIVER}"']]
    metadata = {"name": name}
    return {"apiVersion": V1, "kind": "DeviceClass", "metadata": metadata, "spec": {"selectors": selectors, **spec}}


def request(name: str = "gpu", **exactly: Any) -> Data:
    return {"name": name, "exactly": {"deviceClassName": "gpu", **exactly}}


def selecting(*expressions: str) -> list[Data]:
    return [{"cel": {"expression": text}} for text in expressions]


def claim(*requests: Data, name: str = "claim", status: Data | None = None, **devices: Any) -> Data:
    made = {
        "apiVersion": V1,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"devices": {"requests": list(requests) or [request()], **devices}},
    }
    return {**made, "status": status} if status is not None else made


def template(*requests: Data, name: str = "gpus", namespace: str = "team") -> Data:
    return {
        "apiVersion": V1,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": list(requests) or [request()]}}},
    }


def pod(*uses: Data, entry: Data | None = None) -> Data:
    container: Data = {"name": "main", "image": "registry.example.com/main:1"}
    if uses:
        container["resources"] = {"claims": list(uses)}
    claims = [entry or {"name": "gpu", "resourceClaimTemplateName": "gpus"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", "namespace": "team"},
        "spec": {"containers": [container], "resourceClaims": claims},
    }


def taint_rule(version: str = "v1beta2", **selector: str) -> Data:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "drain"},
        "spec": {
            "deviceSelector": selector or {"driver": DRIVER},
            "taint": {"key": "example.com/broken", "effect": "NoExecute"},
        },
    }


def namespace(**labels: str) -> Data:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": labels}}


def shared(**fields: Any) -> Data:
    """A device that hands out memory in shares."""
    memory = {"value": "16Gi", "requestPolicy": fields.pop("policy", None)}
    kept = {key: value for key, value in memory.items() if value is not None}
    return device(allowMultipleAllocations=True, capacity={"memory": kept}, **fields)


def counted(amount: str = "10", counter_set: str = "card", counter: str = "slots") -> Data:
    """A device that takes from a counter."""
    return device(consumesCounters=[{"counterSet": counter_set, "counters": {counter: {"value": amount}}}])


def counters(name: str = "node-a-counters", amount: str = "10", set_name: str = "card", count: int = 2) -> Data:
    """The slice with the counters."""
    sets = [{"name": set_name, "counters": {"slots": {"value": amount}}}]
    return piece(name, devices=None, sharedCounters=sets, pool=pool(count=count))


def allocated(**status: Any) -> Data:
    """A status with one device."""
    result = {"request": "gpu", "driver": DRIVER, "pool": "node-a", "device": "gpu-0"}
    return {"allocation": {"devices": {"results": [result]}}, **status}
