"""What a release ships besides the program: a wheel that anyone can build again, and its bill of materials."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import ROOT

INPUTS = ("pyproject.toml", "README.md", "LICENSE")


def build(folder: Path, *, mode: int, time: int) -> bytes:
    """A wheel built in `folder` from files with that mode and time."""
    folder.mkdir()
    for name in INPUTS:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "dra_plan", folder / "dra_plan", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(mode)
            os.utime(path, (time, time))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONHASHSEED": str(time % 1000)}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    (wheel,) = (folder / "dist").iterdir()
    return wheel.read_bytes()


@pytest.mark.long
def test_the_wheel_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    first = build(tmp_path / "here", mode=0o600, time=1_600_000_000)
    second = build(tmp_path / "and-elsewhere", mode=0o664, time=1_800_000_000)
    assert first == second


def sbom(folder: Path) -> bytes:
    target = folder / "sbom.json"
    tool = [sys.executable, "-m", "cyclonedx_py", "requirements", "--pyproject", str(ROOT / "pyproject.toml")]
    options = [
        "--output-reproducible",
        "--validate",
        "--of",
        "JSON",
        "-o",
        str(target),
        str(ROOT / "requirements.lock"),
    ]
    subprocess.run([*tool, *options], check=True, capture_output=True)
    return target.read_bytes()


def test_the_bill_of_materials_lists_what_users_get(tmp_path: Path) -> None:
    """The tool validates it against the schema of CycloneDX; here is what the schema can't say."""
    document: dict[str, Any] = json.loads(sbom(tmp_path))
    assert "serialNumber" not in document, "the same text every time"
    assert "timestamp" not in document["metadata"]
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "dra-plan"
    locked = re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted((part["name"], part["version"]) for part in document["components"]) == sorted(locked)


def test_make_builds_it_so() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "wheel: export SOURCE_DATE_EPOCH" in makefile
    assert "cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible" in makefile
