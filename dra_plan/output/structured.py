"""`-o json` and `-o yaml`: the whole document."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dra_plan import shown
from dra_plan.documents.base import PrintedDocument


def json(document: PrintedDocument | dict[str, Any] | list[Any]) -> str:
    """Indented JSON of a document, or of plain values."""
    return shown.in_json(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n"


_LOOKS_TYPED = re.compile(r"[-+.]?[0-9]|[-+]?\.(inf|nan)|(y|n|yes|no|on|off|true|false|null|~)$", re.IGNORECASE)
"""Plain scalars that some YAML reader, of version 1.1 or 1.2, takes for something else than text."""


def yaml(document: dict[str, Any]) -> str:
    """YAML that every reader takes for the same document: text that looks like a number or a truth value is quoted."""
    import yaml as pyyaml

    base: type[pyyaml.SafeDumper] = getattr(pyyaml, "CSafeDumper", pyyaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc, valid-type]
        def ignore_aliases(self, _data: object) -> bool:
            return True

    def represent_text(dumper: pyyaml.SafeDumper, value: str) -> pyyaml.ScalarNode:
        style = '"' if _LOOKS_TYPED.match(value) or shown.acts(value) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, represent_text)
    text: str = pyyaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)
    return shown.in_yaml(text)
