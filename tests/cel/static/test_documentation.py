"""docs/cel.md tells of every function and macro, in the row of the release that brings it."""

import re
from pathlib import Path

import pytest

from dra_plan.cel.library import LIBRARIES, Library

TEXT = (Path(__file__).parents[3] / "docs" / "cel.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (1\.[^|]+) \| (.+) \|$", TEXT, re.MULTILINE)
OPERATORS = re.compile(r"[_@!\-]|cel\.@")


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_every_function_is_told(library: Library) -> None:
    since = ".".join(map(str, library.since))
    told = " ".join(text for when, text in ROWS if since in re.split(r"[ ,]+", when))
    names = {*library.functions, *(key.name for key in library.macros if key.name != "bind")}
    assert {name for name in names if not OPERATORS.match(name) and f"`{name}`" not in told} == set()


def test_there_are_rows() -> None:
    assert len(ROWS) > 10
