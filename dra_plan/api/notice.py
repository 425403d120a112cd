"""Notices: what the user should know beside the answer. Values only."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType


class Origin(NamedTuple):
    """Where an object was read: the source's name ("-" for stdin), its first field's line, from 1; 0 if unknown."""

    source: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


class Notice(Struct, frozen=True, order=True, gc=False):
    """A warning with a stable code, as documents show it."""

    code: Annotated[str, Meta(pattern="^[a-z0-9-]+$")]
    message: Annotated[str, Meta(min_length=1)]
    object: Annotated[str, Meta(description="KIND NAMESPACE/NAME, or empty.")] = ""
    source: Annotated[str, Meta(description="FILE:LINE, or empty.")] = ""
    defects: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(description="The release defects (docs/quirks.md) that changed the answer, if it is about any."),
    ] = UNSET
