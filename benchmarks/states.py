"""Many changed states of one cluster, each asked the same question: seconds for each, beside those of the first.

    python benchmarks/states.py            the table
    python benchmarks/states.py 500 200    a cluster of so many nodes, so many states

Half of the nodes run a pod with a claim, and as many pods wait as a tenth of the nodes. Each state is an edit of the
loaded cluster, asked what `allocate` answers for one pod that waits. One process; processor time.
"""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from dra_plan import Cluster

DRIVER = "accelerator.example.org"
API = "resource.k8s.io/v1"


def node(name: str) -> dict[str, Any]:
    allocatable = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable}}


def claim(name: str, where: str = "") -> dict[str, Any]:
    """A claim of one accelerator; allocated on a node if there is one."""
    request = {"name": "a", "exactly": {"deviceClassName": "accelerator"}}
    made = {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "batch"}}
    made["spec"] = {"devices": {"requests": [request]}}
    if where:
        result = {"request": "a", "driver": DRIVER, "pool": where, "device": "d-0"}
        made["status"] = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [user(name)]}
    return made


def user(name: str) -> dict[str, Any]:
    return {"resource": "pods", "name": name, "uid": f"uid-{name}"}


def pod(name: str, where: str = "") -> dict[str, Any]:
    """A pod with a claim of its own name, on a node or waiting for one."""
    container = {"name": "main", "image": "registry.example.org/w:1", "resources": {"claims": [{"name": "c"}]}}
    spec: dict[str, Any] = {
        "containers": [container],
        "resourceClaims": [{"name": "c", "resourceClaimName": name}],
    }
    if where:
        spec["nodeName"] = where
    metadata = {"name": name, "namespace": "batch", "uid": f"uid-{name}"}
    status = {"phase": "Running" if where else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def cluster(nodes: int) -> list[dict[str, Any]]:
    """The objects."""
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    made: list[dict[str, Any]] = [
        {
            "apiVersion": API,
            "kind": "DeviceClass",
            "metadata": {"name": "accelerator"},
            "spec": {"selectors": [selector]},
        }
    ]
    for number in range(nodes):
        name = f"node-{number:04}"
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [{"name": f"d-{at}", "attributes": {"serial": {"string": f"{number}-{at}"}}} for at in range(8)]
        spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
        made += [node(name), {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}]
        if number % 2:
            made += [claim(f"runs-{number:04}", name), pod(f"runs-{number:04}", name)]
        if number % 10 == 0:
            made += [claim(f"waits-{number:04}"), pod(f"waits-{number:04}")]
    return made


def edits(loaded: Cluster) -> Iterator[tuple[str, Callable[[int], Cluster]]]:
    """Each kind of edit, and the changed state with a number."""
    odd = [f"{2 * at + 1:04}" for at in range(len(loaded.inventory.nodes) // 2)]
    yield "none", lambda _at: loaded
    yield "cordon a node", lambda at: loaded.cordon(f"node-{odd[at % len(odd)]}")
    yield "drain a node", lambda at: loaded.drain(f"node-{odd[at % len(odd)]}")
    yield "without a pod", lambda at: loaded.without(f"pod/batch/runs-{odd[at % len(odd)]}")
    yield "without a node", lambda at: loaded.without(f"node/node-{odd[at % len(odd)]}")
    yield "one more node", lambda at: loaded.add_nodes(1, like=f"node-{odd[at % len(odd)]}")


def spent(do: Callable[[], object]) -> float:
    """Seconds of processor time."""
    started = time.process_time()
    do()
    return time.process_time() - started


def ask(change: Callable[[int], Cluster], asked: str, states: int) -> tuple[float, float]:
    """Seconds for all edits, and for all their answers."""
    edit = answer = 0.0
    made: list[Cluster] = []

    def again(at: int) -> None:
        made[:] = [change(at)]

    for at in range(states):
        edit += spent(partial(again, at))
        answer += spent(lambda: made[0].allocate(asked).document)
    return edit, answer


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    states = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    objects = cluster(nodes)
    holder: list[Cluster] = []
    loading = spent(lambda: holder.append(Cluster.of(objects)))
    [loaded] = holder
    asked = "pod/waits-0000"
    first = spent(lambda: loaded.allocate(asked).document)
    print(f"{nodes} nodes: loaded in {loading:.2f} s, first answer {first:.2f} s; {states} states of each kind\n")
    print("| edit | the edit | its answer | all states |")
    print("|---|---|---|---|")
    for name, change in edits(loaded):
        edit, answer = ask(change, asked, states)
        told = (f"{1000 * each / states:.1f} ms" for each in (edit, answer))
        print(f"| {name} | {' | '.join(told)} | {edit + answer:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
