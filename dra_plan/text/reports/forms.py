"""The report formats: GitHub annotations, JUnit, SARIF and GitLab code quality."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dra_plan import __version__, shown
from dra_plan.text import structured
from dra_plan.text.reports.content import (
    STDIN,
    Content,
    Entry,
    Level,
    ReportCase,
    Result,
    RuleText,
    file_of,
    fingerprints,
    relative,
    uri,
)

if TYPE_CHECKING:
    from junitparser import TestCase


COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}


def github(content: Content) -> str:
    """Return a workflow command on each line, or "" if there is nothing to report.

    The most severe entries come first, because GitHub shows only the first ten entries of each level next to the code.
    An entry with the same explanation as an earlier entry is only counted in the earlier entry's command.
    """
    entries = list(content.entries())
    alike = Counter(entry.like for entry in entries if entry.like)
    told = (entry for entry in entries if not entry.like)
    ranked = sorted(told, key=lambda entry: list(COMMANDS).index(entry.level))
    return "".join(f"{_command(entry, alike[entry.object])}\n" for entry in ranked)


def _command(entry: Entry, alike: int) -> str:
    others = f" and {alike} like it" if alike else ""
    about = f"{entry.object}{others}: " if entry.object else ""
    details = f"\n{entry.details}" if entry.details else ""
    return f"::{COMMANDS[entry.level]} {_properties(entry)}::{_data(f'{about}{entry.message}{details}')}"


def _properties(entry: Entry) -> str:
    given: dict[str, str | int] = {}
    if entry.source and entry.source != STDIN:
        given["file"] = relative(entry.source)
        if entry.line:
            given["line"] = entry.line
        if entry.line and entry.column:
            given["col"] = entry.column
    given["title"] = f"dra-plan {entry.code}"
    return ",".join(f"{name}={_property(str(value))}" for name, value in given.items())


def _data(text: str) -> str:
    """Return the text with the escapes that a runner decodes in a command's text."""
    return shown.lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return the text with the escapes of `_data`, and of the characters that end a property value."""
    return shown.line(text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C"))


SEVERITIES = {Level.ERROR: "major", Level.WARNING: "minor", Level.INFO: "info"}


def gitlab(content: Content) -> str:
    """Return the report as a JSON array, which is empty if there is nothing to report.

    Facts about the release are omitted, because they do not belong to a line and a merge request cannot change them.
    """
    told = fingerprints(content.without_facts())
    return structured.json([_issue(entry, mark, content) for entry, mark in told])


def _issue(entry: Entry, fingerprint: str, content: Content) -> dict[str, Any]:
    about = f"{entry.object}: " if entry.object else ""
    return {
        "description": shown.lines(f"{about}{entry.message}"),
        "check_name": entry.code,
        "fingerprint": fingerprint,
        "severity": SEVERITIES[entry.level],
        "location": {"path": shown.printable(file_of(entry, content)), "lines": {"begin": max(entry.line, 1)}},
    }


def junit(content: Content) -> str:
    """Return the report as a test suite. Undecided and unreadable checks are errors.

    Entries that do not make the command fail go to the suite's error output, so a failing test case always means a
    nonzero exit status.
    """
    from junitparser import SystemErr, TestSuite

    suite = TestSuite(f"dra-plan {content.command}")
    suite.add_testcases([_case(check, content.command) for check in content.checks])
    if content.notes:
        notes = "\n".join(f"{LEVELS[entry.level]}: {_text(entry)}" for entry in content.notes)
        suite.append(SystemErr(shown.lines(notes)))  # type: ignore[no-untyped-call]
    suite.update_statistics()  # type: ignore[no-untyped-call]
    text: str = suite.tostring().decode("utf-8")  # type: ignore[no-untyped-call]
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(check: ReportCase, command: str) -> TestCase:
    from junitparser import Error, Failure, TestCase

    case = TestCase(shown.line(check.name), classname=f"dra-plan.{command}")
    if check.entry is not None:
        made = Failure if check.result is Result.FAILED else Error
        result = made(shown.lines(check.entry.message), check.entry.code)
        result.text = shown.lines(_text(check.entry))
        case.result = [result]
    return case


def _text(entry: Entry) -> str:
    """Return `PLACE: OBJECT: FIELD: MESSAGE [CODE]`, and the details."""
    parts = [part for part in (entry.place, entry.object, entry.path, entry.message) if part]
    head = f"{': '.join(parts)} [{entry.code}]"
    return f"{head}\n{entry.details}" if entry.details else head


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}


Data = dict[str, Any]


def sarif(content: Content) -> str:
    """Return the report as a log with one run, which has no results if there is nothing to report."""
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


def _unlinked(text: str) -> str:
    """Return the text without links.

    In SARIF, `[text](address)` is a link unless a bracket is escaped (2.1.0, 3.11.6).
    """
    return text.replace("](", "\\](")


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
        "message": {"text": _unlinked(shown.lines(f"{entry.message}{details}"))},
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
    """Return the location; line 1 represents a whole file, because services do not show results without a line."""
    region = {"startLine": max(entry.line, 1)}
    if entry.line and entry.column:
        region["startColumn"] = entry.column
        if entry.end_line and entry.end_column:
            region |= {"endLine": entry.end_line, "endColumn": entry.end_column}
    return {"artifactLocation": {"uri": uri(file_of(entry, content))}, "region": region}


def _logical(entry: Entry) -> Data:
    where = f"{entry.object} {entry.path}" if entry.path else entry.object
    return {"name": shown.line(entry.object), "fullyQualifiedName": shown.line(where), "kind": "resource"}
