"""A fleet of GPU nodes, planned whole, beside `json.load` of the same file: time, memory and growth.

    python benchmarks/fleet.py                    5,000 nodes, and 1,000 for the growth
    python benchmarks/fleet.py 15000              the largest clusters run today
    python benchmarks/fleet.py --yaml             1,000 nodes as YAML, beside PyYAML's C loader
    python benchmarks/fleet.py --write 5000 FILE  only writes the file

Whole processes, processor time, taken in turns, so that other work on the machine meets all of them: the median of nine
runs (three for YAML), and the median of the ratios pair by pair. Targets: JSON at most 0.6 of json.load and 250 MB;
five times the nodes at most 5.5 times the time; 15,000 nodes at most 5 times the time of 5,000 and 1.5 GB; YAML at most
1.15 of the loader.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(os.environ.get("CHECKOUT", Path(__file__).parents[1]))
GPU, NIC = "gpu.example.com", "nic.example.com"
GENERATIONS = (
    ("A100", "ampere", "80Gi"),
    ("H100", "hopper", "80Gi"),
    ("H200", "hopper", "141Gi"),
    ("L4", "ada", "24Gi"),
)
WANTED = (
    f"device.attributes['{GPU}'].driverVersion.isGreaterThan(semver('555.0.0')) && "
    f"device.capacity['{GPU}'].memory.compareTo(quantity('80Gi')) >= 0"
)
JSON_LOAD = "import json, sys; json.load(open(sys.argv[1]))"
YAML_LOAD = "import sys, yaml; yaml.load(open(sys.argv[1]), Loader=yaml.CSafeLoader)"


def fleet(nodes: int, seed: int = 1) -> dict[str, Any]:
    """Nodes with eight GPUs and four NICs each, half of the GPUs in use, and a claim for two GPUs beside a NIC."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects(nodes, seed))}


def objects(nodes: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """The objects of a fleet, one after the other: the largest are not to be held as dicts."""
    choose = random.Random(seed)
    yield from (_class(GPU), _class(NIC))
    for index in range(nodes):
        name = f"worker-{index:05}"
        yield from (_node(name, index), _gpus(choose, name), _nics(name))
        yield from (_held(choose, name, gpu) for gpu in range(8) if choose.random() < 0.5)
    yield _pending()


def _object(kind: str, name: str, api: str = "resource.k8s.io/v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **fields.pop("metadata", {})}, **fields}


def _class(driver: str) -> dict[str, Any]:
    return _object("DeviceClass", driver, spec={"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]})


def _node(name: str, index: int) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{index % 4}"}
    status = {"allocatable": {"cpu": "128", "memory": "1Ti", "pods": "110"}, "nodeInfo": {"kubeletVersion": "v1.36.2"}}
    return _object("Node", name, "v1", metadata={"labels": labels}, status=status)


def _slice(name: str, driver: str, devices: list[dict[str, Any]]) -> dict[str, Any]:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return _object(
        "ResourceSlice",
        f"{name}-{driver}",
        spec={"driver": driver, "nodeName": name, "pool": pool, "devices": devices},
    )


def _gpus(choose: random.Random, node: str) -> dict[str, Any]:
    model, architecture, memory = choose.choice(GENERATIONS)
    version = choose.choice(["550.54.15", "570.124.6", "575.51.3"])
    devices = []
    for index in range(8):
        attributes = {
            "architecture": {"string": architecture},
            "driverVersion": {"version": version},
            "index": {"int": index},
            "model": {"string": model},
            "numa": {"int": index // 4},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{index // 2:02x}"},
            "serial": {"string": f"SN-{choose.getrandbits(64):016x}"},
            "uuid": {"string": f"GPU-{choose.getrandbits(128):032x}"},
        }
        devices.append({"name": f"gpu-{index}", "attributes": attributes, "capacity": {"memory": {"value": memory}}})
    return _slice(node, GPU, devices)


def _nics(node: str) -> dict[str, Any]:
    devices = []
    for index in range(4):
        attributes = {
            "rdma": {"bool": index % 2 == 0},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{index:02x}"},
        }
        devices.append({"name": f"nic-{index}", "attributes": attributes, "capacity": {"rate": {"value": "400G"}}})
    return _slice(node, NIC, devices)


def _claim(name: str, namespace: str, requests: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    constraints = fields.pop("constraints", [])
    spec = {"devices": {"requests": requests, "constraints": constraints}}
    return _object("ResourceClaim", name, metadata={"namespace": namespace}, spec=spec, **fields)


def _exactly(driver: str, count: int, **fields: Any) -> dict[str, Any]:
    return {"deviceClassName": driver, "allocationMode": "ExactCount", "count": count, **fields}


def _held(choose: random.Random, node: str, gpu: int) -> dict[str, Any]:
    result = {"request": "gpu", "driver": GPU, "pool": node, "device": f"gpu-{gpu}"}
    on_node = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    status = {
        "allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [on_node]}},
        "reservedFor": [{"resource": "pods", "name": f"{node}-{gpu}", "uid": f"{choose.getrandbits(128):032x}"}],
    }
    claim = _claim(f"{node}-{gpu}", "jobs", [{"name": "gpu", "exactly": _exactly(GPU, 1)}], status=status)
    claim["metadata"]["uid"] = f"claim-{node}-{gpu}"  # without one it would be new to the cluster, and be judged
    return claim


def _pending() -> dict[str, Any]:
    gpus = _exactly(GPU, 2, selectors=[{"cel": {"expression": WANTED}}])
    requests = [{"name": "gpus", "exactly": gpus}, {"name": "nic", "exactly": _exactly(NIC, 1)}]
    return _claim("train", "default", requests, constraints=[{"matchAttribute": "resource.kubernetes.io/pcieRoot"}])


class Cost(NamedTuple):
    """What a process cost: seconds of processor time, and megabytes at most."""

    seconds: float
    megabytes: float


def cost(*arguments: str, output: Path = Path(os.devnull)) -> Cost:
    """The cost of one run of the interpreter, which prints into a file."""
    with output.open("wb") as printed:
        process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1), arguments
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def in_turns(runs: int, *commands: tuple[str, ...]) -> list[list[Cost]]:
    """The runs of each command, which take turns."""
    return [
        list(column) for column in zip(*[[cost(*command) for command in commands] for _ in range(runs)], strict=True)
    ]


def median(runs: list[Cost]) -> Cost:
    """The time in the middle, and the most memory."""
    return Cost(statistics.median(run.seconds for run in runs), max(run.megabytes for run in runs))


def plan(file: Path) -> tuple[str, ...]:
    return ("-m", "dra_plan", "allocate", str(file), "-o", "json")


def show(name: str, runs: list[Cost], beside: list[Cost] | None = None) -> None:
    measured, ratio = median(runs), ""
    if beside:
        ratios = [run.seconds / other.seconds for run, other in zip(runs, beside, strict=True)]
        ratio = f"  {statistics.median(ratios):.2f} of it ({min(ratios):.2f} to {max(ratios):.2f})"
    print(f"{name:36} {measured.seconds:6.2f} s {measured.megabytes:6.0f} MB{ratio}")


def write(nodes: int, file: Path) -> None:
    """Writes a fleet, in a process of its own: processes start with the memory that this one has ever had."""
    subprocess.run([sys.executable, __file__, "--write", str(nodes), str(file)], check=True)


def of_json(folder: Path, sizes: list[int]) -> None:
    files = {}
    for size in sizes:
        files[size] = folder / f"{size}.json"
        write(size, files[size])
    commands = [command for file in files.values() for command in (("-c", JSON_LOAD, str(file)), plan(file))]
    costs = in_turns(9, *commands)
    for size, loaded, planned in zip(sizes, costs[::2], costs[1::2], strict=True):
        show(f"{size} nodes: json.load", loaded)
        show(f"{size} nodes: dra-plan allocate", planned, loaded)
    fast, slow = median(costs[1]), median(costs[-1])
    print(f"from {sizes[0]} to {sizes[-1]} nodes: {slow.seconds / fast.seconds:.1f} times the time")


def of_yaml(folder: Path, size: int) -> None:
    file = folder / f"{size}.yaml"
    write(size, file)
    loaded, planned = in_turns(3, ("-c", YAML_LOAD, str(file)), plan(file))
    show(f"{size} nodes: PyYAML's C loader", loaded)
    show(f"{size} nodes: dra-plan allocate", planned, loaded)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", nargs="?", type=int, default=5000)
    parser.add_argument("--yaml", action="store_true")
    parser.add_argument("--write", nargs=2, metavar=("NODES", "FILE"))
    options = parser.parse_args()
    if options.write:
        nodes, file = options.write
        with Path(file).open("w") as opened:
            if file.endswith(".yaml"):
                import yaml

                yaml.dump(fleet(int(nodes)), opened, Dumper=yaml.CSafeDumper)
            else:
                json.dump(fleet(int(nodes)), opened)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.yaml:
            of_yaml(Path(folder), 1000)
        else:
            of_json(Path(folder), sorted({1000 if options.nodes == 5000 else 5000, options.nodes}))


if __name__ == "__main__":
    main()
