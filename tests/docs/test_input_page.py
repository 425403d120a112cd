"""docs/input.md: the warnings that it lists are those that there are."""

from __future__ import annotations

import re
from pathlib import Path

from dra_plan.documents.base import listing
from tests.cli.running import ROOT

PAGE = (ROOT / "docs" / "input.md").read_text(encoding="utf-8")
SOURCES = [ROOT / "dra_plan" / each for each in ("planner/nodes.py", "whatif/edits.py", "manifests/diagnose.py")]


def _codes(paths: list[Path]) -> set[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    return set(re.findall(r'"([a-z-]+-(?:missing|incomplete|planned|namespace|empty|running))"', text))


def test_all_warnings_about_what_is_missing_are_listed_with_their_commands() -> None:
    listed = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| ?(.*?) ?\|$", PAGE, re.MULTILINE))
    assert listed.keys() == _codes(SOURCES) - {"nodes-missing"}  # an error, whose command brings the rest, too
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    commands = re.findall(r"`(kubectl [^`]+ -o yaml)`", "".join(listed.values()))
    assert len(commands) == 9
    assert [command for command in commands if command not in source] == [listing(["resourceclaims"])]
    assert 'brings = ("resourceclaims", *lacking_templates(inventory))' in source
