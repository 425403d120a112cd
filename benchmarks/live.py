"""A cluster of 5,000 nodes and 30,000 pods, read through kubectl from a server on this machine: time and memory.

    python benchmarks/live.py             5,000 nodes, 30,000 pods
    python benchmarks/live.py 500 3000    a smaller one

Objects are as large as an API server sends them, with managedFields, environment and status. Memory is the peak of
dra-plan alone, processor time that of dra-plan and of the kubectls that it starts. Target: less than 600 MB.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fleet import fleet

ROOT = Path(__file__).parents[1]
SERVED = {"": "v1", "apps": "v1", "batch": "v1", "policy": "v1", "resource.k8s.io": "v1", "scheduling.k8s.io": "v1"}
PLURALS = {
    "Node": "nodes",
    "Pod": "pods",
    "DeviceClass": "deviceclasses",
    "ResourceSlice": "resourceslices",
    "ResourceClaim": "resourceclaims",
}
PENDING = "waiting"


def lists(nodes: int, pods: int) -> dict[str, list[bytes]]:
    """The objects of each list, as the server sends them."""
    found: dict[str, list[bytes]] = {}
    for item in [*fleet(nodes)["items"], *_pods(nodes, pods)]:
        metadata = {"managedFields": _managed(item.get("spec", {})), **item["metadata"]}
        sent = {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
        found.setdefault(PLURALS[item["kind"]], []).append(json.dumps({**sent, "metadata": metadata}).encode())
    return found


def _managed(spec: Any) -> list[dict[str, Any]]:
    """About as much as servers keep: a field for each field, once for each of two managers."""
    entry = {"operation": "Update", "apiVersion": "v1", "time": "2026-11-22T00:00:00Z", "fieldsType": "FieldsV1"}
    return [{**entry, "manager": manager, "fieldsV1": _fields(spec)} for manager in ("controller", "kubelet")]


def _fields(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {f"f:{key}": _fields(item) for key, item in value.items()}
    return {}


def _pods(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    environment = [{"name": f"SETTING_{number}", "value": "x" * 60} for number in range(12)]
    container = {
        "name": "main",
        "image": "registry.example.com/team/app:1.2.3",
        "command": ["/bin/app", "--serve"],
        "env": environment,
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{"name": f"volume-{number}", "mountPath": f"/mnt/{number}"} for number in range(4)],
    }
    for number in range(pods):
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"app-{number:05}",
                "namespace": f"team-{number % 20}",
                "uid": f"00000000-0000-0000-0000-{number:012}",
                "creationTimestamp": "2026-11-22T00:00:00Z",
                "labels": {"app": f"app-{number % 300}"},
            },
            "spec": {
                "containers": [container, {**container, "name": "sidecar"}],
                "nodeName": f"worker-{number % nodes:05}",
            },
            "status": {
                "phase": "Running",
                "conditions": [{"type": kind, "status": "True"} for kind in ("Ready", "PodScheduled", "Initialized")],
                "containerStatuses": [{"name": "main", "imageID": "sha256:" + "0" * 64, "containerID": "c" * 80}],
            },
        }
    yield {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": PENDING, "namespace": "default", "creationTimestamp": "2026-11-22T00:00:00Z"},
        "spec": {
            "containers": [{"name": "main", "image": "i", "resources": {"claims": [{"name": "gpus"}]}}],
            "resourceClaims": [{"name": "gpus", "resourceClaimName": "pending"}],
        },
        "status": {"phase": "Pending"},
    }


def answer(found: dict[str, list[bytes]], target: str) -> tuple[int, bytes]:
    """What the server says: lists in pages, and the few other things that a snapshot asks for."""
    path, asked = urlsplit(target).path, parse_qs(urlsplit(target).query)
    if path == "/version":
        return 200, b'{"major": "1", "minor": "36", "gitVersion": "v1.36.3"}'
    if path == "/apis":
        groups = [{"name": group, "versions": [{"version": version}]} for group, version in SERVED.items() if group]
        return 200, json.dumps({"groups": groups}).encode()
    plural = path.rpartition("/")[2]
    if plural not in found:
        return 404, b"404 page not found"
    kind = next(kind for kind, name in PLURALS.items() if name == plural)
    version = path.removeprefix("/apis/").removeprefix("/api/").rpartition("/")[0]
    start, limit = int(asked.get("continue", ["0"])[0]), int(asked["limit"][0])
    end = min(start + limit, len(found[plural]))
    more = f'"continue": "{end}"' if end < len(found[plural]) else ""
    head = f'{{"kind": "{kind}List", "apiVersion": "{version}", "metadata": {{{more}}}, "items": ['
    return 200, head.encode() + b",".join(found[plural][start:end]) + b"]}"


def serve(nodes: int, pods: int, ready: Any) -> None:
    """Serves for as long as the process lives; says its port, and how much there is."""
    found = lists(nodes, pods)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = answer(found, self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if status == 200 else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    ready.send((server.server_address[1], sum(len(text) for texts in found.values() for text in texts)))
    server.serve_forever()


MEASURED = """
import resource, sys, time
place = sys.argv.pop()
from dra_plan.main import run
started = time.monotonic()
try:
    run()
except SystemExit as left:
    status = left.code
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
spent = [sum(used[:2]) for used in (own, others)]
print(status, time.monotonic() - started, *spent, own.ru_maxrss // 1024, file=open(place, "w"))
"""


def measure(name: str, *arguments: str, folder: Path) -> int:
    """Runs a command, prints its figures, and gives the peak of its memory in MB."""
    figures = folder / "figures"
    subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments, str(figures)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    status, wall, own, others, peak = figures.read_text(encoding="utf-8").split()
    print(
        f"{name:<26} {float(wall):6.1f} s wall clock  {float(own):6.1f} s dra-plan  {float(others):6.1f} s kubectl"
        f"  {peak:>5} MB  exit {status}"
    )
    return int(peak)


def main() -> int:
    """Print the figures; the exit status is 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", nargs="?", type=int, default=5_000)
    parser.add_argument("pods", nargs="?", type=int, default=30_000)
    given = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(given.nodes, given.pods, theirs), daemon=True)
    server.start()
    port, size = ours.recv()
    print(f"{given.nodes:,} nodes, {given.pods:,} pods: the server sends {size >> 20} MB")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "kubeconfig"
        address = f"127.0.0.1:{port}"  # kubectl takes that for HTTP
        config.write_text(
            json.dumps(
                {
                    "clusters": [{"name": "c", "cluster": {"server": address}}],
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
                    "current-context": "c",
                }
            ),
            encoding="utf-8",
        )
        live = ["--kubeconfig", str(config)]
        kept = str(folder / "cluster.json.gz")
        peaks = [
            measure("snapshot -o FILE.json.gz", "snapshot", "-o", kept, *live, folder=folder),
            measure("explain --live pod/NAME", "explain", f"pod/{PENDING}", *live, folder=folder),
            measure("explain FILE.json.gz", "explain", kept, f"pod/{PENDING}", folder=folder),
        ]
        print(f"the snapshot has {Path(kept).stat().st_size >> 10:,} KB")
    server.terminate()
    return int(max(peaks) > 600)


if __name__ == "__main__":
    sys.exit(main())
