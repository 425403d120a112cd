"""The value of `--report`, and the report of a run that ended with an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from dra_plan.errors import DraPlanError, UsageError
from dra_plan.manifests.faults import Fault, ManifestErrors
from dra_plan.manifests.json_reader import Line
from dra_plan.text.reports.content import Content, Entry, Level, ReportCase, Result, RuleText

FORMS = "html=FILE, junit=FILE, sarif=FILE, github, gitlab=FILE"


PAGE = "html"
"""The report format that is an HTML page."""


class Wanted(NamedTuple):
    """A requested report. A report without a file is written to standard error.

    `render` creates the report from its content. It is None for a page.
    """

    name: str
    file: str | None
    render: Callable[[Content], str] | None

    def __str__(self) -> str:
        return self.name if self.file is None else f"{self.name}={self.file}"


def parse(options: Iterable[str], *, pages_only: bool = False) -> list[Wanted]:
    """Return the requested reports. Raises UsageError for an unknown format, a missing file name, or a duplicate."""
    wanted = [_parse(option, pages_only=pages_only) for option in options]
    files = [each.file for each in wanted if each.file is not None]
    for file in files:
        if files.count(file) > 1:
            raise UsageError(f"--report: {file} is given for two reports")
    return wanted


def _parse(option: str, *, pages_only: bool) -> Wanted:
    name, equals, file = option.partition("=")
    known = {PAGE: None} if pages_only else {PAGE: None, **_renderers()}
    if name not in known:
        raise UsageError(f"--report: no format {name!r}; there {'is html=FILE' if pages_only else f'are {FORMS}'}")
    if name == "github":
        if equals:
            raise UsageError("--report: github takes no file, because annotations go to the log of the step")
        return Wanted(name, None, known[name])
    if file in ("", "-", "/dev/stdout"):
        raise UsageError(f"--report: {name} needs a file ({name}=FILE); standard output is used for the result")
    return Wanted(name, file, known[name])


def _renderers() -> dict[str, Callable[[Content], str]]:
    from .forms import github, gitlab, junit, sarif

    return {"junit": junit, "sarif": sarif, "github": github, "gitlab": gitlab}


RULES = {
    "input-error": RuleText("The input cannot be read", ("Fix the error in the message. Nothing was planned.")),
    "usage-error": RuleText("The command line is wrong", ("See dra-plan COMMAND --help. Nothing was planned.")),
    "internal-error": RuleText("dra-plan failed", ("This is a defect in dra-plan. The log says how to report it.")),
}


def content(error: Exception, command: str, anchor: str) -> Content:
    """Return a failed check for each mistake that the error lists, or one failed check if it lists none."""
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
        f"{fault.path}: {message}" if fault.path else message,
        source=fault.source,
        line=int(fault.line),
        column=fault.line.column if isinstance(fault.line, Line) else 0,
        object=fault.object,
        path=fault.path,
    )


def _name(entry: Entry) -> str:
    return ": ".join(part for part in (entry.place or entry.code, entry.object, entry.path) if part)
