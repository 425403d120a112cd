"""Times as Go reads them in manifests and expressions: RFC 3339, a little more lenient than the standard."""

from __future__ import annotations

import datetime
import re

_SECOND = 10**9
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})([.,][0-9]+)?(Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)


def parse_timestamp(text: str) -> int | None:
    """Nanoseconds since 1970, or None for text that Go's RFC 3339 layout refuses."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction = (match[7] or ".")[1:10].ljust(9, "0")
    try:
        moment = datetime.datetime(max(year, 1), month, day, hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return None
    offset = 0
    if match[9]:
        hours, minutes = int(match[10]), int(match[11])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 3600 + minutes * 60) * (-1 if match[9] == "-" else 1)
    if year == 0:
        offset += 366 * 86400  # before the first year that can be held: out of range for the caller
    delta = moment - _EPOCH
    return (delta.days * 86400 + delta.seconds - offset) * _SECOND + int(fraction)
