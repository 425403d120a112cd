"""`validate -o table`, `wide` and `name`."""

from __future__ import annotations

from dra_plan import shown
from dra_plan.documents.validation import FindingEntry, ValidationDocument

from . import text
from .columns import Screen, Table
from .formats import Formats


def table(document: ValidationDocument, _screen: Screen | None) -> list[Table | str]:
    """One row per finding, in the order of the input; below, how many there are."""
    made = Table(("PLACE", "SEVERITY", "CODE", "OBJECT", "MESSAGE"), flexible=(0, 3, 4))
    for finding in document.findings:
        message = f"{finding.field}: {finding.message}" if finding.field else finding.message
        made.add(place(finding), finding.severity, finding.code, finding.object, message)
    return [*([made] if made.rows else []), summary(document)]


def wide(document: ValidationDocument, _screen: Screen | None) -> list[Table | str]:
    """The same with fields and corrected texts in columns of their own; below, what the rules are about."""
    made = Table(("PLACE", "SEVERITY", "CODE", "OBJECT", "FIELD", "MESSAGE", "SUGGESTION"), flexible=(0, 3, 4, 5, 6))
    for finding in document.findings:
        about = (finding.severity, finding.code, finding.object, finding.field, finding.message)
        made.add(place(finding), *about, finding.suggestion)
    rules = Table(("CODE", "ABOUT", "WHY", "WHAT TO DO"), flexible=(1, 2, 3))
    for rule in document.rules:
        rules.add(rule.code, rule.title, rule.why, rule.fix)
    return [*(part for part in (made, rules) if part.rows), summary(document)]


def place(finding: FindingEntry) -> str:
    """`FILE:LINE:COLUMN`, as far as known."""
    numbers = [str(number) for number in (finding.line, finding.column) if number]
    return ":".join([finding.file, *numbers]) if finding.file else ""


def summary(document: ValidationDocument) -> str:
    """One line: how much was found in how much, and for which release."""
    counts = document.summary
    nouns = (("error", counts.errors), ("warning", counts.warnings), ("info", counts.infos))
    found = [_counted(number, noun) for noun, number in nouns if number]
    spared = f"; {counts.spared} left out" if counts.spared else ""
    told = f"{', '.join(found) or 'nothing found'} in {_counted(counts.objects, 'object')}{spared}"
    return f"{told}. Judged as {text.release(document.target)}."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def names(document: ValidationDocument) -> str:
    """`KIND/NAMESPACE/NAME` of every object with a finding, once."""
    objects = dict.fromkeys(text.object_name(finding.object) for finding in document.findings)
    return "".join(f"{shown.line(name)}\n" for name in objects)


FORMATS = Formats(table=table, wide=wide, name=names)
