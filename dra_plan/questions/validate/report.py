"""Reports of `validate`, with a check for each finding of the selected severities and a note for each other finding."""

from __future__ import annotations

from collections.abc import Callable

from dra_plan.documents.findings import FindingEntry
from dra_plan.questions.validate.document import ValidationDocument
from dra_plan.text.reports.content import (
    Content,
    Entry,
    Level,
    Replacement,
    ReportCase,
    Result,
    RuleText,
    of_plain_warnings,
)

_ORDER = ("info", "warning", "error")


def content(document: ValidationDocument, *, fail_on: str, anchor: str) -> Content:
    """Return the findings as CI checks.

    Checks fail for findings with the severity `fail_on` or a higher one.
    """
    counting = _ORDER[_ORDER.index(fail_on) :]
    return _content(document, anchor, lambda finding: finding.severity in counting)


def of_fixes(document: ValidationDocument, *, anchor: str) -> Content:
    """Return the findings as CI checks for `--diff`. Checks fail for findings that can be fixed."""
    return _content(document, anchor, lambda finding: finding.fix is not None)


def _content(document: ValidationDocument, anchor: str, counts: Callable[[FindingEntry], bool]) -> Content:
    failed = [finding for finding in document.findings if counts(finding)]
    others = [finding for finding in document.findings if not counts(finding)]
    checks = [ReportCase(_name(finding), Result.FAILED, _entry(finding)) for finding in failed]
    rules = {rule.code: RuleText(rule.title, f"{rule.why} {rule.fix}") for rule in document.rules}
    notes = [*map(_entry, others), *of_plain_warnings(document.warnings)]
    return Content("validate", tuple(checks or [ReportCase("manifests")]), tuple(notes), rules, anchor)


def _entry(finding: FindingEntry) -> Entry:
    suggestion = finding.suggestion
    return Entry(
        Level(finding.severity),
        finding.code,
        finding.message,
        source=finding.file,
        line=finding.line,
        column=finding.column,
        object=finding.object,
        path=finding.field,
        details=f"Suggestion: {suggestion}" if suggestion else "",
        end_line=finding.end_line,
        end_column=finding.end_column,
        fix=finding.fix.title if finding.fix else "",
        edits=tuple(
            Replacement(edit.line, edit.column, edit.end_line, edit.end_column, edit.text)
            for edit in (finding.fix.edits if finding.fix else ())
        ),
    )


def _name(finding: FindingEntry) -> str:
    return " ".join(part for part in (finding.code, finding.object, finding.field) if part)
