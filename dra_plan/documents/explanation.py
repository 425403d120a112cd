"""`Explanation`, the document of `explain`."""

from __future__ import annotations

from typing import Any, Literal

from .allocation import ClaimSetName, ClaimSetSummary
from .base import Amount, PrintedDocument, PrintedWarning


class ExplainedClaimSet(ClaimSetSummary, frozen=True, kw_only=True):
    """Why a claim set fits or does not, and what would make it fit."""

    fault: dict[str, Any] | None
    stories: list[dict[str, Any]]
    suggestions: list[dict[str, Any]]
    tried: Amount


class JudgedClaimSet(ClaimSetName, frozen=True, kw_only=True):
    """What a device is to the requests of a claim set."""

    requests: list[dict[str, Any]]


class ExplanationDocument(PrintedDocument, frozen=True, kw_only=True):
    """Why claim sets fit or do not, down to the device, and what would make them fit."""

    kind: Literal["Explanation"] = "Explanation"
    claim_sets: list[ExplainedClaimSet]
    devices: list[dict[str, Any]]
    warnings: list[PrintedWarning]
