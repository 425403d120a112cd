"""What every answer can do: it is a document for programs, and a table for people.

How documents are printed is not known here. `str()` asks the output for it: the one import that goes up, when it runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from msgspec import structs

from dra_plan.documents.base import AppliedEdit, PrintedDocument

D_co = TypeVar("D_co", bound=PrintedDocument, covariant=True)


@dataclass(frozen=True, kw_only=True, repr=False)
class PrintedAnswer(ABC, Generic[D_co]):
    """An answer. `str()` is what the command prints by default; `repr()` is short."""

    what_if: tuple[AppliedEdit, ...] = ()
    """What was changed about the cluster before it was asked."""

    @cached_property
    def document(self) -> D_co:
        """The document that the command prints, made once."""
        document = self._document()
        return structs.replace(document, what_if=list(self.what_if)) if self.what_if else document

    @abstractmethod
    def _document(self) -> D_co:
        """The document, apart from what was changed."""

    def to_dict(self) -> dict[str, Any]:
        """The document as plain values: what `-o json` prints."""
        return self.document.to_dict()

    def __str__(self) -> str:
        from dra_plan.output.default_format import text

        return text(self.document)


def counted(number: int, noun: str) -> str:
    """`1 pod`, `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
