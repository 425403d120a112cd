"""The guides: their examples print what they say."""

import re
from pathlib import Path

import pytest

from tests.cli.running import ROOT
from tests.test_readme import commands, programs, run

__all__ = ["programs"]

ELSEWHERE = {"ci.md"}
"""Pages whose examples `tests/ci` runs."""
PAGES = [
    page
    for page in sorted((ROOT / "docs").glob("*.md"))
    if page.name not in ELSEWHERE and "\n```console\n" in page.read_text(encoding="utf-8")
]
EXAMPLES = [
    (page, example)
    for page in PAGES
    for example in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
]


def test_examples_are_found() -> None:
    assert {"autoscale.md", "maintain.md", "repack.md", "replay.md"} < {page.name for page, _ in EXAMPLES}


@pytest.mark.parametrize(
    ("page", "example"), EXAMPLES, ids=lambda value: value.name if isinstance(value, Path) else value[2:60]
)
def test_example(page: Path, example: str, programs: Path, updating: bool) -> None:
    printed = [(command, run(command, programs)) for command, _ in commands(example)]
    if updating:
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(example, "".join(f"$ {cmd}\n{out}" for cmd, out in printed)), encoding="utf-8")
        return
    assert printed == commands(example)
