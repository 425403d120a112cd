"""No paragraph of the guides is longer than six lines."""

from __future__ import annotations

import re

import pytest

from tests.cli.running import ROOT

GUIDES = ("ci.md", "cel.md", "planning.md", "schedule.md")
LINE, MOST_LINES = 110, 6
"""Characters of a line as pages are read, and the lines of a paragraph."""


@pytest.mark.parametrize("name", GUIDES)
def test_no_paragraph_is_over_six_lines(name: str) -> None:
    text = re.sub(
        r"^```.*?^```$", "", (ROOT / "docs" / name).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    paragraphs = [part for part in re.split(r"\n(?=\n|[-*|#0-9])", text) if not part.lstrip().startswith("|")]
    assert [part for part in paragraphs if len(shown(part)) > LINE * MOST_LINES] == []


def shown(part: str) -> str:
    """The paragraph as it is read: without the addresses of links."""
    return re.sub(r"\]\([^)]*\)", "]", part.strip())
