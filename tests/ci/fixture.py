"""A project as the examples expect it: a recorded cluster, manifests, and dra-plan on PATH."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from tests import limits
from tests.cli.running import ROOT

QUICKSTART = ROOT / "fixtures" / "quickstart"


def project(folder: Path, *, fits: bool, changed: tuple[str, str] | None = None, added: str = "") -> Path:
    """The project in `folder`. With `fits` false, a change asks for more GPUs than any node has.

    `changed` is a text of the manifests and what it becomes, `added` another manifest.
    """
    for name in ("cluster", "manifests"):
        (folder / name).mkdir(parents=True)
    shutil.copy(QUICKSTART / "cluster.yaml", folder / "cluster" / "recorded.yaml")
    text = (QUICKSTART / "workloads.yaml").read_text(encoding="utf-8")
    assert text.count("count: 2") == 1
    assert text.count("replicas: 2") == 1  # of which the cluster has room for one, beside the pod
    text = text.replace("replicas: 2", "replicas: 1")
    text = text if fits else text.replace("count: 2", "count: 3")
    if changed is not None:
        assert changed[0] in text
        text = text.replace(*changed, 1)
    (folder / "manifests" / "workloads.yaml").write_text(text + added, encoding="utf-8")
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment whose `dra-plan` is this tree's."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    program = tools / "dra-plan"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dra_plan "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(folder), **more}


def run(script: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The script as a CI system runs it: by a shell that ends at the first failure."""
    return limits.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=environment(folder, **more),
        capture_output=True,
    )
