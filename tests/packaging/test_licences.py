"""What is installed with dra-plan has a licence that is on the list."""

from importlib.metadata import distribution

import pytest

from scripts import licences
from tests.packaging.test_dependencies import declared


def test_every_licence_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert licences.main() == 0, capsys.readouterr().out
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert {"dra-plan", *declared()} <= listed


def test_what_is_not_on_the_list_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(licences, "ALLOWED", licences.ALLOWED - {"ISC"})
    assert licences.main() == 1
    assert "ISC (not allowed)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-2.0) AND Apache-2.0", True),
        ("MIT AND BSD-3-Clause", True),
    ],
)
def test_expressions(expression: str, allowed: bool) -> None:
    assert licences.is_allowed(expression) == allowed


def test_licences_are_read_however_they_are_written() -> None:
    assert licences.licence(distribution("typer")) == "MIT"
    assert licences.licence(distribution("google-re2")) == "BSD-3-Clause"
