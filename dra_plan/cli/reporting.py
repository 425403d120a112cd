"""`--report`: writes the reports of a run, also of one that ends with an error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dra_plan.errors import UsageError

if TYPE_CHECKING:
    from dra_plan.cluster import Cluster
    from dra_plan.documents.allocation import AllocationDocument
    from dra_plan.documents.explanation import ExplanationDocument
    from dra_plan.documents.schedule import ScheduleDocument
    from dra_plan.output.gate import Gate
    from dra_plan.output.reports.claim_sets import Origins
    from dra_plan.output.reports.content import Content
    from dra_plan.output.reports.option import Wanted
    from dra_plan.planner.answer import PrintedAnswer


class Reporting:
    """The reports of one run of `command`, as a context.

    Within it, `tell` writes them from the answer. If an error leaves it before, they are written from that error:
    after every run that could read its own `--report`, each report is there, whole and valid.
    """

    def __init__(
        self, command: str, options: list[str] | None, *inputs: list[str] | None, pages_only: bool = False
    ) -> None:
        self._command, self._pages_only = command, pages_only
        self._options = options or []
        self.anchor = next((path for given in inputs for path in given or ()), "")
        self._wanted: list[Wanted] = []
        self._told = False

    def __enter__(self) -> Self:
        if self._options:
            from dra_plan.output.reports.option import parse

            self._wanted = parse(self._options, pages_only=self._pages_only)
        return self

    @property
    def has_pages(self) -> bool:
        """Whether a page is wanted."""
        return any(each.render is None for each in self._wanted)

    def tell(self, make: Callable[[], Content] | None, page: Callable[[], str]) -> None:
        """Write the reports; `make` and `page` are called only for those. UsageError if one can't be written."""
        self._told = True
        if not self._wanted:
            return
        content = make() if make is not None and any(each.render is not None for each in self._wanted) else None
        failed = [problem for wanted in self._wanted if (problem := _write(wanted, content, page))]
        if failed:
            raise UsageError.of_lines(failed)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if self._told or not isinstance(error, Exception) or isinstance(error, BrokenPipeError):
            return
        from dra_plan.output.reports import errors

        from .printing import print_error

        try:
            content = errors.content(error, self._command, self.anchor)
            self.tell(lambda: content, lambda: _page_of_error(self._command, content))
        except UsageError as unwritten:
            print_error(*unwritten.lines)


def of_claim_sets(
    document: AllocationDocument | ExplanationDocument, gate: Gate, origins: Origins, *, command: str, anchor: str
) -> Content:
    """What the reports of `allocate` and `explain` say; what makes them is only loaded if there are any."""
    from dra_plan.output.reports import claim_sets

    return claim_sets.content(document, gate, origins, command=command, anchor=anchor)


def of_pods(document: ScheduleDocument, gate: Gate, origins: Origins, *, command: str, anchor: str) -> Content:
    """What the reports of `schedule` say."""
    from dra_plan.output.reports import pods

    return pods.content(document, gate, origins, command=command, anchor=anchor)


def _page_of_error(command: str, content: Content) -> str:
    from dra_plan.report.page import render_error

    told = [f"{entry.place}: {entry.message}" if entry.source else entry.message for entry in content.entries()]
    return render_error(command, told)


def page_of(cluster: Cluster | None, answer: PrintedAnswer[Any]) -> Callable[[], str]:
    """What makes the page of an answer, if it is wanted; without a cluster, without a picture."""

    def made() -> str:
        from dra_plan.report.pages import html

        return cluster.page(answer) if cluster is not None else html(answer)

    return made


def _write(wanted: Wanted, content: Content | None, page: Callable[[], str]) -> str | None:
    """Writes one report; what went wrong, or None."""
    from dra_plan.output.reports.whole_file import write

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
