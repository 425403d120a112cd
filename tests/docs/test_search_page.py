"""docs/internals/search.md: its worked walks are what the search does, and it names every rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dra_plan.allocator.pruning_rules import ALL_RULES

from .walks import walk

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "internals" / "search.md").read_text(encoding="utf-8")
WALKS = re.findall(
    r"^```walk(?P<how>[^\n]*)\n(?P<given>.*?)\n---\n(?P<walked>.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(("how", "given", "walked"), WALKS)
def test_walk(how: str, given: str, walked: str) -> None:
    words = how.split()
    assert walked == walk(given, pruned="pruned" in words, quirks="fixed" if "fixed" in words else "upstream")


def test_there_are_walks_of_both_kinds() -> None:
    kinds = {how.strip() for how, _, _ in WALKS}
    assert {"", "pruned"} <= kinds
    assert len(WALKS) == PAGE.count("```walk")


def test_every_rule_is_on_the_page() -> None:
    assert set(re.findall(r"^\| (R\d+\w?) ", PAGE, re.MULTILINE)) == ALL_RULES
