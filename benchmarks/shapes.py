"""Pods of many shapes on a fleet: seconds and memory to schedule them all, as nodes, pods and shapes grow.

    python benchmarks/shapes.py                             the table
    python benchmarks/shapes.py --write NODES PODS SHAPES FILE   only writes the input

A shape is a claim (one to four accelerators, with or without a port on their switch, of any generation or of one), an
amount of cpu, and for some shapes node affinity, spreading over zones, a priority. Each node has eight accelerators
and four ports. Whole processes, one run each. Target: 10,000 pods of 200 shapes on 5,000 nodes in 60 s of processor
time and 1.5 GB.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pods import SWITCHES, device_class, node

ROOT = Path(__file__).parents[1]
SIZES = [(1000, 2000, 50), (1000, 2000, 200), (1000, 4000, 200), (2000, 4000, 200), (5000, 10_000, 200)]
GROWTHS = [
    ("shapes", (1000, 2000, 50), (1000, 2000, 200)),
    ("pods", (1000, 2000, 200), (1000, 4000, 200)),
    ("nodes", (1000, 4000, 200), (2000, 4000, 200)),
    ("nodes and pods", (2000, 4000, 200), (5000, 10_000, 200)),
]
SWITCH = "fabric.example.org/switch"
DRIVERS = ("accelerator.example.org", "port.example.org")


def template(number: int, choose: random.Random) -> dict[str, Any]:
    """What the claims of one shape ask for."""
    count = choose.choice((1, 1, 2, 2, 4))
    requests = [{"name": "a", "exactly": {"deviceClassName": "accelerator", "count": count}}]
    devices: dict[str, Any] = {"requests": requests}
    if count <= 2 and choose.random() < 0.5:
        requests.append({"name": "p", "exactly": {"deviceClassName": "port", "count": 1}})
        devices["constraints"] = [{"requests": ["a", "p"], "matchAttribute": SWITCH}]
    elif choose.random() < 0.3:
        expression = f'device.attributes["{DRIVERS[0]}"].serial.endsWith("-{number % 2}")'
        requests[0]["exactly"] = {
            "deviceClassName": "accelerator",
            "count": 1,
            "selectors": [{"cel": {"expression": expression}}],
        }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": f"shape-{number:03}", "namespace": "batch"},
        "spec": {"spec": {"devices": devices}},
    }


def pod_spec(number: int, choose: random.Random) -> dict[str, Any]:
    """What the pods of one shape ask of their node."""
    requests = {"cpu": str(choose.choice((1, 2, 4, 8, 12))), "memory": f"{choose.choice((1, 4, 16))}Gi"}
    container = {"name": "main", "image": "registry.example.org/w:1"}
    container["resources"] = {"requests": requests, "claims": [{"name": "d"}]}
    spec: dict[str, Any] = {
        "containers": [container],
        "resourceClaims": [{"name": "d", "resourceClaimTemplateName": f"shape-{number:03}"}],
        "priority": choose.choice((0, 0, 0, 100)),
    }
    if choose.random() < 0.3:
        zones = [f"z{zone}" for zone in sorted(choose.sample(range(4), 2))]
        term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones}]}
        rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        spec["affinity"] = {"nodeAffinity": rule}
    if choose.random() < 0.2:
        spread = {"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
        spec["topologySpreadConstraints"] = [{**spread, "labelSelector": {"matchLabels": {"shape": f"s{number}"}}}]
    return spec


def objects(nodes: int, pods: int, shapes: int) -> list[dict[str, Any]]:
    """The whole input; the same for the same numbers."""
    choose = random.Random(1)
    templates = [template(number, choose) for number in range(shapes)]
    specs = [pod_spec(number, choose) for number in range(shapes)]
    found = [
        *(device_class(driver) for driver in DRIVERS),
        *(item for index in range(nodes) for item in node(index)),
        *templates,
    ]
    for index in range(pods):
        shape = choose.randrange(shapes)
        name = f"w-{index:05}"
        metadata = {"name": name, "namespace": "batch", "uid": name, "labels": {"shape": f"s{shape}"}}
        found.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": specs[shape]})
    return found


def write(file: Path, nodes: int, pods: int, shapes: int) -> None:
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects(nodes, pods, shapes)}))


def main() -> None:
    if "--write" in sys.argv:
        *numbers, name = sys.argv[2:]
        write(Path(name), *map(int, numbers))
        return
    print(f"| nodes | devices | pods | shapes | bound | seconds | MiB |\n|{'---:|' * 7}")
    spent = {size: measured(*size) for size in SIZES}
    print(f"\n| what grows | from | to | seconds times |\n|---|{'---:|' * 3}")
    for what, before, after in GROWTHS:
        sizes = [f"{nodes} nodes, {pods} pods, {shapes} shapes" for nodes, pods, shapes in (before, after)]
        print(f"| {what} | {sizes[0]} | {sizes[1]} | {spent[after] / spent[before]:.1f} |")


def measured(nodes: int, pods: int, shapes: int) -> float:
    """Runs one size, prints its row, and returns its processor time in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "input.json", Path(folder) / "answer.json"
        write(file, nodes, pods, shapes)
        with answer.open("wb") as out:
            arguments = [sys.executable, "-m", "dra_plan", "schedule", str(file), "-o", "name"]
            process = subprocess.Popen(arguments, cwd=ROOT, stdout=out)
            _, _, used = os.wait4(process.pid, 0)
        bound = sum(line.startswith(b"pod/") for line in answer.read_bytes().splitlines())
    spent, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    devices = nodes * SWITCHES * 3
    print(f"| {nodes} | {devices} | {pods} | {shapes} | {bound} | {spent:.1f} | {peak:.0f} |", flush=True)
    return spent


if __name__ == "__main__":
    main()
