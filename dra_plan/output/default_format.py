"""The text that a command prints without `-o`, for every kind of document: what `str()` of an answer gives."""

from __future__ import annotations

from dra_plan.documents.allocation import AllocationDocument
from dra_plan.documents.base import PrintedDocument
from dra_plan.documents.capacity import CapacityDocument
from dra_plan.documents.diff import DiffDocument
from dra_plan.documents.drains import DrainsDocument
from dra_plan.documents.explanation import ExplanationDocument
from dra_plan.documents.growth import GrowthDocument
from dra_plan.documents.placement import PlacementDocument
from dra_plan.documents.pools import PoolsDocument
from dra_plan.documents.rules import RulesDocument
from dra_plan.documents.schedule import ScheduleDocument
from dra_plan.documents.validation import ValidationDocument

from . import (
    allocation_table,
    capacity,
    diff,
    drains,
    explain_formats,
    findings,
    formats,
    growth,
    placement,
    pool_table,
    rule_text,
    schedule,
)


def text(document: PrintedDocument) -> str:
    """The document as text of any width, without colours. Raises TypeError for a kind that is no answer."""
    made = ""
    match document:
        case AllocationDocument():
            made = formats.parse("table", allocation_table.FORMATS)(document, None)
        case CapacityDocument():
            made = formats.parse("table", capacity.FORMATS)(document, None)
        case DiffDocument():
            made = formats.parse("table", diff.FORMATS)(document, None)
        case DrainsDocument():
            made = formats.parse("table", drains.FORMATS)(document, None)
        case ExplanationDocument():
            made = explain_formats.parse("text")(document, None)
        case GrowthDocument():
            made = formats.parse("table", growth.FORMATS)(document, None)
        case PlacementDocument():
            made = formats.parse("table", placement.FORMATS)(document, None)
        case PoolsDocument():
            made = formats.parse("table", pool_table.FORMATS)(document, None)
        case RulesDocument():
            made = rule_text.parse("text")(document, None)
        case ScheduleDocument():
            made = formats.parse("table", schedule.FORMATS)(document, None)
        case ValidationDocument():
            made = findings.parse("text")(document, None)
        case _:
            raise TypeError(f"no text for a document of kind {document.kind}")
    return made.rstrip("\n")
