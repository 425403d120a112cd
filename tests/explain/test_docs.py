"""docs/reasons.md, the schema, the words and the code name the same codes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dra_plan.documents.devices import CHOICE_CODES, DEVICE_CODES
from dra_plan.documents.suggestions import CHANGES
from dra_plan.explanation.reasons import _CODES, OTHER_CODES
from dra_plan.explanation.suggest.patches import RANKS
from dra_plan.questions import schema as schemas
from dra_plan.text import devices as explain_removed

from .apply import _APPLY as APPLIED

PAGE = (Path(__file__).parents[2] / "docs" / "reasons.md").read_text(encoding="utf-8")


def documented(*headings: str) -> list[str]:
    """The codes in the first columns of the tables under these headings."""
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    chosen = [section for section in sections if section.splitlines()[0] in headings]
    assert len(chosen) == len(headings)
    return [code for section in chosen for code in re.findall(r"^\| `([a-z0-9-]+)` \|", section, flags=re.MULTILINE)]


def enums(found: Any) -> list[list[str]]:
    """All lists of codes in a schema."""
    if isinstance(found, list):
        return [codes for item in found for codes in enums(item)]
    if not isinstance(found, dict):
        return []
    here = [found["code"]["enum"]] if isinstance(found.get("code"), dict) and "enum" in found["code"] else []
    return here + [codes for value in found.values() for codes in enums(value)]


def test_every_reason_is_documented_once() -> None:
    assert documented("Devices") == [*DEVICE_CODES, *CHOICE_CODES]
    assert {code.name for code in _CODES.values()} == {*DEVICE_CODES, *CHOICE_CODES} - {"led-nowhere"}
    others = documented("Requests", "Nodes and pools", "Errors")
    assert set(others) == set(OTHER_CODES)
    assert sorted(others) == sorted([*OTHER_CODES, "too-many-devices"])  # of a request, and as an error


def test_every_change_is_documented_worded_and_applied_in_tests() -> None:
    assert documented("Suggestions") == list(RANKS)
    assert all(
        code in codes
        for code, made in CHANGES.items()
        for codes in enums(schemas.load("Explanation")["$defs"][made.__name__])
    )
    assert {*APPLIED, "enable-gate"} == set(RANKS)


def test_every_device_reason_has_words() -> None:
    assert set(explain_removed._REMOVED) == {*DEVICE_CODES, *CHOICE_CODES}


def test_the_schema_lists_the_same_codes() -> None:
    listed = enums(schemas.load("Explanation"))
    assert {frozenset(codes) for codes in listed if "in-use" in codes} == {
        frozenset(DEVICE_CODES),
        frozenset({*DEVICE_CODES, *CHOICE_CODES}),
    }
