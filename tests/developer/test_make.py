"""The Makefile: which tests its targets choose."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import ROOT
from tests.conftest import COLLECTED, KEEPERS


def commands(*arguments: str) -> list[list[str]]:
    """The commands that make would run, also where the tests themselves were started by make."""
    own = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "T")}
    done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, env=own, capture_output=True, text=True, check=True)
    return [shlex.split(line) for line in done.stdout.splitlines()]


def keeping(path: Path) -> set[str]:
    """The tests of a file that ask for a fixture which rewrites kept texts."""
    functions = [
        found for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(found, ast.FunctionDef)
    ]
    asked = {function.name: {argument.arg for argument in function.args.args} for function in functions}
    return {name for name, names in asked.items() if name.startswith("test_") and names & {*KEEPERS, "golden"}}


def test_golden_chooses_by_the_marker_alone() -> None:
    chosen = commands("golden")[-1]
    assert chosen[chosen.index("-m", 3) + 1] == "golden"
    assert "--snapshot-update" in chosen
    assert not [word for word in chosen if word.startswith("tests")]


def test_every_test_with_a_kept_text_has_the_marker(request: pytest.FixtureRequest) -> None:
    """Of the files that this run collected; in a run of everything that is all of them."""
    marked: dict[Path, set[str]] = {}
    for item in request.config.stash[COLLECTED]:
        names = marked.setdefault(item.path, set())
        if isinstance(item, pytest.Function) and item.get_closest_marker("golden"):
            names.add(item.originalname)
    assert {path: keeping(path) for path in marked} == marked


def test_kept_texts_are_rewritten_through_the_fixtures_alone() -> None:
    """What reads the option for itself would not be marked."""
    reading = [path for path in (ROOT / "tests").rglob("*.py") if "update_" + "snapshots" in path.read_text("utf-8")]
    assert reading == [ROOT / "tests" / "conftest.py"]


@pytest.mark.parametrize("target", ["test", "long", "golden"])
def test_t_chooses_the_tests(target: str) -> None:
    assert commands(target, "T=tests/allocator tests/cel")[-1][-2:] == ["tests/allocator", "tests/cel"]
