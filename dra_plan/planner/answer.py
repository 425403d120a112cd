"""What every answer can do: it is a document for programs, and a table for people.

How documents are printed is not known here. `str()` asks the output for it: the one import that goes up, when it runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import structs

from dra_plan.documents.base import AppliedEdit, PrintedDocument

if TYPE_CHECKING:
    from dra_plan.allocator import View
    from dra_plan.api.inventory import Inventory

D_co = TypeVar("D_co", bound=PrintedDocument, covariant=True)


@dataclass(frozen=True, kw_only=True, repr=False)
class PrintedAnswer(ABC, Generic[D_co]):
    """An answer. `str()` is what the command prints by default; `repr()` is short."""

    what_if: tuple[AppliedEdit, ...] = ()
    """What was changed about the cluster before it was asked."""
    ignored: frozenset[str] = frozenset()
    """The codes of the warnings that its document leaves out."""
    drawn: tuple[Inventory, View] | None = field(default=None, compare=False)
    """The cluster that was asked, for the picture in notebooks."""

    @cached_property
    def document(self) -> D_co:
        """The document that the command prints, made once."""
        document = self._document()
        if self.ignored:
            kept = [one for one in document.warnings if one.code not in self.ignored]
            document = structs.replace(document, warnings=kept)
        return structs.replace(document, what_if=list(self.what_if)) if self.what_if else document

    @abstractmethod
    def _document(self) -> D_co:
        """The document, apart from what was changed."""

    def to_dict(self) -> dict[str, Any]:
        """The document as plain values: what `-o json` prints."""
        return self.document.to_dict()

    def __str__(self) -> str:
        from dra_plan.questions.registry import of_kind

        return of_kind(self.document.kind).text(self.document)

    def _repr_html_(self) -> str:
        """The same as a piece of HTML, which notebooks show: the tables, and below them the picture of the page."""
        from dra_plan.questions.registry import of_kind

        question = of_kind(self.document.kind)
        return question.fragment(self.document) + (question.still(self, *self.drawn) if self.drawn else "")

    def html(self, inventory: Inventory | None = None, view: View | None = None) -> str:
        """The answer about a cluster as a page of HTML, one file; without the cluster, without a picture of it."""
        from dra_plan.questions.registry import of_kind

        return of_kind(self.document.kind).html(self, inventory, view)


def counted(number: int, noun: str) -> str:
    """`1 pod`, `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
