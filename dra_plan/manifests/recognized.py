"""Texts that are mistaken for manifests: kubectl's human-readable output, and chart templates.

In each case, the fault names the command to run instead.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from .faults import TEMPLATE, Fault

MOST_LOOKED_AT = 64_000
"""The number of bytes at the start of a string in which its form is recognized."""

MOST_FOLDERS = 12
"""The number of folders above a template in which its chart is searched for."""

CHART = "Chart.yaml"

_DESCRIBED = re.compile(r"\AName: {2,}\S+[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^(Namespace|Kind|Labels|Annotations|Status|Roles|Containers|Events|Data):", re.MULTILINE)
_TABLE = re.compile(r"\A(?:NAMESPACE {2,})?NAME(?: {2,}[A-Z][A-Z0-9() -]*)+$", re.MULTILINE)
_SAID = re.compile(r"\A(No resources found|Error from server|The connection to the server|error: )", re.ASCII)
_DUMP = (
    "use `kubectl get pods,nodes,resourceslices,resourceclaims,resourceclaimtemplates,deviceclasses -A -o yaml "
    "> dump.yaml`"
)


def recognized(name: str, data: bytes) -> Fault | None:
    """Return a fault for text that is not a manifest but has another known form, or None for all other text."""
    text = data[:MOST_LOOKED_AT].decode(errors="replace").lstrip("\ufeff \t\r\n").replace("\r\n", "\n")
    if _DESCRIBED.match(text) and len(set(_FIELD.findall(text))) >= 2:
        return Fault(name, "this is output of `kubectl describe`, not a manifest", 1, hint=_DUMP)
    if _TABLE.match(text):
        return Fault(name, "this is kubectl's table output, not a manifest", 1, hint=_DUMP)
    if _SAID.match(text):
        line = text.partition("\n")[0]
        return Fault(name, "this is a message of kubectl, not a manifest", 1, hint=f"it says: {line}")
    return None


def template_hint(name: str) -> str:
    """Return the hint for a template. If the file is part of a chart, this is the command that renders the chart."""
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
