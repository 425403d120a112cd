"""The base class of every result, which is a document for programs and a table for people.

This module does not know how documents are printed: `str()` imports the output code when it is called, which is the
only upward import.
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
    """The result of a command. `str()` returns the command's default output; `repr()` returns a short text."""

    what_if: tuple[AppliedEdit, ...] = ()
    """The what-if edits made to the cluster before the command ran."""
    ignored: frozenset[str] = frozenset()
    """The codes of the warnings to omit from the document."""
    drawn: tuple[Inventory, View] | None = field(default=None, compare=False)
    """The cluster and its view, for the picture in notebooks."""

    @cached_property
    def document(self) -> D_co:
        """The document that the command prints. The document is created on first access."""
        document = self._document()
        if self.ignored:
            kept = [one for one in document.warnings if one.code not in self.ignored]
            document = structs.replace(document, warnings=kept)
        return structs.replace(document, what_if=list(self.what_if)) if self.what_if else document

    @abstractmethod
    def _document(self) -> D_co:
        """Return the document, without the changes to the cluster."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `-o json` prints, as dicts, lists and plain values."""
        return self.document.to_dict()

    def __str__(self) -> str:
        from dra_plan.questions.registry import of_kind

        return of_kind(self.document.kind).text(self.document)

    def _repr_html_(self) -> str:
        """Return an HTML fragment for notebooks, with the tables, and below them the page's picture."""
        from dra_plan.questions.registry import of_kind

        question = of_kind(self.document.kind)
        return question.fragment(self.document) + (question.still(self, *self.drawn) if self.drawn else "")

    def html(self, inventory: Inventory | None = None, view: View | None = None) -> str:
        """Return the result as a self-contained HTML page.

        If `inventory` is given, the page has a picture of the cluster.
        """
        from dra_plan.questions.registry import of_kind

        return of_kind(self.document.kind).html(self, inventory, view)


def counted(number: int, noun: str) -> str:
    """Return the number with the noun, such as `1 pod` or `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
