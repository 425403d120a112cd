"""The plugin as krew installs it: built, unpacked, linked, and run where nothing else is."""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from scripts import krew, plugin
from tests import limits
from tests.cli.running import ROOT, Ran, in_process
from tests.packaging.krew_rules import faults, matching
from tests.packaging.test_wheel import interpreter

from .replay import Answers, InProcess, kubeconfig, served

pytestmark = pytest.mark.long

TIME = 1_700_000_000
MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def here() -> plugin.Target:
    """This machine, in krew's words."""
    found = plugin.Target(platform.system().lower(), MACHINES.get(platform.machine(), platform.machine()))
    if found not in plugin.TARGETS:
        pytest.skip(f"there is no plugin for {'/'.join(found)}")
    return found


class Built(NamedTuple):
    """What `make plugin` makes for this machine."""

    archive: Path
    wheels: Path
    manifest: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder, wheels = tmp_path_factory.mktemp("plugin"), tmp_path_factory.mktemp("wheels")
    archive = folder / krew.archive_name(*here())
    plugin.fetch(here(), wheels)
    digest = plugin.build(here(), wheels, archive, TIME)
    path = folder / "dra-plan.yaml"
    path.write_text(krew.text(krew.manifest({here(): digest}, "https://example.com/x")), encoding="utf-8")
    return Built(archive, wheels, path)


class Installed(NamedTuple):
    """Folders of an installation: the one that is on PATH, and a home that was empty."""

    bin: Path
    home: Path

    def run(self, *command: str, cwd: Path, **env: str) -> Ran:
        """Runs a program with nothing in its environment but these."""
        kept = {"PATH": str(self.bin), "HOME": str(self.home), **env}
        done = limits.run([str(self.bin / command[0]), *command[1:]], cwd=cwd, env=kept, capture_output=True)
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """As krew does it: the sum is checked, the archive unpacked, and `bin` linked as kubectl-NAME.

    Beside the link PATH has one Python, this one without its packages, and next to nothing else.
    """
    manifest = yaml.safe_load(built.manifest.read_text(encoding="utf-8"))
    assert faults(manifest, built.manifest.name) == []
    (chosen,) = matching(manifest, *here())
    assert chosen["uri"].rpartition("/")[2] == built.archive.name
    root = tmp_path_factory.mktemp("krew")
    store, place = root / "store" / manifest["metadata"]["name"] / manifest["spec"]["version"], root / "bin"
    store.mkdir(parents=True)
    place.mkdir()
    with tarfile.open(built.archive) as archive:
        archive.extractall(store, filter="data")
    assert sorted(path.name for path in store.iterdir()) == ["LICENSE", krew.BIN]
    name = "kubectl-" + manifest["metadata"]["name"].replace("-", "_")
    (place / name).symlink_to(os.path.relpath(store / chosen["bin"], place))
    _link(Path(getattr(sys, "_base_executable", sys.executable)), place)
    home = root / "home"
    home.mkdir()
    return Installed(place, home)


def _link(python: Path, folder: Path) -> None:
    """Makes an interpreter be the `python3` of a folder, without what an environment adds to it.

    PEX asks ldd which libc there is.
    """
    (folder / "python3").symlink_to(python.resolve())
    ldd = shutil.which("ldd")
    if ldd is not None:
        (folder / "ldd").symlink_to(ldd)


def test_the_sum_is_that_of_the_archive(built: Built) -> None:
    import hashlib

    (chosen,) = yaml.safe_load(built.manifest.read_text(encoding="utf-8"))["spec"]["platforms"]
    assert chosen["sha256"] == hashlib.sha256(built.archive.read_bytes()).hexdigest()


def test_another_build_gives_the_same_bytes(built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another home, caches that are empty, and other rights for new files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = os.umask(0o077)
    try:
        plugin.build(here(), built.wheels, tmp_path / "again.tar.gz", TIME)
    finally:
        os.umask(before)
    assert (tmp_path / "again.tar.gz").read_bytes() == built.archive.read_bytes()


def test_it_needs_nothing_but_python(installed: Installed, tmp_path: Path) -> None:
    """No site packages, another folder, an empty home; data files and several processes work too."""
    shutil.copytree(ROOT / "fixtures" / "quickstart", tmp_path / "fixtures" / "quickstart")
    run = functools.partial(installed.run, krew.BIN, cwd=tmp_path)
    expected = (ROOT / "fixtures" / "expected" / "quickstart.txt").read_text(encoding="utf-8")
    assert run("allocate", "fixtures/quickstart") == (0, expected, "")
    assert run("allocate", "--jobs", "2", "fixtures/quickstart").status == 0
    page = run("explain", "fixtures/quickstart", "--report", "html=page.html")
    assert (page.status, page.err) == (0, "")
    assert (tmp_path / "page.html").stat().st_size > 50_000
    assert run("schema", "PoolList").status == run("rule", "DRA230").status == 0
    assert run("--help").out.startswith("Usage: kubectl dra-plan [OPTIONS] COMMAND")


def test_packages_of_the_machine_do_not_reach_it(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('not this one')\n")
    ran = installed.run(krew.BIN, "pools", str(ROOT / "fixtures" / "mig"), cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert (ran.status, ran.err) == (0, "")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_each_python_finds_its_own_wheels(version: str, installed: Installed, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    _link(Path(python), tmp_path)
    ran = installed.run(krew.BIN, "pools", str(ROOT / "fixtures" / "mig"), cwd=tmp_path, PATH=str(tmp_path))
    assert (ran.status, ran.err) == (0, "")
    assert "a100" in ran.out


def test_kubectl_starts_it_and_the_cluster_is_asked(installed: Installed, kubectl: str, tmp_path: Path) -> None:
    """`kubectl dra-plan explain pod/x` answers as on a file of the same objects; x is in the context's namespace."""
    from dra_plan.live import snapshot

    snapshot.read(InProcess(Answers())).write(tmp_path / "snapshot.json")
    kept = in_process("explain", str(tmp_path / "snapshot.json"), "pod/too-big", "-n", "team-a", "-o", "json")
    link = installed.bin / "kubectl"
    if not link.exists():
        link.symlink_to(Path(kubectl).resolve())
    with served(Answers()) as address:
        ran = installed.run(
            *("kubectl", "dra-plan", "explain", "pod/too-big", "-o", "json"),
            cwd=tmp_path,
            KUBECONFIG=kubeconfig(tmp_path, address, "team-a"),
        )
    assert ran.status == kept.status == 0
    live, dumped = json.loads(ran.out), json.loads(kept.out)
    assert [each["owner"]["name"] for each in live["claimSets"]] == ["too-big"]
    assert live["claimSets"] == dumped["claimSets"]
    assert live["target"] == dumped["target"]
