"""kubectl's plugin as one file for each platform, in an archive, and krew's manifest of them: `make plugin`.

    python -m scripts.plugin dist/plugin                               all platforms
    python -m scripts.plugin dist/plugin --platform linux/amd64        one
    python -m scripts.plugin dist/plugin --from https://example.com/x  where the archives will lie

Each file is a PEX (docs/decisions/0022-pex.md) with the wheels of requirements.lock, checked by their hashes, for every
Python that dra-plan supports. The same commit gives the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging import tags

from dra_plan import __version__
from scripts import krew

ROOT = Path(__file__).parents[1]
MINORS = (11, 12, 13)
"""Python 3.x, each with wheels of its own in the file."""
ENTRY = "dra_plan.main:run_plugin"

_NEWEST_GLIBC, _OLDEST_GLIBC = 28, 17
_MACOS = (14, 0)
_EARLIEST = 315_532_800
"""1980-01-01: archives can't tell an earlier time."""


class Target(NamedTuple):
    """A platform, in the words of Go, which krew uses."""

    system: str
    machine: str

    @property
    def own_machine(self) -> str:
        """What the platform itself calls its processor."""
        names = {("linux", "amd64"): "x86_64", ("linux", "arm64"): "aarch64", ("darwin", "amd64"): "x86_64"}
        return names.get(self, self.machine)

    def wheels(self) -> list[str]:
        """The platform tags of wheels that run there, best first: glibc 2.28 or newer, macOS 14 or newer."""
        if self.system == "darwin":
            return list(tags.mac_platforms(_MACOS, self.own_machine))
        versions = range(_NEWEST_GLIBC, _OLDEST_GLIBC - 1, -1)
        names = [*(f"manylinux_2_{version}" for version in versions), "manylinux2014", "linux"]
        return [f"{name}_{self.own_machine}" for name in names]

    def complete(self, minor: int) -> dict[str, Any]:
        """The platform with one Python, as PEX wants to be told of it."""
        interpreter, platforms = f"cp3{minor}", self.wheels()
        compatible = [
            *tags.cpython_tags((3, minor), [interpreter], platforms),
            *tags.compatible_tags((3, minor), interpreter, platforms),
        ]
        markers = {
            "implementation_name": "cpython",
            "os_name": "posix",
            "platform_machine": self.own_machine,
            "platform_python_implementation": "CPython",
            "platform_system": self.system.capitalize(),
            "python_full_version": f"3.{minor}.0",
            "python_version": f"3.{minor}",
            "sys_platform": self.system,
        }
        return {"marker_environment": markers, "compatible_tags": [str(tag) for tag in compatible]}


TARGETS = tuple(Target(system, machine) for system in ("darwin", "linux") for machine in ("amd64", "arm64"))


def time_of_commit() -> int:
    """What everything in the archive is dated: SOURCE_DATE_EPOCH, or the time of the last commit."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if not told:
        asked = subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        told = asked.stdout.strip() if asked.returncode == 0 else ""
    return max(int(told or 0), _EARLIEST)


def fetch(target: Target, folder: Path) -> None:
    """Puts the wheels of requirements.lock for a platform into a folder; each must have a hash of the lock's."""
    platforms = [f"--platform={name}" for name in target.wheels()]
    for minor in MINORS:
        _run(
            *("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"),
            *("--require-hashes", "--implementation=cp", f"--python-version=3{minor}", *platforms),
            *(f"--requirement={ROOT / 'requirements.lock'}", f"--dest={folder}"),
        )


def build(target: Target, wheels: Path, archive: Path, time: int) -> str:
    """Writes the archive for a platform from its wheels and this checkout, and gives its SHA-256 sum."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dated = {"SOURCE_DATE_EPOCH": str(time), "PYTHONHASHSEED": "0"}
        _run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), **dated)
        (own,) = folder.glob("*.whl")
        program = folder / krew.BIN
        platforms = [f"--complete-platform={json.dumps(target.complete(minor))}" for minor in MINORS]
        _run(
            *("-m", "pex", f"--pre-resolved-dists={wheels}", f"--pre-resolved-dists={own}", *platforms),
            *(f"{krew.NAME}=={__version__}", f"--entry-point={ENTRY}", f"--output-file={program}"),
            *("--venv", "--sh-boot", "--no-compile", "--no-emit-warnings", "--disable-cache", "--check=error"),
            **dated,
        )
        packed = _packed({krew.BIN: program, "LICENSE": ROOT / "LICENSE"}, time)
    archive.write_bytes(packed)
    return hashlib.sha256(packed).hexdigest()


def _run(*arguments: str, **env: str) -> None:
    """Runs a module of this environment. Raises SystemExit, with what it said, if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"python {' '.join(arguments[:3])} failed:\n{done.stdout}{done.stderr}")


def _packed(files: dict[str, Path], time: int) -> bytes:
    """A tar.gz that depends on names and contents alone: everybody's, and dated as told."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, path in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = path.stat().st_size, time, 0o755 if name == krew.BIN else 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)
    return gzip.compress(plain.getvalue(), mtime=0)


def _made(targets: list[Target], folder: Path, time: int) -> Iterator[tuple[Target, str]]:
    for target in targets:
        archive = folder / krew.archive_name(*target)
        with tempfile.TemporaryDirectory() as name:
            fetch(target, Path(name))
            digest = build(target, Path(name), archive, time)
        print(f"{digest}  {archive} ({archive.stat().st_size / 1e6:.1f} MB)", flush=True)
        yield target, digest


def main() -> None:
    """Writes archives and the manifest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    names = ["/".join(target) for target in TARGETS]
    parser.add_argument("--platform", choices=names, action="append", help="repeatable; all without it")
    parser.add_argument("--from", dest="address", default=f"https://example.com/{krew.NAME}/v{__version__}")
    given = parser.parse_args()
    targets = [target for target in TARGETS if "/".join(target) in (given.platform or names)]
    given.folder.mkdir(parents=True, exist_ok=True)
    digests = dict(_made(targets, given.folder, time_of_commit()))
    path = given.folder / f"{krew.NAME}.yaml"
    path.write_text(krew.text(krew.manifest(digests, given.address)), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
