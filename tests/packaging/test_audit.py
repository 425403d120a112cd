"""What `make audit` makes of the audit tool's answers, with a tool that answers what it is told."""

import sys
from typing import Any

import pytest

from scripts import audit

CLEAN: dict[str, Any] = {"dependencies": [{"name": "rich", "version": "1", "vulns": []}]}
VULNERABLE = {
    "dependencies": [{"name": "rich", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}],
}
SKIPPED = {"dependencies": [{"name": "rich", "skip_reason": "not found"}]}


@pytest.mark.parametrize(
    ("found", "strict", "status", "said"),
    [
        (CLEAN, True, 0, "1 of 1 packages audited, 0 vulnerabilities"),
        (VULNERABLE, False, 1, "rich 1: PYSEC-1, mended in 2"),
        (VULNERABLE, True, 1, "1 vulnerabilities"),
        (SKIPPED, False, 0, "not audited, as the database does not know them: rich"),
        (SKIPPED, True, 3, "0 of 1 packages audited"),
        (None, False, 0, "not audited: the database of vulnerabilities can't be reached"),
        (None, True, 3, "not audited"),
    ],
)
def test_answers(found: Any, strict: bool, status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.judge(found, strict=strict) == status
    assert said in capsys.readouterr().out


def test_the_tool_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    answer = "import sys; print('{\"dependencies\": []}'); sys.exit(1)"
    assert audit.ask([sys.executable, "-c", answer]) == {"dependencies": []}
    assert audit.ask([sys.executable, "-c", "import sys; sys.exit('connection failed')"]) is None
    assert "connection failed" in capsys.readouterr().err


def test_it_audits_what_users_get() -> None:
    assert "junitparser==" in audit.LOCK.read_text(encoding="utf-8")
