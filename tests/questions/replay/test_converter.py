"""The example that makes a cluster and events of CSV files, on files of its own."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT, in_process

NODES = """sn,cpu_milli,memory_mib,gpu,model
a,16000,65536,2,T4
b,8000,32768,0,
"""
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
whole,2000,1024,2,1000,T4,LS,Running,0,100,0
half,1000,1024,1,500,,LS,Running,10,160,110
never,1000,1024,1,1000,V100,LS,Pending,20,50,
plain,1000,1024,0,0,,BE,Running,30,40,30
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "pods.csv").write_text(PODS)
    return tmp_path


def convert(files: Path, *options: str, nodes: str = "nodes.csv") -> None:
    names = [str(files / name) for name in (nodes, "pods.csv", "cluster.json", "events.jsonl")]
    subprocess.run([sys.executable, str(ROOT / "examples/openb/convert.py"), *names, *options], check=True)


def test_pods_come_and_go_as_they_did(files: Path) -> None:
    convert(files)
    ran = in_process("replay", str(files / "cluster.json"), str(files / "events.jsonl"), "-o", "json")
    [run] = json.loads(ran.out)["runs"]
    assert {pod["name"]: (pod["arrived"], pod["bound"], pod["ended"]) for pod in run["pods"]} == {
        "whole": (0, 0, 100),
        "half": (10, 100, 150),
        "never": (20, None, 50),
        "plain": (30, 30, 40),
    }


def test_a_load_is_drawn_and_never_ends(files: Path) -> None:
    convert(files, "--load", "1.5", "--seed", "3")
    steps = [json.loads(line) for line in (files / "events.jsonl").read_text().splitlines()]
    assert [step["time"] for step in steps] == list(range(len(steps)))
    assert not any("runs" in step for step in steps)
    before = (files / "events.jsonl").read_text()
    convert(files, "--load", "1.5", "--seed", "3")
    assert (files / "events.jsonl").read_text() == before
    convert(files, "--load", "1.5", "--seed", "4")
    assert (files / "events.jsonl").read_text() != before


def test_a_smaller_fleet_has_every_nth_node_and_packed_files_are_read(files: Path) -> None:
    with gzip.open(files / "nodes.csv.gz", "wt") as packed:
        packed.write(NODES + "c,8000,32768,1,T4\nd,8000,32768,1,T4\ne,8000,32768,4,T4\n")
    convert(files, "--one-node-in", "2", nodes="nodes.csv.gz")
    items = json.loads((files / "cluster.json").read_text())["items"]
    assert [item["metadata"]["name"] for item in items if item["kind"] == "Node"] == ["a", "c", "e"]
    assert len((files / "events.jsonl").read_text().splitlines()) == 5
