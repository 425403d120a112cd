"""Pods that ask for the same: what 3, 30 and 300 of them cost `allocate` and `explain` on a fleet of accelerators.

    python benchmarks/alike.py            1,000 nodes
    python benchmarks/alike.py NODES      as many

Whole processes, processor time, each the quickest of three runs. Target: 300 pods cost what 3 cost, plus what is
printed (`-o json` lists every node of every pod).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pods import objects

ROOT = Path(os.environ.get("CHECKOUT", Path(__file__).parents[1]))
PODS = (3, 30, 300)
COMMANDS = (("allocate",), ("allocate", "-o", "json"), ("explain",))
RUNS = 3


def seconds(file: Path, command: str, *options: str) -> float:
    """Processor time of the quickest run."""
    arguments = [sys.executable, "-m", "dra_plan", command, str(file), *options]
    times = []
    for _ in range(RUNS):
        process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        times.append(used.ru_utime + used.ru_stime)
    return min(times)


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"| {nodes} nodes, pods | {' | '.join('`' + ' '.join(command) + '`' for command in COMMANDS)} |")
    print("|---:|" + "---:|" * len(COMMANDS))
    for pods in PODS:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "input.json"
            file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects(nodes, pods)}))
            figures = [f"{seconds(file, *command):.2f} s" for command in COMMANDS]
        print(f"| {pods} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
