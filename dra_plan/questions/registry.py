"""The questions, in the order of `--help`: one folder and one record here for each.

A folder has `ask.py` (the method of `Cluster` and its options), `answer.py`, `document.py`, `text.py`, and optionally
`page.py`, `gate.py` and `command.py`; docs/internals/adding-a-question.md describes their content. Within a folder,
imports go command > page > text > gate > answer > document; of another question, import only `ask`, `answer` and
`document`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from .allocate.ask import allocate
from .autoscale.ask import autoscale
from .capacity.ask import capacity
from .diff.ask import diff
from .drain_each.ask import drain_each
from .explain.ask import explain
from .grow.ask import grow
from .impact.ask import impact
from .maintain.ask import maintain
from .place.ask import place
from .pools.ask import pools
from .repack.ask import repack
from .replay.ask import replay
from .schedule.ask import schedule
from .validate.ask import validate

if TYPE_CHECKING:
    from dra_plan.allocator import View
    from dra_plan.api.inventory import Inventory
    from dra_plan.documents.base import PrintedDocument
    from dra_plan.page.content import Page
    from dra_plan.planner.answer import PrintedAnswer


class Questions:
    """The questions about a cluster, as methods."""

    __slots__ = ()

    allocate = allocate
    autoscale = autoscale
    capacity = capacity
    diff = diff
    drain_each = drain_each
    explain = explain
    grow = grow
    impact = impact
    maintain = maintain
    place = place
    pools = pools
    repack = repack
    replay = replay
    schedule = schedule
    validate = validate


class QuestionRecord(NamedTuple):
    """A question, its folder, and the output formats of its answer.

    The folder has the same name as the question's command.
    """

    name: str
    kind: str
    """The kind of its document."""
    document: str
    """The struct of its document."""
    usual: str = "table"
    """The output format without `-o`."""
    has_page: bool = True
    command: str = "plans"
    """The type of its command: `plans` (with what-if options and cluster access), `watches` (the same with `--watch`),
    `plain`, or none."""

    def document_type(self) -> type[PrintedDocument]:
        """Return the struct of the question's document."""
        found: type[PrintedDocument] = getattr(self._part("document"), self.document)
        return found

    def text(self, document: PrintedDocument) -> str:
        """Return the document as the command prints it, without colours and without a limit on the width."""
        made: str = self._part("text").parse(self.usual)(document, None)
        return made.rstrip("\n")

    def fragment(self, document: PrintedDocument) -> str:
        """Return the document as an HTML fragment.

        The fragment consists of tables or, if there are none, of plain text.
        """
        from dra_plan.text import html

        formats = getattr(self._part("text"), "FORMATS", None)
        if self.usual != "table" or formats is None:
            return html.text(self.text(document))
        return html.fragment(formats.table(document, None))

    def still(self, answer: PrintedAnswer[Any], inventory: Inventory, view: View) -> str:
        """Return the picture of the answer's page as an HTML fragment, or "" if the page has no picture."""
        from dra_plan.page.still import still

        return still(self._part("page").page(answer, inventory, view).scenes) if self.has_page else ""

    def page(self, answer: PrintedAnswer[Any], inventory: Inventory | None, view: View | None) -> Page:
        """Return the page of an answer about a cluster. Without a cluster, the page has no picture."""
        from msgspec import UNSET

        from dra_plan.page.pages import of_text, tell_refusals

        if self.has_page:
            made: Page = self._part("page").page(answer, inventory, view)
        else:
            made = of_text(answer.document, self.name, self.text(answer.document))
        tell_refusals(made, getattr(answer.document, "refusals", UNSET))
        return made

    def html(self, answer: PrintedAnswer[Any], inventory: Inventory | None, view: View | None) -> str:
        """Return the page of an answer as one HTML file."""
        from dra_plan.page.pages import finished

        return finished(self.page(answer, inventory, view))

    def function(self) -> Callable[..., Any]:
        """Return the function that the question's command runs."""
        found: Callable[..., Any] = getattr(self._part("command"), self.name)
        return found

    def _part(self, name: str) -> Any:
        return import_module(f"dra_plan.questions.{self.name}.{name}")


QUESTIONS = (
    QuestionRecord("allocate", "AllocationPlan", "AllocationDocument"),
    QuestionRecord("pools", "PoolList", "PoolsDocument"),
    QuestionRecord("explain", "Explanation", "ExplanationDocument", usual="text", command="watches"),
    QuestionRecord("schedule", "SchedulePlan", "ScheduleDocument", command="watches"),
    QuestionRecord("capacity", "CapacityPlan", "CapacityDocument"),
    QuestionRecord("place", "Placement", "PlacementDocument"),
    QuestionRecord("grow", "GrowthPlan", "GrowthDocument"),
    QuestionRecord("diff", "ClusterDiff", "DiffDocument"),
    QuestionRecord("drain_each", "DrainList", "DrainsDocument", command=""),
    QuestionRecord("impact", "Impact", "ImpactDocument"),
    QuestionRecord("maintain", "MaintenancePlan", "MaintenanceDocument"),
    QuestionRecord("repack", "RepackPlan", "RepackDocument"),
    QuestionRecord("autoscale", "AutoscalePlan", "AutoscaleDocument"),
    QuestionRecord("replay", "Replay", "ReplayDocument"),
    QuestionRecord("validate", "ValidationReport", "ValidationDocument", usual="text", command="plain"),
    QuestionRecord("rule", "RuleList", "RulesDocument", usual="text", has_page=False, command="plain"),
    QuestionRecord("cel", "SelectorReport", "SelectorDocument", has_page=False, command="plain"),
)


def of_kind(kind: str) -> QuestionRecord:
    """Return the question whose answer is printed as a document of this kind."""
    return next(question for question in QUESTIONS if question.kind == kind)
