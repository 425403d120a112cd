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


def test_the_package_of_a_checkout_is_measured_with_the_inputs_of_this_one(tmp_path: Path) -> None:
    package = tmp_path / "dra_plan"
    package.mkdir()
    (package / "__init__.py").write_text("NAME = 'earlier'\n", encoding="utf-8")
    asking = tmp_path / "asking.py"
    asking.write_text("import dra_plan, tests.limits as here; print(dra_plan.NAME, here.__file__)", encoding="utf-8")
    assert bench.run(str(asking), tmp_path).split() == ["earlier", str(ROOT / "tests" / "limits.py")]


def test_an_earlier_version_may_not_have_what_is_measured(tmp_path: Path) -> None:
    (tmp_path / "dra_plan").mkdir()
    (tmp_path / "dra_plan" / "__init__.py").touch()
    asking = tmp_path / "asking.py"
    asking.write_text("from dra_plan import Cluster", encoding="utf-8")
    assert bench.run_before(str(asking), tmp_path) == "It does not have what is measured here."
