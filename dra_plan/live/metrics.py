"""The text of a component's /metrics: of a file, or of an address that is asked once."""

from __future__ import annotations

import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

from dra_plan.errors import UsageError

from .kubectl import SILENCE

_ADDRESSES = ("http://", "https://")
_MOST_BYTES = 64 << 20


def text_of(place: str, *, may_ask: bool) -> str:
    """The metrics of a file or address. Raises UsageError for one that can't be read, or may not be asked."""
    if not place.startswith(_ADDRESSES):
        try:
            return Path(place).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise UsageError(f"--scheduler-metrics {place}: {said.lower()}") from error
    if not may_ask:
        raise UsageError("--scheduler-metrics with an address needs --live: nothing else asks a cluster")
    try:
        with urllib.request.urlopen(place, timeout=SILENCE) as answer:
            return str(answer.read(_MOST_BYTES).decode(errors="replace"))
    except (OSError, HTTPException, ValueError) as error:
        said = str(error.reason) if isinstance(error, urllib.error.URLError) else str(error)
        raise UsageError(f"--scheduler-metrics {place}: {said}") from error
