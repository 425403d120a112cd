"""Build plain values from YAML parser events, with limits on depth and on repetition by aliases.

Contents: merged maps and copied aliases, plain scalars, and the builder. YAML is read as Kubernetes reads it
(sigs.k8s.io/yaml, go-yaml v2), which is neither YAML 1.1 nor 1.2.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs forget it
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from .faults import CUT, TEMPLATE, set_twice

# -- merged maps and aliases -------------------------------------------------------------------------------------------


class YamlError(Exception):
    """The error raised for a document that cannot be read. Its line is counted from 1."""

    def __init__(self, message: str, line: int, hint: str = "") -> None:
        self.message = message
        self.line = line
        self.hint = hint
        super().__init__(message)


def merge(container: dict[str, Any], merges: list[Any], line: int) -> None:
    """Add the entries of merged maps (`<<`) to a map. Raises `YamlError` for merged values that are not maps.

    The map's own entries take precedence over merged ones, and earlier merged maps over later ones.
    """
    for merged in merges:
        for source in merged if isinstance(merged, list) else [merged]:
            if not isinstance(source, dict):
                raise YamlError("<< needs a map, or a list of maps", line)
            for key, value in source.items():
                container.setdefault(key, value)


def copied(value: Any) -> Any:
    """Return a deep copy of a plain value. The caller limits its depth."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


# -- plain scalars -----------------------------------------------------------------------------------------------------
# `yes`, `no`, `on`, `off`, `y`, `n` are booleans; `017`, `0o17`, `0x1f` and `0b1` are integers; underscores are
# ignored; base-60 numbers and timestamps are strings; a whole float is an integer, since numbers pass through JSON.

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
SPECIAL_WORDS = frozenset(_WORDS)
"""The plain scalars that are booleans, nulls or special numbers."""
BOOLEAN_WORDS = frozenset(text for text, value in _WORDS.items() if isinstance(value, bool)) - {
    *("true", "True", "TRUE", "false", "False", "FALSE")
}
"""The plain scalars that are booleans but look like text."""
LETTERS = frozenset("abcdeghijklmpqrsuvwxzABCDEGHIJKLMPQRSUVWXZ/")
"""The characters that begin neither a special word nor a number."""
_NUMBER_START = frozenset("0123456789+-.")
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))\Z"
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_MAX_DIGITS = 400
"""A number of digits that no number reaches; it limits the cost of converting hostile input."""


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar.

    NaN and infinities are returned as floats, although JSON, and therefore Kubernetes, cannot represent them.
    """
    if text[:1] in LETTERS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START or len(text) > _MAX_DIGITS:
        return text
    if text[0] == ".":
        return _as_float(text) if _FLOAT.match(text) else text
    plain = text.replace("_", "")
    if match := _INTEGER.match(plain):
        digits = match[match.lastgroup or "dec"]
        number = int(digits, _BASES[match.lastgroup or "dec"])
        return -number if match["sign"] == "-" else number
    return _as_float(plain) if _FLOAT.match(plain) else text


def _as_float(text: str) -> Scalar:
    """Return a float; a number too big for one is text, as in go-yaml."""
    value = float(text)
    if math.isinf(value):
        return text
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def plain_key(text: str) -> str | None:
    """Return the text of a map key that is a plain scalar, or None for null."""
    value = resolve(text)
    return value if type(value) is str else key_text(value)


def key_text(value: Scalar) -> str | None:
    """Return a map key as JSON text, or None for null, which cannot be a key."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case float():
            return ".nan" if math.isnan(value) else f"{value:g}"
    return None


# -- building documents ------------------------------------------------------------------------------------------------

MAX_DEPTH = 200
"""The maximum nesting depth. Kubernetes objects need about 20 levels."""
MAX_ALIASED = 400_000
"""The maximum number of values that the aliases in a document may repeat."""

_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_MERGE = object()
"""A marker for the key `<<`."""
_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\x7e\\x85\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


@dataclass(slots=True, eq=False)
class _Level:
    """One open map or list."""

    container: Any
    is_map: bool
    anchor: str | None
    line: int
    before: int
    """The number of values in the document when this one began."""
    key: Any = None
    has_key: bool = False
    merges: list[Any] = field(default_factory=list)

    @property
    def expects_key(self) -> bool:
        """Return whether the next value is a map's key."""
        return self.is_map and not self.has_key


class Builder:
    """A builder of the documents in a text, one after another."""

    def __init__(self, text: str, first_line: int) -> None:
        self._parser = CParser(text)
        self._text = text
        self._first_line = first_line
        self._begin()
        self.start = first_line

    def _begin(self) -> None:
        self.value: Any = None
        self.starts: dict[int, int] = {}
        self._stack: list[_Level] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._open_anchors: set[str] = set()
        self._count = 0
        self._aliased = 0

    def next_document(self) -> bool:
        """Read the next document into `value` and return True, or return False at the end of the text.

        `start` is then the line on which the document begins. `starts` has the first lines of its outer maps, by the
        `id` of the map. Raises `YamlError`.
        """
        self._begin()
        try:
            return self._read()
        except ReaderError:
            raise self._character_error() from None
        except MarkedYAMLError as error:
            raise self._syntax_error(error) from None
        except YAMLError as error:
            raise YamlError(str(error), self._first_line) from None

    # Errors

    def _character_error(self) -> YamlError:
        match = _FORBIDDEN.search(self._text)
        if match is None:
            return YamlError("not readable as YAML", self._first_line)
        line = self._first_line + self._text.count("\n", 0, match.start())
        return YamlError(f"character U+{ord(match[0]):04X} is not allowed in YAML", line)

    def _syntax_error(self, error: MarkedYAMLError) -> YamlError:
        mark: Any = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "malformed"
        line = self._first_line + (mark.line if mark else 0)
        return YamlError(f"YAML: {problem}", line, self._hint(mark) if mark else "")

    def _error(self, event: Any, message: str) -> YamlError:
        return YamlError(message, self._first_line + event.start_mark.line, self._hint(event.start_mark))

    def _hint(self, mark: Any) -> str:
        """Return the usual meaning of the text at the mark."""
        lines = self._text.split("\n", mark.line + 1)
        line = lines[mark.line] if mark.line < len(lines) else ""
        if not "".join(lines[mark.line + 1 :]).strip() and not line[mark.column :].strip():
            return CUT
        if line[mark.column : mark.column + 1] == "\t":
            return "indent with spaces, not tabs"
        return TEMPLATE if "{{" in line else ""

    # Events

    def _read(self) -> bool:
        get_event: Any = self._parser.get_event
        while True:
            event = get_event()
            kind = type(event)
            if kind is ScalarEvent:
                self._scalar(event)
            elif kind is MappingStartEvent:
                self._open(event, {})
            elif kind is SequenceStartEvent:
                self._open(event, [])
            elif kind is AliasEvent:
                self._alias(event)
            elif kind is DocumentStartEvent:
                self.start = self._first_line + event.start_mark.line
            elif kind is DocumentEndEvent:
                return True
            elif kind is StreamEndEvent:
                return False
            elif self._stack:
                self._close(event)

    def _scalar(self, event: Any) -> None:
        self._count += 1
        level = self._stack[-1] if self._stack else None
        if level is not None and event.implicit[0] and not event.anchor and event.value[:1] in LETTERS:
            self._word(level, event)
            return
        if level is not None and level.is_map and not level.has_key and event.implicit[0]:
            self._plain_key(level, event)
            value = level.key
        else:
            value = self._scalar_value(event)
            self._take(value, event)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)

    def _word(self, level: _Level, event: Any) -> None:
        """Handle most scalars: plain text with only one possible meaning, as a key or as a value."""
        text = event.value
        if not level.is_map:
            level.container.append(text)
        elif not level.has_key:
            if text in level.container:
                raise self._error(event, set_twice(text))
            level.key, level.has_key = text, True
        elif level.key is _MERGE:
            level.merges.append(text)
            level.has_key = False
        else:
            level.container[level.key] = text
            level.has_key = False

    def _take(self, value: Any, event: Any) -> None:
        """Add a complete value to the open map or list, or make it the document."""
        level = self._stack[-1] if self._stack else None
        if level is None:
            self.value = value
        elif not level.is_map:
            level.container.append(value)
        elif not level.has_key:
            self._key(level, value, event)
        else:
            if level.key is _MERGE:
                level.merges.append(value)
            else:
                level.container[level.key] = value
            level.has_key = False

    def _open(self, event: Any, container: Any) -> None:
        is_map = isinstance(container, dict)
        if event.tag not in (None, "!", _TAG + ("map" if is_map else "seq")):
            raise self._error(event, f"tag {_short(event.tag)} is not allowed")
        if self._stack and self._stack[-1].expects_key:
            raise self._error(event, "a map key must be text")
        if len(self._stack) >= MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} levels deep")
        line = self._first_line + event.start_mark.line
        if is_map and len(self._stack) <= 2:
            self.starts[id(container)] = line
        if event.anchor:
            self._open_anchors.add(event.anchor)
        self._stack.append(_Level(container, is_map, event.anchor, line, self._count))
        self._count += 1

    def _close(self, event: Any) -> None:
        level = self._stack.pop()
        if level.merges:
            merge(level.container, level.merges, level.line)
        if level.anchor:
            self._open_anchors.discard(level.anchor)
            self._anchors[level.anchor] = (level.container, self._count - level.before)
        self._take(level.container, event)

    def _alias(self, event: Any) -> None:
        if event.anchor in self._open_anchors:
            raise self._error(event, f"alias *{event.anchor} is inside the value that it repeats")
        if event.anchor not in self._anchors:
            raise self._error(event, f"alias *{event.anchor} has no anchor before it")
        value, size = self._anchors[event.anchor]
        self._count += size
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            raise self._error(event, f"aliases repeat more than {MAX_ALIASED} values")
        self._take(copied(value), event)

    # Scalars

    def _scalar_value(self, event: Any) -> Any:
        text = event.value
        if event.implicit[0]:
            value = resolve(text)
            return self._finite(value, event) if type(value) is float else value
        if event.implicit[1] or event.tag in ("!", _TAG + "str"):
            return text
        return self._tagged(event)

    def _finite(self, value: Any, event: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            raise self._error(event, (f"{event.value} is not a number in JSON, so Kubernetes cannot read it"))
        return value

    def _tagged(self, event: Any) -> Any:
        types = _SCALAR_TAGS.get(event.tag.removeprefix(_TAG)) if event.tag.startswith(_TAG) else None
        if types is None:
            raise self._error(event, f"tag {_short(event.tag)} is not allowed")
        value = self._finite(resolve(event.value), event)
        if not isinstance(value, types) or (bool not in types and isinstance(value, bool)):
            raise self._error(event, f"{event.value!r} is not a {_short(event.tag)}")
        return value

    # Map keys

    def _plain_key(self, level: _Level, event: Any) -> None:
        """Use a plain scalar as a key, the usual case."""
        text = event.value
        if text == "<<":
            level.key, level.has_key = _MERGE, True
            return
        self._set_key(level, plain_key(text), event)

    def _key(self, level: _Level, value: Any, event: Any) -> None:
        if isinstance(value, dict | list):
            raise self._error(event, "a map key must be text")
        self._set_key(level, key_text(value), event)

    def _set_key(self, level: _Level, key: str | None, event: Any) -> None:
        if key is None:
            raise self._error(event, "a map key must be text, not null")
        if key in level.container:
            raise self._error(event, set_twice(key))
        level.key, level.has_key = key, True


def _short(tag: str) -> str:
    return "!!" + tag.removeprefix(_TAG) if tag.startswith(_TAG) else tag
