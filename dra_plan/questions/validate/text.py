"""The formats of `validate`. This module contains `table`, `wide` and `name`."""

from __future__ import annotations

from dra_plan import shown
from dra_plan.questions.validate.document import ValidationDocument
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.findings import block, place
from dra_plan.text.formats import Format, Formats, choose, of_tables, whole
from dra_plan.text.naming import object_name, release


def table(document: ValidationDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for each finding, in input order, followed by the number of findings."""
    made = Table(("PLACE", "SEVERITY", "CODE", "OBJECT", "MESSAGE"), flexible=(0, 3, 4))
    for finding in document.findings:
        message = f"{finding.field}: {finding.message}" if finding.field else finding.message
        made.add(place(finding), finding.severity, finding.code, finding.object, message)
    return [*([made] if made.rows else []), summary(document)]


def wide(document: ValidationDocument, _screen: Screen | None) -> list[Part]:
    """Return the table with columns for fields and suggestions, and explanations of the rules below."""
    made = Table(("PLACE", "SEVERITY", "CODE", "OBJECT", "FIELD", "MESSAGE", "SUGGESTION"), flexible=(0, 3, 4, 5, 6))
    for finding in document.findings:
        about = (finding.severity, finding.code, finding.object, finding.field, finding.message)
        made.add(place(finding), *about, finding.suggestion)
    rules = Table(("CODE", "ABOUT", "WHY", "WHAT TO DO"), flexible=(1, 2, 3))
    for rule in document.rules:
        rules.add(rule.code, rule.title, rule.why, rule.fix)
    return [*(part for part in (made, rules) if part.rows), summary(document)]


def names(document: ValidationDocument) -> str:
    """Return a line of the form `KIND/NAMESPACE/NAME` for each object with a finding, without duplicates."""
    objects = dict.fromkeys(object_name(finding.object) for finding in document.findings)
    return "".join(f"{shown.line(name)}\n" for name in objects)


def parse(option: str) -> Format[ValidationDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    texts = {"text": whole(render), "short": whole(short)}
    return choose(option, {**texts, **of_tables(FORMATS)})


FORMATS = Formats(table=table, wide=wide, name=names)


def short(document: ValidationDocument, _screen: Screen | None) -> str:
    """Return a line of the form `PLACE: SEVERITY[CODE] OBJECT: FIELD: MESSAGE` for each finding."""
    made = []
    for finding in document.findings:
        where = f"{place(finding)}: " if finding.file else ""
        about = [part for part in (finding.object, finding.field, finding.message) if part]
        made.append(shown.line(f"{where}{finding.severity}[{finding.code}] {': '.join(about)}") + "\n")
    return "".join(made)


def render(document: ValidationDocument, screen: Screen | None) -> str:
    """Return each finding with its source line, object, field and fix, followed by the number of findings."""
    rules = {rule.code: rule for rule in document.rules}
    blocks = ["\n".join(block(finding, rules[finding.code].fix, screen)) + "\n" for finding in document.findings]
    fixable = sum(finding.fix is not None for finding in document.findings)
    more = f" {fixable} can be fixed with --fix." if fixable else ""
    return "\n".join([*blocks, f"{shown.line(summary(document))}{more}\n"])


def summary(document: ValidationDocument) -> str:
    """Return a line with the number of findings, the number of objects, and the release."""
    counts = document.summary
    nouns = (("error", counts.errors), ("warning", counts.warnings), ("info", counts.infos))
    found = [_counted(number, noun) for noun, number in nouns if number]
    spared = f" ({counts.spared} ignored)" if counts.spared else ""
    objects = _counted(counts.objects, "object")
    said = f"{', '.join(found)} in {objects}" if found else f"{objects} checked, no findings"
    return f"{said}{spared}. Checked against {release(document.target)}."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
