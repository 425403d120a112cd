"""From the CSV files of openb (Alibaba's cluster-trace-gpu-v2023) to a cluster and events for `dra-plan replay`.

    python convert.py NODES.csv PODS.csv cluster.json events.jsonl
    python convert.py NODES.csv PODS.csv cluster.json events.jsonl --load 1.3 --seed 42
    python convert.py NODES.csv PODS.csv cluster.json events.jsonl --one-node-in 64

Without --load pods come and go when they did: each is created at its creation_time and runs as long as it ran. With
--load R they never end, and come one a second in random order: those of the file are shuffled and more of them drawn,
or some left out, until they ask for R times the GPUs of the cluster.

A template for one's own traces: `shape`, `pod` and `events` are all that has to change. Each GPU becomes a device with
a shared capacity `milli` of 1000, so that pods can have parts of it.
"""

import argparse
import csv
import gzip
import json
import random
from pathlib import Path

DRIVER = "gpu.openb.example"
WHOLE = 1000


def node_objects(row):
    """A Node and the ResourceSlice with its GPUs."""
    name, gpus = row["sn"], int(row["gpu"])
    has = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi", "pods": "500"}
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": has, "capacity": has},
    }
    milli = {"value": str(WHOLE), "requestPolicy": {"default": str(WHOLE), "validRange": {"min": "1", "step": "1"}}}
    gpu = {
        "allowMultipleAllocations": True,
        "attributes": {"model": {"string": row["model"]}},
        "capacity": {"milli": milli},
    }
    if gpus:
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-{DRIVER}"},
            "spec": {
                "driver": DRIVER,
                "nodeName": name,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"gpu-{number}", **gpu} for number in range(gpus)],
            },
        }


CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]},
}


def shape(row):
    """What a pod asks for: how many GPUs, how many thousandths of each, and which models will do."""
    count = int(row["num_gpu"])
    milli = int(row["gpu_milli"]) if count == 1 else WHOLE
    return count, milli, tuple(filter(None, (row.get("gpu_spec") or "").split("|")))


def template_name(of):
    """The name of the claim template of a shape."""
    count, milli, models = of
    return "-".join([f"{count}x{milli}", *(model.lower() for model in models)])


def template(of):
    """The ResourceClaimTemplate of a shape."""
    count, milli, models = of
    exactly = {"deviceClassName": "gpu", "count": count, "capacity": {"requests": {"milli": str(milli)}}}
    if models:
        listed = ", ".join(f'"{model}"' for model in models)
        exactly["selectors"] = [{"cel": {"expression": f'device.attributes["{DRIVER}"].model in [{listed}]'}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": template_name(of), "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }


def pod(row, name, with_memory):
    """The Pod of a row."""
    requests = {"cpu": f"{row['cpu_milli']}m"}
    if with_memory:
        requests["memory"] = f"{row['memory_mib']}Mi"
    container = {"name": "main", "image": "openb", "resources": {"requests": requests}}
    spec = {"containers": [container]}
    of = shape(row)
    if of[0]:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": template_name(of)}]
        container["resources"]["claims"] = [{"name": "gpu"}]
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def own_time(rows, with_memory):
    """Each pod comes when it came and runs as long as it ran; one that never ran is deleted when it was."""
    steps = []
    for row in rows:
        name, start = row["name"], int(row["creation_time"])
        end = int(row["deletion_time"]) if row["deletion_time"] else None
        step = {"time": start, "create": pod(row, name, with_memory)}
        steps.append(step)
        if row["scheduled_time"] and end is not None:
            step["runs"] = max(0, end - int(row["scheduled_time"]))
        elif end is not None:
            steps.append({"time": end, "delete": ["Pod", f"default/{name}"]})
    return sorted(steps, key=lambda step: step["time"])


def by_load(rows, load, seed, gpus, with_memory):
    """Pods that never end, drawn until they ask for so many times the GPUs of the cluster."""
    lots = random.Random(seed)
    drawn, asked, most = [], 0, load * gpus * WHOLE

    def thousandths(row):
        count, milli, _ = shape(row)
        return count * milli

    for row in lots.sample(rows, len(rows)):
        if asked + thousandths(row) > most:
            break
        drawn.append(row)
        asked += thousandths(row)
    while asked < most - WHOLE:
        row = lots.choice(rows)
        if asked + thousandths(row) <= most:
            drawn.append(row)
            asked += thousandths(row)
    return [{"time": number, "create": pod(row, f"pod-{number:05}", with_memory)} for number, row in enumerate(drawn)]


def opened(path):
    """The file, unpacked if it is one of gzip."""
    return gzip.open(path, "rt", newline="") if path.endswith(".gz") else Path(path).open(newline="")


def main():
    """Reads the arguments, and writes the cluster and the events."""
    parser = argparse.ArgumentParser(description="openb's CSV files as a cluster and events for dra-plan replay.")
    for name in ("nodes", "pods", "cluster", "events"):
        parser.add_argument(name)
    parser.add_argument("--load", type=float, help="so many times the cluster's GPUs are asked for, without ends")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit-nodes", type=int, help="only so many nodes, the first ones")
    parser.add_argument("--one-node-in", type=int, default=1, metavar="N", help="a smaller fleet: every Nth node")
    parser.add_argument("--memory", action="store_true", help="pods ask for memory, too")
    given = parser.parse_args()
    with opened(given.nodes) as file:
        nodes = list(csv.DictReader(file))[: given.limit_nodes : given.one_node_in]
    with opened(given.pods) as file:
        rows = list(csv.DictReader(file))
    if given.load:
        gpus = sum(int(row["gpu"]) for row in nodes)
        steps = by_load(rows, given.load, given.seed, gpus, given.memory)
    else:
        steps = own_time(rows, given.memory)
    shapes = sorted({of for of in map(shape, rows) if of[0]})
    objects = [each for row in nodes for each in node_objects(row)]
    cluster = {"apiVersion": "v1", "kind": "List", "items": [*objects, CLASS, *map(template, shapes)]}
    Path(given.cluster).write_text(json.dumps(cluster))
    Path(given.events).write_text("".join(f"{json.dumps(step)}\n" for step in steps))


if __name__ == "__main__":
    main()
