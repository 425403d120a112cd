"""Texts that are mistaken for manifests: kubectl's human-readable output, and chart templates.

The fault for such a text names the command to run instead.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

from dra_plan.wording import DUMP

from .faults import TEMPLATE, Fault

MOST_LOOKED_AT = 64_000
"""The number of bytes at the start of a file that are enough to recognize it."""

MOST_FOLDERS = 12
"""The maximum number of directories above a template in which to look for its chart."""

CHART = "Chart.yaml"

_HINT = f"use `{DUMP}`"

_DESCRIBED = re.compile(r"\AName: {2,}\S+[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^(Namespace|Kind|Labels|Annotations|Status|Roles|Containers|Events|Data):", re.MULTILINE)
_TABLE = re.compile(r"\A(?:NAMESPACE {2,})?NAME(?: {2,}[A-Z][A-Z0-9() -]*)+$", re.MULTILINE)
_SAID = re.compile(r"\A(No resources found|Error from server|The connection to the server|error: )", re.ASCII)


def recognized(name: str, data: bytes) -> Fault | None:
    """Return a fault for text in a known form that is not a manifest, or None for any other text."""
    found = _form(data)
    return Fault(name, f"this is {found.what}, not a manifest", 1, hint=found.hint) if found is not None else None


def recognized_file(path: Path) -> _Form | None:
    """Return the form of a file that is in a known form but is not a manifest.

    Return None for any other file and for unreadable files.
    """
    try:
        with path.open("rb") as file:
            return _form(file.read(MOST_LOOKED_AT))
    except OSError:
        return None


class _Form(NamedTuple):
    """The form of a text, and what to do about it."""

    what: str
    hint: str


def _form(data: bytes) -> _Form | None:
    text = data[:MOST_LOOKED_AT].decode(errors="replace").lstrip("\ufeff \t\r\n").replace("\r\n", "\n")
    if _DESCRIBED.match(text) and len(set(_FIELD.findall(text))) >= 2:
        return _Form("output of `kubectl describe`", _HINT)
    if _TABLE.match(text):
        return _Form("kubectl's table output", _HINT)
    if _SAID.match(text):
        return _Form("a message of kubectl", f"it says: {text.partition(chr(10))[0]}")
    return None


def template_hint(name: str) -> str:
    """Return the hint for a chart template. If its chart is found, the hint has the command that renders the chart."""
    if name != "-":
        for folder in list(Path(name).absolute().parents)[:MOST_FOLDERS]:
            if (folder / CHART).is_file():
                return f"{TEMPLATE}: `helm template {shlex.quote(_short(folder))} | dra-plan ... -`"
    return TEMPLATE


def _short(folder: Path) -> str:
    """Return the folder relative to the current one, if it is inside it."""
    try:
        return str(folder.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(folder)
