"""`--report`, which writes reports even if the run ends with an error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer

from dra_plan.cli.telling import annotate, is_quiet
from dra_plan.errors import UsageError

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.planner.answer import PrintedAnswer
    from dra_plan.text.reports.content import Content
    from dra_plan.text.reports.option import Wanted


class Reporting:
    """A context manager that writes the reports of a run.

    If the block ends with an error before it calls `tell`, the reports are about the error. In any case, each report is
    complete and valid, provided that the run's `--report` options are valid.
    """

    def __init__(self, context: typer.Context, options: list[str] | None, *, pages_only: bool = False) -> None:
        self._command, self._pages_only = str(context.info_name), pages_only
        self._options = options or []
        given = context.params
        self._paths = [path for name in ("paths", "filenames") for path in given.get(name) or ()]
        self._recursive = bool(given.get("recursive"))
        self._wanted: list[Wanted] = []
        self._told = False

    def __enter__(self) -> Self:
        if self._options:
            from dra_plan.text.reports.option import parse

            self._wanted = parse(self._options, pages_only=self._pages_only)
        return self

    @property
    def anchor(self) -> str:
        """The first file of the input, to which entries without a position are attached."""
        from dra_plan.manifests.sources import first_file

        named = self._paths[0] if self._paths else ""
        return first_file(self._paths, recursive=self._recursive) or named

    @property
    def has_pages(self) -> bool:
        """Whether one of the reports is a page."""
        return any(each.render is None for each in self._wanted)

    def tell(self, make: Callable[[], Content] | None, page: Callable[[], str]) -> None:
        """Write the reports. `make` and `page` are called only if a report needs them.

        Raises UsageError if a report cannot be written.
        """
        self._told = True
        if not self._wanted:
            return
        content = make() if make is not None and any(each.render is not None for each in self._wanted) else None
        if content is not None and is_quiet():
            content = content.without_facts()
        annotate(annotated=content is not None and any(each.file is None for each in self._wanted))
        failed = [problem for wanted in self._wanted if (problem := _write(wanted, content, page))]
        if failed:
            raise UsageError.of_lines(failed)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if self._told or not isinstance(error, Exception) or isinstance(error, BrokenPipeError):
            return
        from dra_plan.text.reports import option

        from .printing import print_error

        try:
            content = option.content(error, self._command, self.anchor)
            self.tell(lambda: content, lambda: _page_of_error(self._command, content))
        except UsageError as unwritten:
            print_error(*unwritten.lines)


def _page_of_error(command: str, content: Content) -> str:
    from dra_plan.page.page import render_error

    told = [f"{entry.place}: {entry.message}" if entry.source else entry.message for entry in content.entries()]
    return render_error(command, told)


def page_of(cluster: LoadedCluster | None, answer: PrintedAnswer[Any]) -> Callable[[], str]:
    """Return a function that returns the page for a result. Without a cluster, the page has no picture."""

    def made() -> str:
        return answer.html() if cluster is None else answer.html(cluster.inventory, cluster.view)

    return made


def _write(wanted: Wanted, content: Content | None, page: Callable[[], str]) -> str | None:
    """Write one report; return the error message, or None."""
    from dra_plan.text.reports.whole_file import write

    text = page() if wanted.render is None or content is None else wanted.render(content)
    if wanted.file is None:
        sys.stderr.write(text)
        sys.stderr.flush()
        return None
    try:
        write(wanted.file, text)
    except OSError as error:
        return f"--report {wanted}: {error.strerror or error}"
    return None
