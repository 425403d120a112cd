"""What decides in a selector, and what devices have under the names that it reads: parts of an Explanation."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from .base import Amount, DocumentPart, one_of


class FoundValue(DocumentPart, frozen=True, kw_only=True):
    """A value that so many devices have under a name."""

    type: str
    value: Any
    count: Amount


class FoundName(DocumentPart, frozen=True, kw_only=True):
    """What the devices have under a name that a selector reads."""

    kind: Annotated[str, one_of("attribute", "capacity", "domain", "driver")]
    domain: str
    name: str
    values: list[FoundValue]
    other_values: Amount
    missing: Amount
    problem: Annotated[
        str | None, one_of(None, "missing", "wrong-domain", "unknown-domain", "wrong-kind", "wrong-type")
    ]
    hint: Annotated[str | None, Meta(description="The name, domain, kind or type that is perhaps meant.")] = None
    known: Annotated[list[str], Meta(description="Without a hint: what that domain has.")] = []


class ComputedValue(DocumentPart, frozen=True, kw_only=True):
    """A value that a part of a selector has on so many devices."""

    value: str
    count: Amount


class ComputedPart(DocumentPart, frozen=True, kw_only=True):
    """What a part of a selector gives."""

    part: str
    values: list[ComputedValue]


class DecidingClause(DocumentPart, frozen=True, kw_only=True):
    """The part of a selector that decides, and what the devices have under the names in it.

    Counts are over all nodes of the story.
    """

    clause: str
    count: Annotated[int, Meta(ge=1)]
    found: list[FoundName]
    computed: list[ComputedPart] = []
    error: str | None = None
