"""The registry of questions, in the order of `--help`. Each question has a record here and a folder.

A folder contains `ask.py` (the method of `Cluster` and its options), `answer.py`, `document.py` and `text.py`, and may
contain `page.py`, `gate.py` and `command.py`; see docs/internals/adding-a-question.md. Within a folder, imports go
command > page > text > gate > answer > document. From another question, import only `ask`, `answer` and `document`. A
record imports the parts of its question only when they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dra_plan.allocator import View
    from dra_plan.api.inventory import Inventory
    from dra_plan.documents.base import PrintedDocument
    from dra_plan.page.content import Page
    from dra_plan.planner.answer import PrintedAnswer


class QuestionRecord(NamedTuple):
    """A question: its name, which is also the name of its folder, and how to print its answer."""

    name: str
    kind: str
    """The kind of the question's document."""
    document: str
    """The name of the document's struct."""
    usual: str = "table"
    """The output format used without `-o`."""
    has_page: bool = True
    command: str = "plans"
    """The type of the question's command: `plans` (with what-if options and cluster access), `watches` (the same with
    `--watch`), `plain`, or "" if the question has no command of its own."""

    def document_type(self) -> type[PrintedDocument]:
        """Return the struct of the question's document."""
        found: type[PrintedDocument] = getattr(self._part("document"), self.document)
        return found

    def text(self, document: PrintedDocument) -> str:
        """Return the document in its usual output format, without colours or a width limit."""
        made: str = self._part("text").parse(self.usual)(document, None)
        return made.rstrip("\n")

    def fragment(self, document: PrintedDocument) -> str:
        """Return the document as an HTML fragment, which consists of tables or of preformatted text."""
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
        """Return the page for an answer. Without a cluster, the page has no picture."""
        from msgspec import UNSET

        from dra_plan.page.pages import of_text, tell_refusals

        if self.has_page:
            made: Page = self._part("page").page(answer, inventory, view)
        else:
            made = of_text(answer.document, self.name, self.text(answer.document))
        tell_refusals(made, getattr(answer.document, "refusals", UNSET))
        return made

    def html(self, answer: PrintedAnswer[Any], inventory: Inventory | None, view: View | None) -> str:
        """Return the page for an answer as a single HTML file."""
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
    """Return the question whose document is of this kind."""
    return next(question for question in QUESTIONS if question.kind == kind)
