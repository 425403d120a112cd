"""Pods with claims on a fleet of accelerators: seconds to schedule them all, every node evaluated.

    python benchmarks/pods.py               table for several sizes, in this process, processor time
    python benchmarks/pods.py NODES PODS    the input itself, as one List on standard output

Each pod has a claim of two accelerators and one port on the same switch; each node has four switches, each with two
accelerators and one port. "Asked" counts how often the allocator looked at a node: again only when a pod, a claim or
its devices changed it. "At 25 %" lets the scheduler stop when a quarter of the nodes fit.
"""

import json
import sys
import time
from typing import Any

from dra_plan import schedule
from dra_plan.allocator import Allocator

DRIVERS = {"accelerator.example.org": 2, "port.example.org": 1}
SWITCHES = 4
SIZES = [(250, 250), (500, 500), (1000, 1000), (1000, 2000), (2000, 1000), (2000, 2000)]


def device_class(driver: str) -> dict[str, Any]:
    kind = driver.partition(".")[0]
    expression = f'device.driver == "{driver}" && device.attributes["{driver}"].kind == "{kind}"'
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": kind},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def node(index: int) -> list[dict[str, Any]]:
    name = f"host-{index:04}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"z{index % 4}"}
    found: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": {"cpu": "96", "memory": "1Ti", "pods": "64"}},
        }
    ]
    for driver, each in DRIVERS.items():
        kind = driver.partition(".")[0]
        found.append(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{name}-{kind}"},
                "spec": {
                    "driver": driver,
                    "nodeName": name,
                    "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                    "devices": [
                        {
                            "name": f"{kind}-{switch}-{number}",
                            "attributes": {
                                "kind": {"string": kind},
                                "serial": {"string": f"{index:04}-{switch}-{number}"},
                                "fabric.example.org/switch": {"string": f"switch-{switch}"},
                            },
                        }
                        for switch in range(SWITCHES)
                        for number in range(each)
                    ],
                },
            }
        )
    return found


def pod(index: int) -> dict[str, Any]:
    requests = {"requests": {"cpu": "4", "memory": "8Gi"}, "claims": [{"name": "devices"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"worker-{index:04}", "namespace": "batch", "uid": f"worker-{index:04}"},
        "spec": {
            "containers": [{"name": "main", "image": "registry.example.org/worker:1", "resources": requests}],
            "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "pair"}],
        },
    }


def objects(nodes: int, pods: int) -> list[dict[str, Any]]:
    devices = {
        "requests": [
            {"name": "pair", "exactly": {"deviceClassName": "accelerator", "allocationMode": "ExactCount", "count": 2}},
            {"name": "port", "exactly": {"deviceClassName": "port", "allocationMode": "ExactCount", "count": 1}},
        ],
        "constraints": [{"requests": ["pair", "port"], "matchAttribute": "fabric.example.org/switch"}],
    }
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "pair", "namespace": "batch"},
        "spec": {"spec": {"devices": devices}},
    }
    return [
        *(device_class(driver) for driver in DRIVERS),
        *(item for index in range(nodes) for item in node(index)),
        template,
        *(pod(index) for index in range(pods)),
    ]


def configuration(percentage: int) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": percentage,
    }


def measure(nodes: int, pods: int, percentage: int) -> tuple[float, int, int]:
    """(seconds, pods bound, nodes that the allocator looked at)."""
    given = objects(nodes, pods)
    asked = 0
    allocate = Allocator.allocate

    def counting(self: Allocator, *arguments: Any, **options: Any) -> Any:
        nonlocal asked
        asked += 1
        return allocate(self, *arguments, **options)

    Allocator.allocate = counting  # type: ignore[method-assign]
    try:
        start = time.process_time()
        plan = schedule(given, config=configuration(percentage)).to_dict()
        spent = time.process_time() - start
    finally:
        Allocator.allocate = allocate  # type: ignore[method-assign]
    return spent, sum(entry["nodeName"] is not None for entry in plan["pods"]), asked


def main() -> None:
    print("| nodes | pods | bound | asked | all nodes | at 25 % |")
    print("|---|---|---|---|---|---|")
    for nodes, pods in SIZES:
        spent, bound, asked = measure(nodes, pods, 100)
        fewer, *_ = measure(nodes, pods, 25)
        print(f"| {nodes} | {pods} | {bound} | {asked} | {spent:.1f} s | {fewer:.1f} s |")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        json.dump(
            {"apiVersion": "v1", "kind": "List", "items": objects(int(sys.argv[1]), int(sys.argv[2]))}, sys.stdout
        )
    else:
        main()
