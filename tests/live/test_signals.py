"""Whatever ends a reading, no kubectl outlives it; and what a server may answer is an error, never a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dra_plan.live.kubectl import Kubectl, RequestError
from tests.cli.running import ROOT, in_process

PATIENCE = 20.0
"""Seconds within which something has to be so; it usually is within one."""
PAUSE = 0.05
VERSION = '{"major":"1","minor":"36","gitVersion":"v1.36.3"}'


def fake(folder: Path, *lines: str) -> str:
    """A kubectl that says its version and does this for every other request, whose path is $path."""
    program = folder / "kubectl"
    head = ["#!/bin/sh", 'path="$3"', f"""[ "$path" = /version ] && {{ echo '{VERSION}'; exit 0; }}"""]
    program.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def hanging(folder: Path) -> str:
    """A kubectl that started a helper, as for a login, and waits for it; the helper's pid is in a file."""
    return fake(folder, "sleep 600 &", f'echo $! >> "{folder}/pids"', "wait")


def pids(folder: Path) -> list[int]:
    path = folder / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def until(holds: Callable[[], bool]) -> bool:
    for _ in range(round(PATIENCE / PAUSE)):
        if holds():
            return True
        time.sleep(PAUSE)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc for what still runs")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_kubectl_and_what_it_started(number: int, status: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dra_plan", "pools", "--live"]
    env = {**os.environ, "KUBECTL_PATH": hanging(tmp_path)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and hands that on
    with subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as ran:
        assert until(lambda: pids(tmp_path))
        ran.send_signal(number)
        assert ran.wait(PATIENCE) == status
    assert until(lambda: not any(runs(pid) for pid in pids(tmp_path)))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc for what still runs")
def test_a_time_limit_ends_kubectl(tmp_path: Path) -> None:
    ran = in_process("pools", "--live", "--timeout", "1", KUBECTL_PATH=hanging(tmp_path))
    assert ran.status == 3
    assert "--timeout" in ran.err
    assert pids(tmp_path)
    assert until(lambda: not any(runs(pid) for pid in pids(tmp_path)))


def test_an_answer_that_drips_is_given_up(tmp_path: Path) -> None:
    asked = Kubectl(program=fake(tmp_path, "while :; do printf ' '; sleep 0.05; done"), silence=2, total=0.5)
    with pytest.raises(RequestError, match=r"the response took more than 0.5 s"):
        asked.get("/api/v1/nodes")


def test_after_stop_nothing_is_asked(tmp_path: Path) -> None:
    asked = Kubectl(program=fake(tmp_path, "exit 1"))
    assert asked.get("/version")
    asked.stop()
    with pytest.raises(RequestError, match="stopped"):
        asked.get("/version")


DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize(
    "body",
    [
        b'{"groups":[],"x":' + DEEP.encode() + b"}",
        b'{"groups":' + DEEP.encode() + b"}",
        b'{"groups":[{"name":"\xff"}]}',
    ],
    ids=["deep where nobody looks", "deep", "not UTF-8"],
)
@pytest.mark.parametrize("path", ["/apis", "/version", "/apis/resource.k8s.io/v1", "/api/v1/nodes?limit=500"])
def test_answers_that_are_none(path: str, body: bytes, tmp_path: Path) -> None:
    """An error that names the answer; where other versions can be asked for instead, no word is needed."""
    (tmp_path / "body").write_bytes(body)
    (tmp_path / "apis").write_text('{"groups":[{"name":"resource.k8s.io","versions":[{"version":"v1"}]}]}')
    lines = [
        f'[ "$path" = "{path}" ] && exec cat "{tmp_path}/body"',
        f'[ "$path" = /apis ] && exec cat "{tmp_path}/apis"',
        "echo 'Error from server (Forbidden): no' >&2; exit 1",
    ]
    program = fake(tmp_path, *lines)
    if path == "/version":
        text = Path(program).read_text(encoding="utf-8")
        Path(program).write_text(text.replace('[ "$path" = /version ]', "false", 1), encoding="utf-8")
    ran = in_process("pools", "--live", KUBECTL_PATH=program)
    assert ran.status == 2, ran.err
    assert "Traceback" not in ran.err
    assert ran.err.startswith("error: ")
