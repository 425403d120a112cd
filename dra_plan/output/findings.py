"""The formats of `validate`: what they share, and `table`, `wide` and `name`."""

from __future__ import annotations

from dra_plan import shown
from dra_plan.documents.validation import ValidationDocument

from . import finding_text, text
from .columns import Part, Screen, Table
from .finding_text import place, summary
from .formats import Format, Formats, choose, of_tables, whole


def table(document: ValidationDocument, _screen: Screen | None) -> list[Part]:
    """One row per finding, in the order of the input; below, how many there are."""
    made = Table(("PLACE", "SEVERITY", "CODE", "OBJECT", "MESSAGE"), flexible=(0, 3, 4))
    for finding in document.findings:
        message = f"{finding.field}: {finding.message}" if finding.field else finding.message
        made.add(place(finding), finding.severity, finding.code, finding.object, message)
    return [*([made] if made.rows else []), summary(document)]


def wide(document: ValidationDocument, _screen: Screen | None) -> list[Part]:
    """The same with fields and corrected texts in columns of their own; below, what the rules are about."""
    made = Table(("PLACE", "SEVERITY", "CODE", "OBJECT", "FIELD", "MESSAGE", "SUGGESTION"), flexible=(0, 3, 4, 5, 6))
    for finding in document.findings:
        about = (finding.severity, finding.code, finding.object, finding.field, finding.message)
        made.add(place(finding), *about, finding.suggestion)
    rules = Table(("CODE", "ABOUT", "WHY", "WHAT TO DO"), flexible=(1, 2, 3))
    for rule in document.rules:
        rules.add(rule.code, rule.title, rule.why, rule.fix)
    return [*(part for part in (made, rules) if part.rows), summary(document)]


def names(document: ValidationDocument) -> str:
    """`KIND/NAMESPACE/NAME` of every object with a finding, once."""
    objects = dict.fromkeys(text.object_name(finding.object) for finding in document.findings)
    return "".join(f"{shown.line(name)}\n" for name in objects)


def parse(option: str) -> Format[ValidationDocument]:
    """The format that `-o OPTION` asks for. UsageError for an unknown one or a malformed template."""
    texts = {"text": whole(finding_text.render), "short": whole(finding_text.short)}
    return choose(option, {**texts, **of_tables(FORMATS)})


FORMATS = Formats(table=table, wide=wide, name=names)
