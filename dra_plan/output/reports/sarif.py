"""SARIF 2.1.0, the format of static analysis results that code scanning services read."""

from __future__ import annotations

from typing import Any

from dra_plan import __version__, shown
from dra_plan.output import structured

from .content import Content, Entry, Level, RuleText
from .fingerprints import fingerprints
from .places import file_of, uri

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}

Data = dict[str, Any]


def render(content: Content) -> str:
    """A log of one run; its results are empty if there is nothing to report."""
    codes = sorted({entry.code for entry in content.entries()})
    driver = {
        "name": "dra-plan",
        "version": __version__,
        "rules": [_rule(code, content.rules.get(code)) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"dra-plan/{content.command}/"},
        "invocations": [{"executionSuccessful": not content.aborted}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(entry, mark, content, codes) for entry, mark in fingerprints(content)],
    }
    return structured.json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str, text: RuleText | None) -> Data:
    if text is None:
        return {"id": code, "shortDescription": {"text": code.replace("-", " ")}}
    return {"id": code, "shortDescription": {"text": text.title}, "help": {"text": text.help}}


def _result(entry: Entry, fingerprint: str, content: Content, codes: list[str]) -> Data:
    details = f"\n{entry.details}" if entry.details else ""
    location: Data = {"physicalLocation": _physical(entry, content)}
    if entry.object:
        location["logicalLocations"] = [_logical(entry)]
    result = {
        "ruleId": entry.code,
        "ruleIndex": codes.index(entry.code),
        "level": LEVELS[entry.level],
        "message": {"text": shown.lines(f"{entry.message}{details}")},
        "locations": [location],
        "partialFingerprints": {"draPlan/v1": fingerprint},
    }
    return {**result, "fixes": [_fix(entry, content)]} if entry.edits else result


def _fix(entry: Entry, content: Content) -> Data:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.text},
        }
        for edit in entry.edits
    ]
    where = {"uri": uri(file_of(entry, content))}
    return {
        "description": {"text": shown.line(entry.fix)},
        "artifactChanges": [{"artifactLocation": where, "replacements": replacements}],
    }


def _physical(entry: Entry, content: Content) -> Data:
    """Line 1 stands for a file as a whole: services show no result without a line."""
    region = {"startLine": max(entry.line, 1)}
    if entry.line and entry.column:
        region["startColumn"] = entry.column
        if entry.end_line and entry.end_column:
            region |= {"endLine": entry.end_line, "endColumn": entry.end_column}
    return {"artifactLocation": {"uri": uri(file_of(entry, content))}, "region": region}


def _logical(entry: Entry) -> Data:
    where = f"{entry.object} {entry.path}" if entry.path else entry.object
    return {"name": shown.line(entry.object), "fullyQualifiedName": shown.line(where), "kind": "resource"}
