"""What is shipped: the package and its schemas, and nothing else; and that it works where nothing else is."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.cli.running import ROOT, dra_plan, environment


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as a release would be: from a copy of the tree without what git ignores."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "dra_plan", source / "dra_plan", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(source / "dist")]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = (source / "dist").iterdir()
    return built


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    package = [name for name in names if not name.split("/")[0].endswith(".dist-info")]
    there = [path for path in (ROOT / "dra_plan").rglob("*") if path.is_file() and path.suffix != ".ts"]
    there = [path for path in there if "__pycache__" not in path.parts]
    assert sorted(package) == sorted(path.relative_to(ROOT).as_posix() for path in there)
    assert {Path(name).suffix for name in package} == {".py", ".json", ".toml", ".typed", ".html", ".css", ".js"}
    assert all(name.startswith("dra_plan/schemas/") for name in package if name.endswith(".json"))
    assert all(name.startswith("dra_plan/validation/examples/") for name in package if name.endswith(".toml"))
    assert sorted(name.split("/", 1)[1] for name in names if name not in package) == [
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    ]


def test_entry_points(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        text = archive.read(name).decode()
    assert "dra-plan = dra_plan.main:run" in text
    assert "kubectl-dra_plan = dra_plan.main:run_plugin" in text
    assert "kubectl_complete-dra_plan = dra_plan.main:complete_plugin" in text


def interpreter(version: str) -> str | None:
    """An interpreter of that version that can make environments: on PATH, or kept by pyenv."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = [shutil.which(f"python{version}"), *sorted(kept.glob(f"{version}.*/bin/python{version}"))]
    for candidate in (str(path) for path in found if path):
        check = [
            candidate,
            "-c",
            f"import sys, ensurepip; sys.exit(sys.version_info[:2] != ({version.replace('.', ', ')}))",
        ]
        if subprocess.run(check, capture_output=True, check=False).returncode == 0:
            return candidate
    return None


QUESTIONS = {
    "allocate": ["allocate", "fixtures/quickstart"],
    "pools": ["pools", "fixtures/mig", "-o", "wide"],
    "explain": ["explain", "fixtures/nic-bandwidth", "half"],
    "schedule": ["schedule", "fixtures/quickstart"],
    "validate": ["validate", "fixtures/quickstart"],
    "cel": ["cel", 'device.attributes["gpu.example.com"].model.matches("a.*")'],
    "schema": ["schema", "PoolList"],
    "completion": ["completion", "bash"],
}
"""One question to every command; what it says must not depend on what else is installed."""


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_installed_alone_it_does_the_main_job(version: str, wheel: Path, tmp_path: Path) -> None:
    """In an environment with nothing but pip; from the index that pip is set up for."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    place = tmp_path / "env"
    subprocess.run([python, "-m", "venv", str(place)], check=True, capture_output=True)
    folder = place / ("Scripts" if sysconfig.get_platform().startswith("win") else "bin")
    pip = [str(folder / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    kept = environment()
    del kept["PYTHONPATH"]

    def said(*command: str) -> tuple[int, str, str]:
        done = subprocess.run(command, capture_output=True, text=True, env=kept, cwd=tmp_path, check=False)
        return done.returncode, done.stdout, done.stderr

    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    expected = (ROOT / "fixtures" / "expected" / "quickstart.txt").read_text(encoding="utf-8")
    for program in (
        [str(folder / "dra-plan")],
        [str(folder / "kubectl-dra_plan")],
        [str(folder / "python"), "-m", "dra_plan"],
    ):
        assert said(*program, "allocate", "fixtures/quickstart") == (0, expected, "")
    for command, arguments in QUESTIONS.items():
        assert said(str(folder / "dra-plan"), *arguments) == tuple(dra_plan(*arguments)), command
