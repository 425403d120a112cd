"""The page of `validate`: findings next to the source lines, grouped by file."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan import shown
from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.findings import FindingEntry, RuleEntry
from dra_plan.page.content import FileFindings, Page, ShownFinding
from dra_plan.page.pages import begin, drawn
from dra_plan.questions.validate.answer import ValidationReport
from dra_plan.questions.validate.document import ValidationDocument
from dra_plan.questions.validate.text import FORMATS
from dra_plan.text import words

LONGEST = 400
"""The maximum number of characters that are shown of a source line, before and after the position of a finding."""


def by_file(document: ValidationDocument) -> Iterator[FileFindings]:
    """Yield the findings, grouped by file."""
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


def page(answer: ValidationReport, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `validate`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "validate", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_validation(made, answer.document)
    return made


def fill_validation(made: Page, document: ValidationDocument) -> None:
    """Fill the page with the number of findings, and with each finding at its line."""
    counts = document.summary
    nouns = ((counts.errors, "error"), (counts.warnings, "warning"), (counts.infos, "info"))
    found = [words.counted(number, noun) for number, noun in nouns if number]
    made.headline = f"{words.listed(found)} in {words.counted(counts.objects, 'object')}" if found else "Nothing found"
    made.findings = list(by_file(document))
