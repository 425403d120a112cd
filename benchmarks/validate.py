"""`validate` of 1,000 objects in one file: seconds of processor time, start-up included.

    python benchmarks/validate.py                       the table
    python benchmarks/validate.py --write FOLDER        only writes the inputs
    python benchmarks/validate.py FILE...               other inputs

The fleet is that of `fleet.py`, correct. The mixed objects are of all kinds that are judged, many of them wrong in some
way. Whole processes, the quicker of two runs. Target: 1,000 objects in under 1 s, the small documents in under 5 s.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from fleet import GPU, fleet

ROOT = Path(__file__).parents[1]
DRA = "resource.k8s.io/v1"
OBJECTS = 1000
SMALL = 200_000
Value = dict[str, Any]


def _made(kind: str, number: int, spec: Value, api: str = DRA, **metadata: Any) -> Value:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": f"{kind.lower()}-{number}", **metadata},
        "spec": spec,
    }


def _request(choose: random.Random, number: int) -> Value:
    expressions = [
        f'device.attributes["{GPU}"].model == "H100"',
        f'device.attributes["{GPU}"].index < {number % 8}',
        f'device.capacity["{GPU}"].memory.compareTo(quantity("{number % 90}Gi")) >= 0',
        f'device.capacity["{GPU}"].memory >= quantity("{number % 7}Gi")',
        f'device.attributes["{GPU}"].modle.startsWith("H")',
    ]
    asked: Value = {"deviceClassName": choose.choice([GPU, GPU, "missing"]), "count": choose.choice([1, 2, 4, 40])}
    if choose.random() < 0.5:
        asked["selectors"] = [{"cel": {"expression": choose.choice(expressions)}}]
    name = choose.choice(["gpu", "gpu", "gpu", "A B"])
    return {"name": name, "exactly": asked} if choose.random() < 0.9 else {"name": name, **asked}


def _claim(choose: random.Random, number: int) -> Value:
    return {"devices": {"requests": [_request(choose, number) for _ in range(choose.choice([1, 1, 2]))]}}


def _slice(choose: random.Random, number: int) -> Value:
    node = f"node-{number}"
    devices = []
    for index in range(8):
        attributes: Value = {
            "model": {"string": choose.choice(["H100", "A100"])},
            "index": {"int": index},
            "uuid": {"string": f"GPU-{choose.getrandbits(64):016x}"},
            "driverVersion": {"version": choose.choice(["550.54.15", "570.124.6", "570"])},
        }
        devices.append({"name": f"gpu-{index}", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}})
    pool = {"name": node, "generation": 1, "resourceSliceCount": choose.choice([1, 1, 1, 2])}
    return {"driver": GPU, "nodeName": node, "pool": pool, "devices": devices}


def _pod(choose: random.Random, number: int) -> Value:
    claims = [{"name": "gpu", "resourceClaimTemplateName": f"resourceclaimtemplate-{number % 400}"}]
    container: Value = {"name": "main", "image": "registry.example.org/w:1"}
    if choose.random() < 0.8:
        container["resources"] = {"claims": [{"name": "gpu", "request": choose.choice(["gpu", "gpus"])}]}
    return {"containers": [container], "resourceClaims": claims}


def mixed(number: int = OBJECTS) -> list[Value]:
    """So many objects of all kinds; the same for the same number."""
    choose = random.Random(1)
    found: list[Value] = []
    for index in range(number):
        kind = choose.choice(["claim", "claim", "template", "template", "slice", "pod", "deployment", "class", "rule"])
        if kind == "claim":
            api = choose.choice([DRA, DRA, "resource.k8s.io/v1beta2"])
            found.append(_made("ResourceClaim", index, _claim(choose, index), api, namespace="team"))
        elif kind == "template":
            made = {"spec": _claim(choose, index)}
            found.append(_made("ResourceClaimTemplate", index, made, namespace="team"))
        elif kind == "slice":
            found.append(_made("ResourceSlice", index, _slice(choose, index)))
        elif kind == "pod":
            found.append(_made("Pod", index, _pod(choose, index), "v1", namespace="team"))
        elif kind == "deployment":
            labels = {"app": f"app-{index}"}
            template = {"metadata": {"labels": labels}, "spec": _pod(choose, index)}
            made = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
            found.append(_made("Deployment", index, made, "apps/v1", namespace="team"))
        elif kind == "class":
            expression = choose.choice([f'device.driver == "{GPU}"', f'device.drivr == "{GPU}"'])
            found.append(_made("DeviceClass", index, {"selectors": [{"cel": {"expression": expression}}]}))
        else:
            made = {
                "deviceSelector": {"driver": GPU},
                "taint": {"key": "example.org/broken", "effect": choose.choice(["NoExecute", "Never"])},
            }
            found.append(_made("DeviceTaintRule", index, made, "resource.k8s.io/v1beta2"))
    return found


def write(folder: Path) -> Iterator[tuple[str, Path]]:
    """The inputs, with what they are."""
    objects = fleet(200)["items"][:OBJECTS]
    every = {"fleet": objects, "mixed objects": mixed()}
    for name, items in every.items():
        as_json, as_yaml = folder / f"{name.split()[0]}.json", folder / f"{name.split()[0]}.yaml"
        as_json.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
        yield f"{len(items)} of the {name}, JSON", as_json
        text = "---\n".join(yaml.dump(item, Dumper=yaml.CSafeDumper, sort_keys=False) for item in items)
        as_yaml.write_text(text, encoding="utf-8")
        yield f"{len(items)} of the {name}, YAML", as_yaml
    small = folder / "small.yaml"
    small.write_text(
        "---\n".join(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: n-{i}}}\n" for i in range(SMALL))
    )
    yield f"{SMALL:,} small documents, YAML", small


def measured(file: Path) -> tuple[float, float, str]:
    """Seconds of processor time, MiB, and the last line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dra_plan", "validate", str(file), "-o", "short"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    out = process.stdout.read() if process.stdout is not None else b""
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, str(out.count(b"\n"))


def main() -> None:
    if "--write" in sys.argv:
        for _ in write(Path(sys.argv[-1])):
            pass
        return
    print("| input | MB | lines of findings | seconds | MiB |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, file in [(name, Path(name)) for name in sys.argv[1:]] or write(Path(folder)):
            runs = [measured(file) for _ in range(2)]
            (seconds, _, lines), peak = min(runs), max(run[1] for run in runs)
            size = file.stat().st_size / 1e6
            print(f"| {name} | {size:.1f} | {lines} | {seconds:.2f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
