"""Texts about objects that the API server rejects."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan import shown
from dra_plan.documents.refusals import ApiServerRefusal, Refusals
from dra_plan.text.columns import Paragraph
from dra_plan.text.naming import named, object_name
from dra_plan.text.words import counted, listed

MOST = 5
"""The maximum number of findings that are listed."""


def headline(refusals: Refusals) -> str:
    """Return the beginning of a sentence with the number of rejected objects, or "" if there are none."""
    refused = len({one.object for one in refusals or ()})
    return f"The API server rejects {counted(refused, 'object')}" if refused else ""


def lines(refusals: Refusals) -> list[str]:
    """Return a line for each finding about a rejected object."""
    return [shown.line(_line(one)) for one in refusals or ()]


def paragraphs(refusals: Refusals) -> Iterator[Paragraph]:
    """Yield a paragraph for each finding, with its position, the pods that cannot run, and the fix."""
    if not refusals:
        return
    lines = ["The API server rejects:"]
    for one in refusals[:MOST]:
        lines += [f"  {line}" for line in _finding(one)]
    if len(refusals) > MOST:
        lines.append(f"  and {len(refusals) - MOST} more: `dra-plan validate`, with the same paths, lists them all.")
    yield Paragraph(lines)


def _finding(one: ApiServerRefusal) -> Iterator[str]:
    yield shown.line(_line(one))
    owners = [named(owner) for owner in one.owners]
    if owners != [object_name(one.object)]:
        yield shown.line(f"  needed by {listed(owners)}")
    if one.suggestion:
        yield shown.line(f"  help: {one.fix.removesuffix('.')}: {one.suggestion}")
    else:
        yield f"  help: {one.fix}"


def _line(one: ApiServerRefusal) -> str:
    place = f"{one.file}:{one.line}: " if one.file and one.line else f"{one.file}: " if one.file else ""
    about = ": ".join(part for part in (one.object, one.field, one.message) if part)
    return f"{place}error[{one.code}] {about}"
