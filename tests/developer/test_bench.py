"""`make bench`: every benchmark has a place on the page of results, and only its place is written."""

from pathlib import Path

import pytest

from scripts import bench
from tests.cli.running import ROOT

PAGE = "Before.\n<!-- pods -->\nold\n<!-- end -->\nBetween.\n<!-- hard -->\nkept\n<!-- end -->\n"


def test_every_benchmark_has_a_place() -> None:
    benchmarks = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert sorted(bench.places(bench.RESULTS.read_text(encoding="utf-8"))) == sorted(benchmarks)


def test_tables_are_taken_as_they_stand() -> None:
    page = bench.with_figures(PAGE, "pods", "| a |\n|---|\n", "measured")
    assert page == PAGE.replace("old\n", "measured\n\n| a |\n|---|\n")


def test_other_figures_are_plain_text() -> None:
    page = bench.with_figures(PAGE, "hard", "1.0 s\n", "measured")
    assert page == PAGE.replace("kept\n", "measured\n\n```text\n1.0 s\n```\n")


def test_what_has_no_place_is_refused() -> None:
    assert bench.main(["nothing"]) == 2


def test_an_earlier_version_stands_before_the_present_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "RESULTS.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(bench, "RESULTS", page)
    monkeypatch.setattr(bench, "run", lambda _file, checkout: f"took {'1' if checkout == bench.ROOT else '2'} s\n")
    monkeypatch.setattr(bench, "commit", lambda _checkout: "abc1234")
    monkeypatch.setenv("BEFORE", str(tmp_path))
    assert bench.main(["pods"]) == 0
    told = "Before (abc1234):\n\n```text\ntook 2 s\n```\n\nNow:\n\n```text\ntook 1 s\n```\n<!-- end -->"
    assert told in page.read_text(encoding="utf-8")
