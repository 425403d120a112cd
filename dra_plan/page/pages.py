"""What every page has: the command's output, and a picture of the cluster."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dra_plan.allocator import AllocationError, View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.base import PrintedDocument
from dra_plan.documents.refusals import Refusals
from dra_plan.errors import InputError
from dra_plan.page import told
from dra_plan.page.content import Page, fill_boxes
from dra_plan.page.page import render
from dra_plan.page.picture import draw
from dra_plan.page.scene import Scene, scene
from dra_plan.text import notices as naming
from dra_plan.text import refusals
from dra_plan.text.formats import Formats
from dra_plan.text.naming import target


def begin(document: PrintedDocument, command: str, formats: Formats[Any]) -> Page:
    """Return a page with the tables that `command` prints. Its headline is the first sentence of the output."""
    wide, narrow = formats.wide(document, None), formats.table(document, None)
    made = of_text(document, command)
    made.headline = next((part.rstrip(".:") for part in narrow if isinstance(part, str)), document.kind)
    made.blocks = told.blocks(wide if all(map(told.is_short, wide)) else narrow)
    return made


def of_text(document: PrintedDocument, command: str, text: str = "") -> Page:
    """Return a page with the text that `command` prints."""
    return Page(
        command=command,
        headline=document.kind,
        target=target(document),
        document=document,
        warnings=[line.removeprefix("warning: ") for line in naming.lines(document.warnings, most=20)],
        blocks=[told.TextTable((), (), text)] if text else [],
    )


def tell_refusals(made: Page, refused: Refusals) -> None:
    """Put the objects that the API server rejects on the page, above the result."""
    if refused:
        made.headline = f"{refusals.headline(refused)}. {made.headline}"
        made.warnings = [*refusals.lines(refused), *made.warnings]


def drawn(inventory: Inventory | None, view: View | None, title: str = "", **how: Collection[str]) -> list[Scene]:
    """Return a list with a picture of the cluster, or an empty list if the cluster is not given or cannot be drawn."""
    if inventory is None or view is None:
        return []
    try:
        made = scene(draw(inventory, view, infer_nodes=True), title, **how)
    except (AllocationError, InputError):
        return []
    return [made] if made.places else []


def finished(made: Page) -> str:
    """Return the page as a single HTML file."""
    fill_boxes(made)
    return render(made)
