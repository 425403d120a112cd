"""Findings at their source lines, file by file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dra_plan import shown
from dra_plan.documents.validation import FindingEntry, RuleEntry, ValidationDocument

LONGEST = 400
"""Characters of a source line on each side of the place."""


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding with its line in three parts: before the place, the place, after it."""

    code: str
    severity: str
    message: str
    line: int
    excerpt: bool
    before: str
    marked: str
    after: str
    about: str
    help: str
    why: str
    suggestion: str
    fix: str


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The findings of one file, in its order."""

    name: str
    findings: list[ShownFinding]


def by_file(document: ValidationDocument) -> Iterator[FileFindings]:
    """The findings, those of a file together."""
    rules = {rule.code: rule for rule in document.rules}
    files: dict[str, list[ShownFinding]] = {}
    for finding in document.findings:
        files.setdefault(finding.file, []).append(_shown(finding, rules[finding.code]))
    yield from (FileFindings(name or "without a file", found) for name, found in files.items())


def _shown(of: FindingEntry, rule: RuleEntry) -> ShownFinding:
    before, marked, after = _parts(of)
    return ShownFinding(
        code=of.code,
        severity=of.severity,
        message=of.message,
        line=of.line,
        excerpt=of.excerpt is not None,
        before=before,
        marked=marked,
        after=after,
        about=", ".join(part for part in (of.object, of.field) if part),
        help=rule.fix,
        why=rule.why,
        suggestion=shown.printable(of.suggestion),
        fix=f"--fix can {of.fix.title}." if of.fix is not None else "",
    )


def _parts(of: FindingEntry) -> tuple[str, str, str]:
    if of.excerpt is None:
        return "", "", ""
    text = of.excerpt.text
    start = min(len(text), max(0, of.column - of.excerpt.column))
    same_line = of.end_line == of.line and of.end_column > of.column
    end = min(len(text), of.end_column - of.excerpt.column) if same_line else len(text)
    before = text[:start] if start <= LONGEST else f"...{text[start - LONGEST : start]}"
    after = text[end:] if len(text) - end <= LONGEST else f"{text[end : end + LONGEST]}..."
    return before, text[start : max(end, start)], after
