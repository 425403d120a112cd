"""Pods that all ask for something else, planned by one process and by two, in every way of asking, in one table.

    python benchmarks/jobs.py                    300 pods on 500 nodes
    python benchmarks/jobs.py NODES PODS         as many
    python benchmarks/jobs.py --write NODES PODS FILE

Whole processes, in turns: seconds by the clock, and processor time of all its processes, the medians of ROUNDS runs.
Target: two processes at least 1.6 times as fast as one, on a machine with two cores and nothing else to do. What the
machine allows at the time is told by two runs of one process that are made at once: with two cores that do not slow
each other down they take as long as one, which is 2.00.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from fleet import GPU, NIC, fleet

ROUNDS = 5
ROOT = Path(os.environ.get("CHECKOUT", Path(__file__).parents[1]))
API = "import sys, dra_plan; print(len(dra_plan.Cluster.load([sys.argv[1]]).allocate(jobs=int(sys.argv[2])).to_dict()))"
DASK = """
import sys, dra_plan, joblib
from distributed import Client
if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None), joblib.parallel_config(backend="dask"):
        print(len(dra_plan.Cluster.load([sys.argv[1]]).allocate(jobs=2).to_dict()))
"""


def pods(nodes: int, count: int) -> dict[str, Any]:
    """A fleet of which half of the GPUs are in use, and pods that each ask for GPUs and a NIC of their own kind."""
    items = [item for item in fleet(nodes)["items"] if item["metadata"]["name"] != "train"]
    for number in range(count):
        items += [_template(number), _pod(number)]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _template(number: int) -> dict[str, Any]:
    wanted = (
        f"device.capacity['{GPU}'].memory.compareTo(quantity('{20 + number // 4}Gi')) >= 0 && "
        f"device.attributes['{GPU}'].driverVersion.isGreaterThan(semver('550.{number % 60}.0'))"
    )
    gpus = {"deviceClassName": GPU, "count": 1 + number % 4, "selectors": [{"cel": {"expression": wanted}}]}
    requests = [{"name": "gpus", "exactly": gpus}, {"name": "nic", "exactly": {"deviceClassName": NIC, "count": 1}}]
    root = [{"requests": ["gpus", "nic"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": f"kind-{number:04}", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": requests, "constraints": root if number % 4 < 2 else []}}},
    }


def _pod(number: int) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "registry.example.org/train:1",
        "resources": {"claims": [{"name": "devices"}]},
    }
    claims = [{"name": "devices", "resourceClaimTemplateName": f"kind-{number:04}"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"train-{number:04}", "namespace": "default"},
        "spec": {"containers": [container], "resourceClaims": claims},
    }


def measured(*arguments: str, at_once: int = 1) -> tuple[float, float]:
    """Seconds by the clock, and processor time of the processes with those that they started, of runs at once."""
    before, start = os.times(), time.monotonic()
    runs = [subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(at_once)]
    assert {run.wait() for run in runs} <= {0, 1}, arguments
    spent, after = time.monotonic() - start, os.times()
    children = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return spent, children


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        nodes, count, file = sys.argv[2:]
        Path(file).write_text(json.dumps(pods(int(nodes), int(count))), encoding="utf-8")
        return
    nodes, count = (int(each) for each in sys.argv[1:3]) if len(sys.argv) > 2 else (500, 300)
    with tempfile.TemporaryDirectory() as folder:
        given, dask = str(Path(folder) / "pods.json"), Path(folder) / "with_dask.py"
        subprocess.run([sys.executable, __file__, "--write", str(nodes), str(count), given], check=True)
        dask.write_text(DASK)
        ways = {
            "`allocate -o json`": ("-m", "dra_plan", "allocate", given, "-o", "json"),
            "`allocate -o json --jobs 2`": ("-m", "dra_plan", "allocate", given, "-o", "json", "--jobs", "2"),
            "Python, `jobs=1`": ("-c", API, given, "1"),
            "Python, `jobs=2`": ("-c", API, given, "2"),
            "Python, Dask with two workers": (str(dask), given),
        }
        one = next(iter(ways))
        both = f"two runs of {one} at once"
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in [*ways, both]}
        for _ in range(ROUNDS):
            for name, arguments in ways.items():
                taken[name].append(measured(*arguments))
            taken[both].append(measured(*ways[one], at_once=2))
        print(f"| {count} different pods, {nodes} nodes | by the clock | processor time | as fast as one |")
        print("|---|---:|---:|---:|")
        for name, runs in taken.items():
            clock, processor = (median(each) for each in zip(*runs, strict=True))
            done = 2 if name == both else 1
            times = median(done * first[0] / run[0] for first, run in zip(taken[one], runs, strict=True))
            print(f"| {name} | {clock:.1f} s | {processor:.1f} s | {times:.2f} |", flush=True)


if __name__ == "__main__":
    main()
