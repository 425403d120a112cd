"""Words that texts do not have: the package keeps the list, and the list is that of the style guide."""

from pathlib import Path

import pytest

from scripts import words
from tests.cli.running import ROOT

GOLDEN = [
    path
    for path in sorted((ROOT / "tests").rglob("golden/**/*.txt"))
    if "validation" not in path.parts and path.name != "explain-owners.txt"  # which has the resource nobody.example.com
]


def test_a_refused_word_is_found_with_what_is_better(tmp_path: Path) -> None:
    made = tmp_path / "package"
    made.mkdir()
    (made / "a.py").write_text(
        '"""Nobody reads this."""\nSAID = f"{1} is needed, and nobody has it"\nNAME = "nobody"\n'
    )
    [line] = words.refused(made)
    assert line.startswith("package/a.py:2: ' is needed, and nobody has it': rather nothing")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: str(path.relative_to(ROOT / "tests")))
def test_no_kept_text_has_one(path: Path) -> None:
    """What Kubernetes says stands there too, to the letter; it has none of these words either."""
    text = path.read_text(encoding="utf-8")
    assert [pattern for pattern in words.REFUSED if words.re.search(pattern, text)] == []


def test_the_guide_has_every_one() -> None:
    guide = (ROOT / "docs" / "internals" / "style.md").read_text(encoding="utf-8")
    table = guide.partition("| not | but |")[2]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ") and "---" not in line]
    missing = [pattern for pattern in words.REFUSED if not any(words.re.search(pattern, row) for row in rows)]
    assert missing == []
