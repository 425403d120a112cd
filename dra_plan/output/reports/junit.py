"""JUnit XML, as Jenkins, GitLab and others read it: one test case per claim set, pod or finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dra_plan import shown

from .content import Content, Entry, ReportCase, Result

if TYPE_CHECKING:
    from junitparser import TestCase


def render(content: Content) -> str:
    """One test suite. A check that did not hold is a failure; what could not be judged, or not be read, is an error.

    What makes nothing fail is told in the suite's error output, so that red test cases mean a status that is not 0.
    """
    from junitparser import SystemErr, TestSuite

    suite = TestSuite(f"dra-plan {content.command}")
    suite.add_testcases([_case(check, content.command) for check in content.checks])
    if content.notes:
        notes = "\n".join(f"{entry.level}: {_text(entry)}" for entry in content.notes)
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
    """`PLACE: OBJECT: FIELD: MESSAGE [CODE]`, and the details."""
    parts = [part for part in (entry.place, entry.object, entry.path, entry.message) if part]
    head = f"{': '.join(parts)} [{entry.code}]"
    return f"{head}\n{entry.details}" if entry.details else head
