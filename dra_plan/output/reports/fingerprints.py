"""What tells one entry from another between runs: stable when lines move, different for everything that differs."""

from __future__ import annotations

import hashlib
from collections import Counter

from .content import Content, Entry
from .places import file_of


def fingerprints(content: Content) -> list[tuple[Entry, str]]:
    """Each entry with its fingerprint, unique in the report: what is told twice of one object is counted.

    Of code, file, object, field and message; not of the line, so that an insertion above leaves it as it was.
    """
    seen: Counter[str] = Counter()
    found = []
    for entry in content.entries():
        text = "\0".join((entry.code, file_of(entry, content), entry.object, entry.path, entry.message))
        seen[text] += 1
        found.append((entry, hashlib.sha256(f"{text}\0{seen[text]}".encode("utf-8", "backslashreplace")).hexdigest()))
    return found
