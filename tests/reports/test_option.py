"""What `--report` accepts, and what happens to a report that can't be written."""

from pathlib import Path

import pytest

from tests.cli.running import given, in_process

from .checking import validate

FITS = given("cluster", "fits")


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        (["nonsense"], "no format 'nonsense'"),
        (["junit"], "needs a file"),
        (["sarif="], "needs a file"),
        (["gitlab=-"], "needs a file"),
        (["junit=/dev/stdout"], "needs a file"),
        (["github=x"], "takes no file"),
        (["junit=a.xml", "sarif=a.xml"], "a.xml is given for two reports"),
    ],
)
def test_usage_errors(reports: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = in_process("allocate", *FITS, *(part for report in reports for part in ("--report", report)))
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_written_is_an_error_and_the_others_are_written(tmp_path: Path) -> None:
    there, nowhere = tmp_path / "there.sarif", tmp_path / "no-folder" / "report.xml"
    ran = in_process("allocate", *FITS, "--report", f"junit={nowhere}", "--report", f"sarif={there}")
    assert (ran.status, ran.out) == (2, "")
    assert f"error: --report junit={nowhere}: No such file or directory" in ran.err
    validate("sarif", there.read_text(encoding="utf-8"))


def test_bad_input_is_told_even_if_the_report_cannot_be_written(tmp_path: Path) -> None:
    ran = in_process("allocate", *given("missing"), "--report", f"junit={tmp_path}/no/report.xml")
    assert ran.status == 2
    assert "no such file or directory" in ran.err
    assert "--report junit=" in ran.err


def test_a_report_replaces_what_was_there_and_keeps_its_mode(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("x" * 100_000)
    report.chmod(0o640)
    assert in_process("allocate", *FITS, "--report", f"gitlab={report}").status == 0
    assert report.read_text(encoding="utf-8") == "[]\n"
    assert report.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    assert in_process("allocate", *FITS, "--report", f"gitlab={link}").status == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "[]\n"


def test_a_failure_while_writing_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report.json"
    report.write_text("old")

    def full(_source: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    ran = in_process("allocate", *FITS, "--report", f"gitlab={report}")
    assert ran.status == 2
    assert "No space left on device" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert report.read_text() == "old"


def test_a_defect_of_dra_plan_is_reported_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("dra_plan.questions.allocate.answer.plan_claim_sets", broken)
    report = tmp_path / "report.xml"
    assert in_process("allocate", *FITS, "--report", f"junit={report}").status == 4
    text = report.read_text(encoding="utf-8")
    validate("junit", text)
    assert "internal-error" in text
    assert "RuntimeError" in text
