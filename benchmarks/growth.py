"""What grows with the nodes: `pools`, `allocate` and `explain POD` from 1,000 to 65,000 nodes, time and memory.

    python benchmarks/growth.py            all sizes
    python benchmarks/growth.py SIZE...    these sizes

Whole processes, one run each, processor time; "of linear" is the time beside that of 5,000 nodes, by the number of
nodes. 65,000 nodes are a file of half a gigabyte. Targets: at most 1.2 of linear from 5,000 nodes on, under 4 GB.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from fleet import Cost, cost, objects

SIZES = (1000, 5000, 20000, 65000)
USUAL = 5000
COMMANDS = (("pools",), ("allocate",), ("explain", "pod/trainer"))


def write(nodes: int, file: Path) -> None:
    """Writes a fleet with a pod that uses the claim which waits there."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "trainer", "namespace": "default"},
        "spec": {
            "containers": [{"name": "main", "image": "registry.example.org/train:1"}],
            "resourceClaims": [{"name": "devices", "resourceClaimName": "train"}],
        },
    }
    with file.open("w", encoding="utf-8") as opened:
        opened.write('{"apiVersion": "v1", "kind": "List", "items": [')
        opened.writelines(json.dumps(each) + ",\n" for each in objects(nodes))
        opened.write(json.dumps(pod) + "]}")


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        write(int(sys.argv[2]), Path(sys.argv[3]))
        return
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    names = [" ".join(command) for command in COMMANDS]
    print(f"| nodes | {' | '.join(f'`{name}` | of linear | memory' for name in names)} |")
    print(f"|---:|{'---:|---:|---:|' * len(names)}")
    found: dict[int, list[Cost]] = {}
    for size in sorted(sizes, key=lambda size: size != USUAL):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "fleet.json"
            subprocess.run([sys.executable, __file__, "--write", str(size), str(file)], check=True)
            found[size] = [cost("-m", "dra_plan", name, str(file), *rest) for name, *rest in COMMANDS]
    for size in sorted(sizes):
        cells = []
        for at, measured in enumerate(found[size]):
            linear = measured.seconds / found[USUAL][at].seconds * USUAL / size if USUAL in found else 0.0
            cells.append(f"{measured.seconds:.1f} s | {linear:.2f} | {measured.megabytes:.0f} MB")
        print(f"| {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
