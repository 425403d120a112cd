"""The Containerfile, as far as it can be checked without a registry of images; and its build, without a container."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.running import ROOT

TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
PLACE = "/opt/dra-plan"


class Line(NamedTuple):
    """One instruction, with the number of its stage."""

    stage: int
    word: str
    rest: str


def parse(text: str) -> list[Line]:
    joined = re.sub(r"\\\n", " ", text)
    found: list[Line] = []
    stage = -1
    for line in joined.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        stage += word == "FROM"
        found.append(Line(stage, word, rest.strip()))
    return found


LINES = parse(TEXT)
LAST = [line for line in LINES if line.stage == LINES[-1].stage]


def test_the_base_is_pinned_to_a_patch_release_and_the_same_in_all_stages() -> None:
    bases = {line.rest.split(" AS ")[0] for line in LINES if line.word == "FROM"}
    assert len(bases) == 1
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+\.\d+-slim-[a-z]+(@sha256:[0-9a-f]{64})?", bases.pop())


def test_it_runs_as_nobody_in_particular() -> None:
    users = [line.rest for line in LAST if line.word == "USER"]
    assert users
    uid, gid = users[-1].split(":")
    assert int(uid) > 0
    assert int(gid) > 0
    after = LAST[[line.word for line in LAST].index("USER") :]
    assert not [line for line in after if line.word in ("RUN", "COPY", "ADD")], "nothing is made as another user later"


def test_what_it_copies_is_there_and_not_ignored() -> None:
    allowed = {line.removeprefix("!") for line in IGNORED if line.startswith("!")}
    copied = set()
    for line in LINES:
        assert line.word != "ADD"
        if line.word == "COPY" and "--from" not in line.rest:
            copied |= set(line.rest.split()[:-1])
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert "*" in IGNORED
    assert copied == allowed


def test_it_installs_nothing_that_is_not_locked_and_keeps_only_the_program() -> None:
    installs = [line.rest for line in LINES if line.word == "RUN" and " install " in line.rest]
    assert installs
    assert all("--require-hashes" in install or "--no-deps" in install for install in installs)
    assert [line.rest for line in LAST if line.word == "COPY"] == [f"--from=build {PLACE} {PLACE}"]
    assert not [line for line in LAST if line.word == "RUN"]


@pytest.mark.long
def test_its_build_makes_a_program_that_works(tmp_path: Path) -> None:
    """The commands of the build stage as they are, in a folder instead of an image; then the entry point."""
    place, source = tmp_path / "opt", tmp_path / "src"
    source.mkdir()
    for line in (line for line in LINES if line.stage == 0):
        if line.word == "COPY":
            *names, _ = line.rest.split()
            for name in names:
                _copy(ROOT / name, source / name)
        elif line.word == "RUN":
            command = line.rest.replace(PLACE, str(place))
            subprocess.run(command, shell=True, cwd=source, check=True, capture_output=True)
    (entry,) = (line.rest for line in LAST if line.word == "ENTRYPOINT")
    program = shlex.split(entry.strip("[]").replace(",", " "))[0].replace(PLACE, str(place))
    done = subprocess.run(
        [program, "allocate", ROOT / "fixtures" / "quickstart"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (ROOT / "fixtures" / "expected" / "quickstart.txt").read_text(encoding="utf-8")
    assert not list(place.rglob("pip"))


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)
