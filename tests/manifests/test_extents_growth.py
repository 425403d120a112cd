"""Lines are looked up without reading the text again, however long they are."""

from __future__ import annotations

from dra_plan.manifests.places import LinedText
from tests.limits import at_most


def test_a_long_line_is_read_once() -> None:
    text = "first\n" + "x" * 5_000_000
    lines = LinedText(text, 1)
    with at_most(2.0):
        for position in range(6, 20_000):
            assert lines.line_of(position) == (6, len(text))


def test_lines_of_every_kind_of_end() -> None:
    text = "a\r\nbc\n\rd"
    lines = LinedText(text, 1)
    found = [text[slice(*lines.line_of(position))] for position in range(len(text))]
    assert found == ["a", "a", "a\r", "bc", "bc", "bc", "", "d"]
