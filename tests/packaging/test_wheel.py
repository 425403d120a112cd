"""What is shipped: the package and its schemas, and nothing else; and that it works where nothing else is."""

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.cli.running import ROOT, environment


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
    there = [path for path in (ROOT / "dra_plan").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sorted(package) == sorted(path.relative_to(ROOT).as_posix() for path in there)
    assert {Path(name).suffix for name in package} == {".py", ".json", ".typed"}
    assert all(
        name.startswith(("dra_plan/schemas/", "dra_plan/output/schemas/")) for name in package if name.endswith(".json")
    )
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
    assert "dra-plan = dra_plan.cli.main:run" in text
    assert "kubectl-dra_plan = dra_plan.cli.main:run" in text


@pytest.mark.long
def test_installed_alone_it_does_the_main_job(wheel: Path, tmp_path: Path) -> None:
    """In an environment with nothing but pip; from the index that pip is set up for."""
    place = tmp_path / "env"
    venv.create(place, with_pip=True, symlinks=True)
    folder = place / ("Scripts" if sysconfig.get_platform().startswith("win") else "bin")
    pip = [str(folder / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    kept = environment()
    del kept["PYTHONPATH"]
    for program in ("dra-plan", "kubectl-dra_plan"):
        command = [str(folder / program), "allocate", str(ROOT / "fixtures" / "quickstart")]
        done = subprocess.run(command, capture_output=True, text=True, env=kept, cwd=tmp_path, check=True)
        assert done.stdout == (ROOT / "fixtures" / "expected" / "quickstart.txt").read_text(encoding="utf-8")
