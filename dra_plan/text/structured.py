"""`-o json` and `-o yaml`: the whole document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from dra_plan import shown
from dra_plan.documents.base import DocumentPart, PrintedDocument


def json(value: DocumentPart | dict[str, Any] | list[Any]) -> str:
    """Return a document, a part of a document, or plain values as indented JSON."""
    return _indented(value) + "\n"


def _indented(value: DocumentPart | dict[str, Any] | list[Any]) -> str:
    compact = shown.in_json(msgspec.json.encode(value).decode())  # escaped before indenting, which makes it longer
    return msgspec.json.format(compact, indent=2)


def json_parts(document: PrintedDocument) -> Iterator[str]:
    """Yield the output of `json` for a document in parts, which limits the memory needed for long output."""
    names = zip(document.__struct_fields__, document.__struct_encode_fields__, strict=True)
    lists = [(name, written) for name, written in names if type(getattr(document, name)) is list]
    filled = [(name, written) for name, written in lists if getattr(document, name)]
    rest = json(msgspec.structs.replace(document, **{name: _STAND_IN for name, _ in filled}))
    for name, written in filled:
        # JSON escapes line breaks in text, so this matches only the field.
        before, _, rest = rest.partition(f'\n  "{written}": [\n    null\n  ]')
        yield f'{before}\n  "{written}": ['
        for at, entry in enumerate(getattr(document, name)):
            yield ",\n    " if at else "\n    "
            yield _indented(entry).replace("\n", "\n    ")
        yield "\n  ]"
    yield rest


_STAND_IN = [None]
"""A placeholder for a list that is written separately."""


_LOOKS_TYPED = re.compile(r"[-+.]?[0-9]|[-+]?\.(inf|nan)|(y|n|yes|no|on|off|true|false|null|~)$", re.IGNORECASE)
"""Plain scalars that some YAML 1.1 or 1.2 readers do not read as text."""


def yaml(document: dict[str, Any]) -> str:
    """Return YAML that every parser reads as the same document.

    Text that looks like a number or a boolean is quoted.
    """
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
