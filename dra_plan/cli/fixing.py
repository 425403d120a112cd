"""`validate --fix` and `--diff`: the only place that writes into manifests."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dra_plan.errors import InputError

from .exits import Exit
from .reporting import Reporting, page_of

if TYPE_CHECKING:
    from dra_plan.planner.validation import FixedManifests, ValidationReport
    from dra_plan.validation.fixing import FixedSource


_MARKED = (("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE))
"""Encodings of files that begin with a byte order mark."""


def show(done: FixedManifests, reports: Reporting) -> Exit:
    """Prints what would be written, and reports what was found. The status says whether anything would be written."""
    from dra_plan.output.difference import difference
    from dra_plan.output.reports.findings import of_fixes

    reports.tell(lambda: of_fixes(done.before.document, anchor=reports.anchor), page_of(None, done.before))
    for source in done.sources:
        sys.stdout.write(difference(source.name, source.before, source.after))
    _tell(done, "would be made")
    return Exit.DOES_NOT_FIT if done.sources else Exit.OK


def write(done: FixedManifests) -> ValidationReport:
    """Writes what was fixed, each file as a whole. InputError for a file that can't be written, or has changed."""
    from dra_plan.output.reports.whole_file import write

    for source in done.sources:
        try:
            write(source.name, _encoded(source))
        except OSError as error:
            raise InputError(f"{source.name}: can't be written: {error.strerror or error}") from error
    _tell(done, "made")
    return done.report


def _tell(done: FixedManifests, verb: str) -> None:
    from .printing import print_note

    fixes = f"{done.made} fix" if done.made == 1 else f"{done.made} fixes"
    files = f"{len(done.sources)} file" if len(done.sources) == 1 else f"{len(done.sources)} files"
    print_note(f"{fixes} {verb} in {files}" if done.made else "nothing to fix")


def _encoded(source: FixedSource) -> bytes:
    """The new text as the file has it: in UTF-16 if it is, with its byte order mark if it has one."""
    data = Path(source.name).read_bytes()
    encoding, mark = next((known for known in _MARKED if data.startswith(known[1])), ("utf-8", b""))
    if data != mark + source.before.encode(encoding):
        raise InputError(f"{source.name}: has changed while it was judged; nothing is written")
    return mark + source.after.encode(encoding)
