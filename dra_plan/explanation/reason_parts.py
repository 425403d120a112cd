"""Pools, defects and errors as documents have them (`documents.reasons`)."""

from __future__ import annotations

from dra_plan.documents.base import ObjectName
from dra_plan.documents.reasons import AttemptFault, KnownDefect, OwedToDefects, TriedRewrite, UnusablePool

from .defects import DecisiveDefects
from .errors import ErrorDetails
from .names import device_name, pool_name
from .pools import SkippedPool


def pool(found: SkippedPool) -> UnusablePool:
    """A pool that is not looked at."""
    skipped = found.pool
    incomplete, invalid = found.code == "pool-incomplete", found.code == "pool-invalid"
    return UnusablePool(
        code=found.code,
        pool=pool_name(skipped.id),
        generation=skipped.generation,
        devices=found.devices,
        slices=list(found.slices),
        seen=skipped.seen if incomplete else None,
        expected=skipped.expected if incomplete else None,
        problem=str(skipped.problem) if invalid else "",
        superseded_by=None if incomplete or invalid else skipped.superseded_by,
    )


def defect(found: DecisiveDefects) -> OwedToDefects:
    """Known defects to which the answer is owed."""
    return OwedToDefects(
        defects=[KnownDefect(id=each.id, issue=each.issue or None, title=each.title) for each in found.defects],
        promised=found.promised,
    )


def fault(found: ErrorDetails) -> AttemptFault:
    """What ended the attempt."""
    rewrite = found.mended
    return AttemptFault(
        code=found.code,
        message=found.message,
        object=_object(found.object),
        missing=_object(found.missing),
        source=str(found.origin) if found.origin is not None else None,
        device=device_name(found.device) if found.device is not None else None,
        rewrite=TriedRewrite(expression=rewrite.expression, outcome=rewrite.outcome) if rewrite is not None else None,
        request=found.request,
        selector=found.selector,
        expression=found.expression,
        known=found.known,
        hint=found.hint,
        gate=found.gate,
    )


def _object(key: tuple[str, str, str] | None) -> ObjectName | None:
    return ObjectName(kind=key[0], namespace=key[1], name=key[2]) if key is not None else None
