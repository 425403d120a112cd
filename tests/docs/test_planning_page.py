"""The planning page: its examples print what it says."""

import re
from pathlib import Path

import pytest

from tests.cli.running import ROOT
from tests.test_readme import commands, programs, run

__all__ = ["programs"]

FILE = ROOT / "docs" / "planning.md"
EXAMPLES = re.findall(r"^```console\n(.*?)^```$", FILE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0][2:60])
def test_example(example: str, programs: Path, updating: bool) -> None:
    printed = [(command, run(command, programs)) for command, _ in commands(example)]
    if updating:
        text = FILE.read_text(encoding="utf-8")
        FILE.write_text(text.replace(example, "".join(f"$ {cmd}\n{out}" for cmd, out in printed)), encoding="utf-8")
        return
    assert printed == commands(example)
