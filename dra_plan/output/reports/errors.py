"""Reports of a run that has no answer: the input or the question was wrong, or dra-plan is."""

from __future__ import annotations

from dra_plan.errors import DraPlanError, UsageError
from dra_plan.manifests.faults import Fault, ManifestErrors
from dra_plan.manifests.json_reader import Line

from .content import Content, Entry, Level, ReportCase, Result, RuleText

RULES = {
    "input-error": RuleText("The input can't be read", "Mend what the message names; nothing was planned."),
    "usage-error": RuleText("The command line is wrong", "See dra-plan COMMAND --help; nothing was planned."),
    "internal-error": RuleText("dra-plan failed", "This is a defect of dra-plan; the log says how to report it."),
}


def content(error: Exception, command: str, anchor: str) -> Content:
    """One broken check per fault of the input, or one for the error as a whole."""
    checks = tuple(ReportCase(_name(entry), Result.BROKEN, entry) for entry in _entries(error))
    return Content(command, checks, rules=RULES, anchor=anchor, aborted=True)


def _entries(error: Exception) -> list[Entry]:
    if isinstance(error, ManifestErrors):
        return [_of_fault(fault) for fault in error.faults]
    if isinstance(error, UsageError):
        return [Entry(Level.ERROR, "usage-error", str(error))]
    if isinstance(error, DraPlanError):
        return [Entry(Level.ERROR, "input-error", str(error))]
    return [Entry(Level.ERROR, "internal-error", f"dra-plan failed with {type(error).__name__}; see the log")]


def _of_fault(fault: Fault) -> Entry:
    message = f"{fault.message} ({fault.hint})" if fault.hint else fault.message
    return Entry(
        Level.ERROR,
        "input-error",
        message,
        source=fault.source,
        line=int(fault.line),
        column=fault.line.column if isinstance(fault.line, Line) else 0,
        object=fault.object,
        path=fault.path,
    )


def _name(entry: Entry) -> str:
    return ": ".join(part for part in (entry.place or entry.code, entry.object, entry.path) if part)
