"""What a plain YAML scalar means to Kubernetes, which reads neither YAML 1.1 nor 1.2 (sigs.k8s.io/yaml, go-yaml v2).

`yes`, `no`, `on`, `off`, `y`, `n` are booleans; `017`, `0o17`, `0x1f` and `0b1` are integers; underscores are ignored;
base-60 numbers and timestamps are strings; a whole float is an integer, since numbers pass through JSON.
"""

from __future__ import annotations

import math
import re

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
"""Plain scalars that are no text."""
BOOLEAN_WORDS = frozenset(text for text, value in _WORDS.items() if isinstance(value, bool)) - {
    *("true", "True", "TRUE", "false", "False", "FALSE")
}
"""Plain scalars that are booleans, and look like text."""
LETTERS = frozenset("abcdeghijklmpqrsuvwxzABCDEGHIJKLMPQRSUVWXZ/")
"""What no word and no number begins with."""
_NUMBER_START = frozenset("0123456789+-.")
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))\Z"
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_MAX_DIGITS = 400
"""More digits than any number has; keeps conversion of hostile input cheap."""


def resolve(text: str) -> Scalar:
    """The value of a plain scalar; NaN and infinities come out as floats, which JSON and so Kubernetes can't hold."""
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
    """A float; a number too big for one is text, as go-yaml leaves it."""
    value = float(text)
    if math.isinf(value):
        return text
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def plain_key(text: str) -> str | None:
    """The text of a map key that is a plain scalar; None for null."""
    value = resolve(text)
    return value if type(value) is str else key_text(value)


def key_text(value: Scalar) -> str | None:
    """The text of a map key, since JSON has only text keys; None for null, which can't be one."""
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
