"""Warnings that people can live with: codes that are left out, notes that no gate counts, quiet runs."""

from pathlib import Path

import pytest

from dra_plan import Cluster
from tests.build import device, gpus, node, pod, slice_

from .running import ROOT, in_process

UPGRADE = str(ROOT / "fixtures" / "upgrade")
CODES = ("taint-rules-ignored", "upstream-defect")


def test_codes_that_are_ignored_are_not_told_and_not_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert in_process("allocate", UPGRADE, "--fail-on", "warning").status == 1
    one = in_process("allocate", UPGRADE, "--fail-on", "warning", "--ignore-warning", CODES[0])
    assert (one.status, CODES[0] in one.err, CODES[1] in one.err) == (1, False, True)
    both = in_process("allocate", UPGRADE, "--fail-on", "warning", "--ignore-warning", ",".join(CODES), "-o", "json")
    assert (both.status, both.err) == (0, "")
    assert '"warnings": []' in both.out


@pytest.mark.parametrize("command", ["allocate", "explain", "schedule", "place", "capacity", "pools"])
def test_a_project_may_ignore_them_too(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".dra-plan.toml").write_text(f"ignore-warnings = {list(CODES)}\n")
    assert "warning: " not in in_process(command, UPGRADE).err


def test_in_python() -> None:
    cluster = Cluster.load(UPGRADE)
    assert {one.code for one in cluster.allocate().document.warnings} == set(CODES)
    assert not cluster.ignoring(*CODES).cordon("gpu-a").allocate().document.warnings
    assert not cluster.ignoring(*CODES).diff(cluster).document.warnings


def test_facts_about_a_release_are_notes_that_no_gate_counts() -> None:
    alone = Cluster.of([*gpus("a", "b"), pod("p")], kubernetes_version="1.35").allocate()
    assert not alone.document.warnings  # each node has one slice: the order does not matter
    shared = slice_("shared", device("g"), allNodes=True)
    several = Cluster.of([*gpus("a"), shared, pod("p")], kubernetes_version="1.35").allocate().document.warnings
    assert [(one.code, one.is_note) for one in several] == [("order-random-upstream", True)]
    tied = Cluster.of([*gpus("a", "b"), pod("p")]).schedule().document.warnings
    assert [(one.code, one.is_note) for one in tied] == [("several-best-nodes", True)]


def test_a_quiet_run_tells_the_gate_alone() -> None:
    quiet = in_process("allocate", UPGRADE, "--fail-on", "warning", "-q")
    assert quiet.status == 1
    (line,) = quiet.err.splitlines()
    assert line.startswith("gate failed: ")
    assert "warning: " in in_process("allocate", UPGRADE).err  # the next run is told again


def test_devices_that_a_node_offers_twice() -> None:
    driver = gpus("a")[-1]["spec"]["driver"]
    vendor, name = driver.partition(".")[2], driver.partition(".")[0]
    twice = node("a", **{f"{vendor}/{name}": "2"})
    none = node("a", **{f"{vendor}/{name}": "0"})
    rest = [one for one in gpus("a") if one["kind"] != "Node"]
    for first, told in ((twice, True), (none, False), (node("a"), False)):
        cluster = Cluster.of([first, *rest, pod("p")])
        for answer in (cluster.allocate(), cluster.schedule(), cluster.place(), cluster.capacity(limit=1)):
            assert ("devices-twice" in {one.code for one in answer.document.warnings}) is told
