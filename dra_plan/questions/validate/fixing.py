"""`validate --fix` and `--diff`. No other code changes manifests."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from dra_plan import shown
from dra_plan.cli.reporting import Reporting, page_of
from dra_plan.cli.running import Exit
from dra_plan.errors import InputError

if TYPE_CHECKING:
    from dra_plan.questions.validate.answer import FixedManifests, ValidationReport
    from dra_plan.validation.fixing import FixedSource


_MARKED = (("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE))
"""Encodings of files that begin with a byte order mark."""


def show(done: FixedManifests, reports: Reporting) -> Exit:
    """Print the changes that `--fix` would make, and report the findings.

    The exit status shows whether there are any changes.
    """
    from dra_plan.questions.validate.report import of_fixes

    reports.tell(lambda: of_fixes(done.before.document, anchor=reports.anchor), page_of(None, done.before))
    for source in done.sources:
        sys.stdout.write(difference(source.name, source.before, source.after))
    _tell(done, "would be made")
    return Exit.DOES_NOT_FIT if done.sources else Exit.OK


def write(done: FixedManifests) -> ValidationReport:
    """Write the fixed files, each atomically, and return the report on the remaining findings.

    Raises InputError for a file that cannot be written, or that has changed since it was read.
    """
    from dra_plan.text.reports.whole_file import write

    for source in done.sources:
        try:
            write(source.name, _encoded(source))
        except OSError as error:
            raise InputError(f"{source.name}: cannot be written: {error.strerror or error}") from error
    _tell(done, "made")
    return done.report


def _tell(done: FixedManifests, verb: str) -> None:
    from dra_plan.cli.printing import print_note

    fixes = f"{done.made} fix" if done.made == 1 else f"{done.made} fixes"
    files = f"{len(done.sources)} file" if len(done.sources) == 1 else f"{len(done.sources)} files"
    print_note(f"{fixes} {verb} in {files}" if done.made else "nothing to fix")


def _encoded(source: FixedSource) -> bytes:
    """Return the new text in the encoding of the file, with its byte order mark if it has one."""
    data = Path(source.name).read_bytes()
    encoding, mark = next((known for known in _MARKED if data.startswith(known[1])), ("utf-8", b""))
    if data != mark + source.before.encode(encoding):
        raise InputError(f"{source.name}: changed while it was being checked; nothing is written")
    return mark + source.after.encode(encoding)


_NO_END = "\\ No newline at end of file"


def difference(name: str, before: str, after: str) -> str:
    """Return the diff of one file for `patch -p0`, with terminal control characters escaped."""
    lines = unified_diff(_lines(before), _lines(after), shown.line(name), shown.line(name))
    return "".join(_printed(lines))


def _lines(text: str) -> list[str]:
    """Return lines with their line endings; only a line feed ends a line."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + [line for line in (last,) if line]


def _printed(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        body = line.removesuffix("\n")
        end = "\r" if body.endswith("\r") else ""
        yield "\t".join(map(shown.line, body.removesuffix("\r").split("\t"))) + f"{end}\n"
        if body == line:
            yield f"{_NO_END}\n"
