"""Findings with their source lines: what is read on paper and on screens, whatever the line holds."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from dra_plan.documents.findings import FindingEntry, SourceExcerpt
from dra_plan.text.findings import excerpt_lines
from tests.cli.hostile import TEXT, faults


def finding(text: str, begin: int, end: int, *, column: int = 1, line: int = 7) -> FindingEntry:
    return FindingEntry(
        code="DRA101",
        severity="error",
        refused_by=None,
        message="m",
        object="o",
        field="f",
        file="x",
        line=line,
        column=column + begin,
        end_line=line,
        end_column=column + end,
        excerpt=SourceExcerpt(text=text, column=column),
        suggestion="",
        fix=None,
    )


@pytest.mark.parametrize(
    ("text", "begin", "end", "seen"),
    [
        ("name: A B", 6, 9, ["7 | name: A B", "  |       ^^^"]),
        ("\tx:\tA", 4, 5, ["7 |     x:  A", "  |         ^"]),
        ("中文: 好x", 4, 5, ["7 | 中文: 好x", "  |       ^^"]),
        ("e\u0301: x", 4, 5, ["7 | e\u0301: x", "  |    ^"]),
        ("a:", 2, 2, ["7 | a:", "  |   ^"]),
        ("::a: \x1b[31m", 2, 3, ["7 | :\\u003aa: \\x1b[31m", "  |        ^"]),
        ("##[a]", 1, 2, ["7 | \\u0023#[a]", "  |       ^"]),
        ("", 0, 0, ["7 |", "  | ^"]),
    ],
)
def test_lines(text: str, begin: int, end: int, seen: list[str]) -> None:
    assert list(excerpt_lines(finding(text, begin, end), 80)) == ["  |", *seen]


def test_long_lines_are_cut_around_the_place() -> None:
    text = "".join(f"{number:03} " for number in range(60))
    for begin in range(0, 240, 4):
        _, shown, carets = excerpt_lines(finding(text, begin, begin + 3), 40)
        assert len(shown) <= 40
        assert len(carets) <= 40
        at = carets.index("^")
        assert shown[at : at + 3] == text[begin : begin + 3]
        assert carets.count("^") == 3
    _, shown, carets = excerpt_lines(finding(text, 0, 240, column=100), 40)
    assert shown.startswith("7 | ...000 ")
    assert shown.endswith("...")
    assert max(map(len, (shown, carets))) <= 40


lines = st.one_of(
    st.text(st.sampled_from(":#[a\t \x1b\u202e中e\u0301é"), max_size=300), st.just(TEXT.replace("\n", ""))
)


@example("::[:[:[\x1b:\x1b\u202e", 11, 0, 34, 2)  # the text fits, the caret after it does not
@given(lines, st.integers(0, 300), st.integers(0, 20), st.integers(20, 120), st.integers(1, 3))
def test_no_line_is_wider_than_asked_or_acts(text: str, begin: int, size: int, width: int, column: int) -> None:
    begin = min(begin, len(text))
    made = list(excerpt_lines(finding(text, begin, min(begin + size, len(text)), column=column), width))
    assert faults("\n".join(made)) == []
    assert len(made) == 3
    assert max(cell_len(line) for line in made) <= max(width, 34)
    assert re.fullmatch(r"  \| +\^+", made[2])
