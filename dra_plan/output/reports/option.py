"""The value of `--report`: which format, and the file it goes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from dra_plan.errors import UsageError

from .content import Content

FORMS = "html=FILE, junit=FILE, sarif=FILE, github, gitlab=FILE"

PAGE = "html"
"""The form that is a page, made of the answer itself."""


class Wanted(NamedTuple):
    """One report that was asked for. Without a file it goes to standard error, among the log's lines.

    `render` makes it of what a report says; None for a page.
    """

    name: str
    file: str | None
    render: Callable[[Content], str] | None

    def __str__(self) -> str:
        return self.name if self.file is None else f"{self.name}={self.file}"


def parse(options: Iterable[str], *, pages_only: bool = False) -> list[Wanted]:
    """The reports that were asked for. UsageError for an unknown format, a missing file, or one given twice."""
    wanted = [_parse(option, pages_only=pages_only) for option in options]
    files = [each.file for each in wanted if each.file is not None]
    for file in files:
        if files.count(file) > 1:
            raise UsageError(f"--report: two reports go to {file}")
    return wanted


def _parse(option: str, *, pages_only: bool) -> Wanted:
    name, equals, file = option.partition("=")
    known = {PAGE: None} if pages_only else {PAGE: None, **_renderers()}
    if name not in known:
        raise UsageError(f"--report: no format {name!r}; there {'is html=FILE' if pages_only else f'are {FORMS}'}")
    if name == "github":
        if equals:
            raise UsageError("--report: github takes no file; annotations belong to the log of the step")
        return Wanted(name, None, known[name])
    if file in ("", "-", "/dev/stdout"):
        raise UsageError(f"--report: {name} needs a file ({name}=FILE); standard output is for the answer")
    return Wanted(name, file, known[name])


def _renderers() -> dict[str, Callable[[Content], str]]:
    from . import github, gitlab, junit, sarif

    return {"junit": junit.render, "sarif": sarif.render, "github": github.render, "gitlab": gitlab.render}
