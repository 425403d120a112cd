"""`explain` beside `allocate` on 5,000 nodes where nothing fits, and on the hard cases of the tests.

    python benchmarks/explain.py [NODES]
    python benchmarks/explain.py --against FOLDER [NODES]

Processes as a user starts them, reading the same JSON file of 8 GPUs and 4 NICs a node, half of the GPUs in use; CPU
seconds of the quickest of three runs, as other work on the machine only adds. Target: at most 3 times `allocate`.
Of the hard cases: seconds in one process, and the most that the search for one blocking set, or for suggestions, may
cost in steps. With `--against`, one pod of each shape is explained by this version and by the sources in FOLDER, in
turn: the quickest of each.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

RUNS = 3
API = "resource.k8s.io/v1"
GPU, NIC, ROOT_PORT = "gpu.example.com", "nic.example.com", "resource.kubernetes.io/pcieRoot"
MODELS = (("A100", "80Gi"), ("H100", "80Gi"), ("L40S", "48Gi"))
CLAIMS = {
    "a model that no node has": (f'device.attributes["{GPU}"].model == "B200"', 2),
    "more than any node has": (f'device.attributes["{GPU}"].driverVersion.isGreaterThan(semver("560.0.0"))', 9),
    "three on one PCIe root of two": (f'device.capacity["{GPU}"].memory.compareTo(quantity("80Gi")) >= 0', 3),
}

STATUS = {"allocatable": {"cpu": "96", "memory": "1Ti", "pods": "110"}}


def fleet(nodes: int) -> list[dict[str, Any]]:
    """The cluster: the same one on every run."""
    r = random.Random(11)
    objects = [_object("DeviceClass", name, _selected(f'device.driver == "{name}"')) for name in (GPU, NIC)]
    for number in range(nodes):
        name = f"node-{number:05}"
        objects.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": STATUS})
        model, memory = r.choice(MODELS)
        gpus = [_gpu(at, model, memory, r) for at in range(8)]
        nics = [{"name": f"nic-{at}", "attributes": {ROOT_PORT: {"string": f"root-{at}"}}} for at in range(4)]
        objects += [_slice(name, GPU, gpus), _slice(name, NIC, nics)]
        objects += [_busy(name, at) for at in range(8) if r.random() < 0.5]
    return objects


def _object(kind: str, name: str, spec: dict[str, Any], **metadata: str) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def _selected(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": expression}}]}


def _gpu(at: int, model: str, memory: str, r: random.Random) -> dict[str, Any]:
    attributes = {
        "model": {"string": model},
        "index": {"int": at},
        "uuid": {"string": f"GPU-{r.getrandbits(64):016x}"},
        "driverVersion": {"version": r.choice(["570.86.15", "550.127.8"])},
        ROOT_PORT: {"string": f"root-{at // 2}"},
    }
    return {"name": f"gpu-{at}", "attributes": attributes, "capacity": {"memory": {"value": memory}}}


def _slice(node: str, driver: str, devices: list[dict[str, Any]]) -> dict[str, Any]:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    return _object("ResourceSlice", f"{node}-{driver}", spec)


def _claim(name: str, expression: str, count: int) -> dict[str, Any]:
    gpus = {"deviceClassName": GPU, "count": count, "allocationMode": "ExactCount", **_selected(expression)}
    requests = [{"name": "gpus", "exactly": gpus}, {"name": "nic", "exactly": {"deviceClassName": NIC}}]
    devices = {"requests": requests, "constraints": [{"matchAttribute": ROOT_PORT}]}
    return _object("ResourceClaim", name, {"devices": devices}, namespace="default")


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {
        "resourceClaims": [{"name": "gpus", "resourceClaimName": "train"}],
        "containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "gpus"}]}}],
    },
}


def _busy(node: str, at: int) -> dict[str, Any]:
    made = _claim(f"{node}-{at}", "true", 1)
    result = {"request": "gpus", "driver": GPU, "pool": node, "device": f"gpu-{at}"}
    return {**made, "status": {"allocation": {"devices": {"results": [result]}}}}


def cpu_seconds(*arguments: str) -> float:
    """Of the quickest run of dra-plan with these arguments."""
    return min(_once(ROOT, *arguments) for _ in range(RUNS))


def _once(sources: Path, *arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "dra_plan", *arguments], cwd=sources, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


TAINT = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
SHAPES = {
    "fits": ("true", 1, False),
    **{name: (expression, count, False) for name, (expression, count) in CLAIMS.items()},
    "fits, and every node is tainted": ("true", 1, True),
    "more than any node has, and every node is tainted": ("true", 9, True),
}


def against(old: Path, nodes: int) -> None:
    """Compare one pod of each shape with the sources in a folder."""
    print(f"| one pod, {nodes} nodes | before | now | times |\n|---|---:|---:|---:|")
    objects = fleet(nodes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.json"
        for name, (expression, count, tainted) in SHAPES.items():
            claim, spec = _claim("train", expression, count), {"taints": [TAINT]} if tainted else {}
            items = [{**each, "spec": spec} if each["kind"] == "Node" else each for each in objects]
            path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items, claim, POD]}))
            pairs = [
                [_once(sources, "explain", str(path), "pod/train") for sources in (old, ROOT)] for _ in range(RUNS)
            ]
            before, now = (min(times) for times in zip(*pairs, strict=True))
            print(f"| {name} | {before:.2f} s | {now:.2f} s | {now / before:.2f} |", flush=True)


def fleets(nodes: int) -> None:
    print(f"| {nodes} nodes, nothing fits | `allocate` | `explain` | times |\n|---|---:|---:|---:|")
    objects = fleet(nodes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.json"
        for name, (expression, count) in CLAIMS.items():
            items = [*objects, _claim("train", expression, count)]
            path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
            plain, told = cpu_seconds("allocate", str(path)), cpu_seconds("explain", str(path))
            print(f"| {name} | {plain:.2f} s | {told:.2f} s | {told / plain:.1f} |")


def hard() -> None:
    from dra_plan import Cluster
    from dra_plan.explanation import elements
    from dra_plan.explanation.suggest import trials
    from tests.conformance import recorded

    print("\n| hard case | `allocate` | `explain` | blocking set | suggestions |\n|---|---:|---:|---|---:|")
    for case in recorded.cases("hard"):
        cluster = Cluster.of(case["objects"], feature_gates=recorded.gates(case))
        start = time.process_time()
        cluster.allocate(together=True)
        middle = time.process_time()
        [claim_set] = cluster.explain(together=True).to_dict()["claimSets"]
        end = time.process_time()
        sets = [story["blockingSet"] for story in claim_set["stories"] if story["blockingSet"]]
        blocks = ", ".join(f"{len(one['elements'])}, {'' if one['proven'] else 'not '}proven" for one in sets) or "none"
        times = f"{middle - start:.2f} s | {end - middle:.2f} s"
        print(f"| {case['id']} | {times} | {blocks} | {len(claim_set['suggestions'])} |")
    print(f"\nBudgets in steps: {elements.ALL_STEPS} for blocking sets, {trials.TOTAL_STEPS} for suggestions.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--against"]:
        against(Path(sys.argv[2]).resolve(), int(sys.argv[3]) if len(sys.argv) > 3 else 5000)
        sys.exit()
    fleets(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
    hard()
