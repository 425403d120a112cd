"""The formats on contents made by hand: hostile texts, order, fingerprints, and golden texts."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_plan import __version__, shown
from dra_plan.text.reports import forms as github
from dra_plan.text.reports import forms as gitlab
from dra_plan.text.reports import forms as junit
from dra_plan.text.reports import forms as sarif
from dra_plan.text.reports.content import Content, Entry, Level, Replacement, ReportCase, Result, RuleText
from tests.conftest import Golden

from .checking import FORMS, validate

RENDER = {"junit": junit.junit, "sarif": sarif.sarif, "gitlab": gitlab.gitlab}
GOLDEN = Path(__file__).parent / "golden"

FULL = Content(
    "validate",
    (
        ReportCase("cluster.yaml"),
        ReportCase(
            "a,b: 100%.yaml:3:7 DRA101",
            Result.FAILED,
            Entry(
                Level.ERROR,
                "DRA101",
                'the class <gpu> & "co" does not exist: 100% sure\nsecond line',
                "a,b: 100%.yaml",
                3,
                7,
                "Pod default/train",
                "spec.devices[0]",
            ),
        ),
        ReportCase(
            "resourceclaim/-", Result.BROKEN, Entry(Level.ERROR, "undecided", "no answer", details="  in detail\n  x")
        ),
    ),
    (
        Entry(Level.INFO, "hint", "worth knowing", "cluster.yaml"),
        Entry(Level.WARNING, "old-version", "will go", "./cluster.yaml", 9, 0, "Node a"),
    ),
    {"DRA101": RuleText("A class that does not exist", "Name a class of the cluster.")},
    anchor="manifests",
)


@pytest.mark.parametrize("form", FORMS)
def test_golden(form: str, golden: Golden) -> None:
    text = RENDER[form](FULL)
    validate(form, text)
    golden(GOLDEN / f"full.{form}", text.replace(__version__, "VERSION"))


def test_golden_annotations(golden: Golden) -> None:
    golden(GOLDEN / "full.github", github.github(FULL))


@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_report_is_a_valid_report(form: str) -> None:
    validate(form, RENDER[form](Content("allocate")))


def test_nothing_to_annotate() -> None:
    assert github.github(Content("allocate", (ReportCase("pod/a/b"),))) == ""


anything = st.text(st.characters(), max_size=30)
file_names = st.binary(max_size=20).map(lambda name: name.decode("utf-8", "surrogateescape"))
numbers = st.integers(1, 9)
replacements = st.builds(Replacement, line=numbers, column=numbers, end_line=numbers, end_column=numbers, text=anything)
entries = st.builds(
    Entry,
    level=st.sampled_from(Level),
    code=st.sampled_from(["DRA101", "does-not-fit"]),
    message=anything,
    source=file_names,
    line=st.integers(0, 9),
    column=st.integers(0, 9),
    end_line=st.integers(0, 9),
    end_column=st.integers(0, 9),
    object=anything,
    path=anything,
    details=anything,
    fix=anything,
    edits=st.tuples() | st.tuples(replacements),
    like=st.just(""),  # names another entry's object
)
checks = st.builds(ReportCase, name=anything, result=st.just(Result.FAILED), entry=entries)
contents = st.builds(
    Content, st.just("allocate"), st.tuples(checks, checks), st.tuples(entries), st.just({}), st.just("in.yaml")
)


@given(contents)
@settings(max_examples=60, deadline=None)
def test_any_text_gives_valid_reports(content: Content) -> None:
    for form in ("junit", "sarif"):
        text = RENDER[form](content)
        text.encode()
        validate(form, text)
    gitlab.gitlab(content).encode()
    lines = github.github(content).split("\n")
    assert len(lines) == 4
    assert all(re.fullmatch(r"::(error|warning|notice) [^\n]*?::[^\n]*", line) for line in lines[:3])


@given(anything, file_names)
def test_the_runner_reads_annotations_back(message: str, source: str) -> None:
    """The runner splits properties at commas, ends them at `::`, and undoes the escapes."""
    entry = Entry(Level.ERROR, "x", message.replace("\r", ""), f"a{source}/b")
    (line,) = github.github(Content("allocate", notes=(entry,))).splitlines()
    properties, _, data = line.removeprefix("::error ").partition("::")
    names = [part.split("=")[0] for part in properties.split(",")]
    assert names == ["file", "title"]
    for escape, char in (("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        data = data.replace(escape, char)
    assert data.isprintable() or "\n" in data
    if message.isprintable():
        assert data == shown.line(message)


def test_the_worst_annotations_come_first() -> None:
    levels = [line.split(" ")[0] for line in github.github(FULL).splitlines()]
    assert levels == ["::error", "::error", "::warning", "::notice"]


def marks(*entries: Entry) -> list[str]:
    return [issue["fingerprint"] for issue in json.loads(gitlab.gitlab(Content("allocate", notes=entries)))]


def test_fingerprints() -> None:
    first = Entry(Level.ERROR, "DRA101", "message", "a.yaml", 3, 1, "Pod a/b", "spec")
    (mark,) = marks(first)
    assert marks(first._replace(line=30, column=9)) == [mark], "lines move"
    assert marks(first._replace(level=Level.WARNING)) == [mark]
    changed = [{"code": "DRA102"}, {"message": "other"}, {"source": "b.yaml"}, {"object": "Pod a/c"}, {"path": "x"}]
    assert all(marks(first._replace(**change)) != [mark] for change in changed)
    twice = marks(first, first)
    assert twice[0] == mark
    assert twice[1] != mark


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a/b.yaml", "a/b.yaml"),
        ("./a/../b.yaml", "b.yaml"),
        ("-", "stdin"),
        ("", "in"),
        ("/elsewhere/x y.yaml", "file:///elsewhere/x%20y.yaml"),
        ("ä b.yaml", "%C3%A4%20b.yaml"),
    ],
)
def test_places(source: str, shown: str) -> None:
    content = Content("allocate", notes=(Entry(Level.ERROR, "x", "m", source),), anchor="in")
    (result,) = json.loads(sarif.sarif(content))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == shown


def test_places_below_the_folder_of_the_run_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = Content("allocate", notes=(Entry(Level.ERROR, "x", "m", str(tmp_path / "a" / "b.yaml")),))
    assert json.loads(gitlab.gitlab(content))[0]["location"]["path"] == "a/b.yaml"
