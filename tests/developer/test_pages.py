"""The pages: what they name is there, and all of them are in the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import ROOT

PAGES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "glossary.md",
    ROOT / "docs" / "internals" / "architecture.md",
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("[a-fh-z]*.md")),
    *sorted((ROOT / "docs").glob("README.md")),
    *sorted((ROOT / "docs" / "internals").glob("[b-z]*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
GLOSSARY = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGES[1].read_text(encoding="utf-8"), re.MULTILINE)
PATH = re.compile(r"`((?:dra_plan|tests|scripts|benchmarks|fixtures|docs|examples|completions)/[\w./*-]+)`")
WORDS = [(word, meaning, where) for word, meaning, where in GLOSSARY if word != "term" and "---" not in word]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_files_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [page.parent / link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)]
    missing = [str(link) for link in links if not link.exists()]
    missing += [named for named in PATH.findall(text) if not list(ROOT.glob(named))]
    assert missing == []


def test_make_targets_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    calls = re.findall(r"(?:^|`)make ([a-z ]+[a-z])", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE)
    named = {word for call in calls for word in call.split()}
    assert named <= targets
    assert len(named) > 8


@pytest.mark.parametrize(("word", "meaning", "where"), WORDS, ids=lambda value: value[:20])
def test_a_word_of_the_glossary_has_a_meaning_and_a_file(word: str, meaning: str, where: str) -> None:
    assert meaning.endswith(".")
    assert re.fullmatch(r"\[[\w/.]+\]\(\.\./[\w/.]+\.py\)", where)


def test_the_glossary_has_each_word_once() -> None:
    words = [word for word, _, _ in WORDS]
    assert len(words) > 40
    assert sorted(set(words)) == sorted(words)


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\((\d{4}-[a-z0-9-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(path.name for path in folder.glob("0*.md"))
    for name in listed:
        first = (folder / name).read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(f"# {int(name[:4])}. ")


@pytest.mark.parametrize("name", ["architecture", "rules"])
def test_the_files_of_the_architecture_and_of_the_rules_are_there(name: str) -> None:
    page = (ROOT / "docs" / "internals" / f"{name}.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+(?:\.py|/))`", page)
    rooms = [ROOT / "dra_plan" / room for room in ("", "scheduler", "questions", "questions/allocate")]
    missing = [path for path in named if not any((room / path).exists() for room in rooms)]
    assert missing == []
    assert len(named) > 30


def test_every_package_is_in_the_architecture() -> None:
    page = (ROOT / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
    assert {path.parent.name for path in ROOT.glob("dra_plan/*/__init__.py")} <= set(re.findall(r"`(\w+)`", page))
    assert len(page.split()) < 900


def test_every_page_is_in_the_index() -> None:
    folder = ROOT / "docs"
    listed = set(re.findall(r"\]\(([\w/-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8")))
    pages = {str(page.relative_to(folder)) for page in (*folder.glob("*.md"), *folder.glob("internals/*.md"))}
    assert listed == (pages - {"README.md"}) | {"decisions/README.md"}
