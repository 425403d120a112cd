"""--select, --ignore and the project's settings."""

from pathlib import Path

import pytest

from dra_plan.cli import settings
from dra_plan.cli.settings import Settings
from dra_plan.errors import UsageError
from dra_plan.validation.registry import RULES, RuleSelection
from dra_plan.validation.rule import Finding, Severity


@pytest.mark.parametrize(
    ("select", "ignore", "kept"),
    [
        (("DRA",), (), True),
        (("DRA101",), (), True),
        (("DRA1",), (), True),
        (("DRA2",), (), False),
        (("DRA",), ("DRA101",), False),
        (("DRA",), ("DRA1",), False),
        (("DRA101",), ("DRA1",), True),
        (("DRA1",), ("DRA101",), False),
        (("DRA101",), ("DRA101",), False),
        (("DRA", "DRA101"), ("DRA10",), True),
    ],
)
def test_the_longer_code_wins(select: tuple[str, ...], ignore: tuple[str, ...], kept: bool) -> None:
    assert RuleSelection(select, ignore).counts(Finding(RULES["DRA101"], "a message")) is kept


@pytest.mark.parametrize(
    ("pattern", "kept"), [("dumps/*", False), ("a.yaml", False), ("*.json", True), ("dumps/*.yaml", False)]
)
def test_files_of_their_own(pattern: str, kept: bool) -> None:
    finding = Finding(RULES["DRA101"], "a message", file="cluster/dumps/a.yaml")
    assert RuleSelection(per_file={pattern: ["DRA1"]}).counts(finding) is kept
    assert RuleSelection(per_file={pattern: ["DRA2"]}).counts(finding)


@pytest.mark.parametrize("code", ["", "XYZ", "DRA777", "DRA999", "DRA1011", "dra101"])
def test_codes_that_no_rule_has(code: str) -> None:
    with pytest.raises(UsageError, match="no rule"):
        RuleSelection(ignore=(code,))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("DRA777", "no rule 'DRA777': `dra-plan rule` lists the rules"),
        ("dra101", "no rule 'dra101'; did you mean DRA101?"),
        ("XYZ", "no rule 'XYZ': a code is DRA and three digits, or a prefix of that"),
    ],
)
def test_why_a_code_is_none(code: str, why: str) -> None:
    with pytest.raises(UsageError) as told:
        RuleSelection(ignore=(code,))
    assert str(told.value) == why


OWN = """
select = ["DRA1"]
ignore = ["DRA140"]
ignore-unknown = true
fail-on = "warning"
[per-file-ignores]
"dumps/*" = ["DRA0"]
"""


def test_settings_of_their_own_file(tmp_path: Path) -> None:
    (tmp_path / ".dra-plan.toml").write_text(OWN)
    (tmp_path / "pyproject.toml").write_text('[tool.dra-plan]\nselect = ["DRA2"]\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert settings.find(below) == Settings(
        source=str(tmp_path / ".dra-plan.toml"),
        select=("DRA1",),
        ignore=("DRA140",),
        per_file={"dumps/*": ("DRA0",)},
        ignore_unknown=True,
        fail_on=Severity.WARNING,
    )


def test_settings_in_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.dra-plan]\nselect = ["DRA2"]\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[tool.other]\nselect = ["DRA3"]\n')
    assert settings.find(inner).select == ("DRA2",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("select = [", "Invalid value"),
        ('selects = ["DRA1"]', "no setting 'selects'; did you mean 'select'?"),
        ('zzz = ["DRA1"]', "no setting 'zzz': there are select, ignore"),
        ('select = "DRA1"', "select: expected a list of codes"),
        ("ignore = [1]", "ignore: expected a list of codes"),
        ('ignore-unknown = "yes"', "ignore-unknown: expected true or false"),
        ('fail-on = "errors"', "fail-on: 'errors' is not one of error, info, warning"),
        ("per-file-ignores = 1", "per-file-ignores: expected a table"),
        ('[per-file-ignores]\n"a" = "DRA1"', "per-file-ignores: a: expected a list of codes"),
    ],
)
def test_settings_that_are_wrong(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / ".dra-plan.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        settings.find(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert told in str(caught.value)
