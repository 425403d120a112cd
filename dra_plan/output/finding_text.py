"""`validate -o text`, each finding with its source line and what to write instead, and `-o short`, a line a finding."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan import shown
from dra_plan.documents.validation import FindingEntry, ValidationDocument

from . import text
from .columns import Screen
from .source_line import excerpt_lines

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "info": "\x1b[1;36m"}
_WIDTH = 80
"""Columns that source lines keep to where no screen says how many there are."""


def short(document: ValidationDocument, _screen: Screen | None) -> str:
    """`PLACE: SEVERITY[CODE] OBJECT: FIELD: MESSAGE`, a line a finding, and nothing else."""
    made = []
    for finding in document.findings:
        where = f"{place(finding)}: " if finding.file else ""
        about = [part for part in (finding.object, finding.field, finding.message) if part]
        made.append(shown.line(f"{where}{finding.severity}[{finding.code}] {': '.join(about)}") + "\n")
    return "".join(made)


def render(document: ValidationDocument, screen: Screen | None) -> str:
    """Each finding with its source line, the object and the field, and what to do; below, how many there are."""
    rules = {rule.code: rule for rule in document.rules}
    blocks = ["\n".join(block(finding, rules[finding.code].fix, screen)) + "\n" for finding in document.findings]
    fixable = sum(finding.fix is not None for finding in document.findings)
    more = f" {fixable} can be fixed with --fix." if fixable else ""
    return "\n".join([*blocks, f"{shown.line(summary(document))}{more}\n"])


def block(finding: FindingEntry, fix: str, screen: Screen | None) -> Iterator[str]:
    """The lines of one finding; `fix` is what its rule says to do."""
    colour = _COLOURS[finding.severity] if screen and screen.colour else ""
    where = shown.line(f"{place(finding)}: ") if finding.file else ""
    mark = f"{finding.severity}[{finding.code}]"
    head = wrapped(f"{where}{mark} {shown.line(finding.message)}", screen, "  ")
    head[0] = _in_colour(head[0], where, mark, colour)
    yield from head
    width = screen.width if screen else _WIDTH
    margin = " " * len(str(finding.line)) if finding.excerpt else ""
    yield from excerpt_lines(finding, width, colour)
    about = ", ".join(part for part in (finding.object, finding.field) if part)
    yield from wrapped(f"{margin} = {shown.line(about)}", screen, f"{margin}   ")
    yield from _help(finding, fix, screen)
    if finding.fix is not None:
        yield from wrapped(f"fix: --fix can {finding.fix.title}", screen, "     ")


def _in_colour(line: str, where: str, mark: str, colour: str) -> str:
    if not colour or not line.startswith(where + mark):
        return line
    return f"{_BOLD}{where}{_PLAIN}{colour}{mark}{_PLAIN}{line[len(where + mark) :]}"


def _help(finding: FindingEntry, fix: str, screen: Screen | None) -> Iterator[str]:
    """What to do, and what to write if that is known: as it is, to be copied."""
    if not finding.suggestion:
        yield from wrapped(f"help: {fix}", screen, "      ")
        return
    yield from wrapped(f"help: {fix.removesuffix('.')}:", screen, "      ")
    yield f"        {shown.line(finding.suggestion)}"


def wrapped(line: str, screen: Screen | None, indent: str) -> list[str]:
    """The lines of a text on a screen, wrapped between words; elsewhere it stays whole."""
    if screen is None or len(line) <= screen.width:
        return [line]
    import textwrap

    words = line.lstrip()
    start = line[: len(line) - len(words)]
    return textwrap.wrap(
        words,
        max(screen.width, len(indent) + 20),
        initial_indent=start,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


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
