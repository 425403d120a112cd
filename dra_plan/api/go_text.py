"""Texts that must be exactly like those of Kubernetes, and formats that many modules use.

In order: Go's `%q`; problems with names, label keys and label values, as apimachinery reports them; times as Go parses
them; and request policies in words.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from .resource import CapacityRequestPolicy

_ESCAPES = {
    7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\",
}  # fmt: skip


def go_quote(text: str) -> str:
    """Return the text as Go's `%q` writes it."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    point = ord(character)
    if point in _ESCAPES:
        return _ESCAPES[point]
    if character.isprintable():
        return character
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


# -- names and labels --------------------------------------------------------------------------------------------------
# Each function returns the problems in a text; an empty list means that the text is correct.

MAX_LABEL = 63
"""The maximum number of bytes in a DNS label, a label value, and the name part of a label key."""
MAX_SUBDOMAIN = 253
"""The maximum number of bytes in a DNS subdomain."""

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")

_EMPTY = "must be non-empty"
_HINT = "regex used for validation is"
_LABEL_PROBLEM = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', {_HINT} '{_LABEL.pattern}')"
)
_SUBDOMAIN_PROBLEM = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', {_HINT} '{_SUBDOMAIN.pattern}')"
)
_NAME_PROBLEM = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', {_HINT} '{_NAME.pattern}')"
)
_VALUE_PROBLEM = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', {_HINT} '({_NAME.pattern})?')"
)


def too_long(text: str, most: int) -> list[str]:
    """Return the problem in a list if the text has more than `most` bytes; otherwise, return an empty list."""
    return [f"must be no more than {most} bytes"] if len(text.encode("utf-8", "surrogatepass")) > most else []


def dns_label_problems(text: str) -> list[str]:
    """Return the reasons why the text is not an RFC 1123 label (`IsDNS1123Label`)."""
    return too_long(text, MAX_LABEL) + ([] if _LABEL.fullmatch(text) else [_LABEL_PROBLEM])


def subdomain_problems(text: str) -> list[str]:
    """Return the reasons why the text is not an RFC 1123 subdomain (`IsDNS1123Subdomain`)."""
    return too_long(text, MAX_SUBDOMAIN) + ([] if _SUBDOMAIN.fullmatch(text) else [_SUBDOMAIN_PROBLEM])


def label_key_problems(text: str) -> list[str]:
    """Return the reasons why the text is not the key of a label or taint (`IsQualifiedName`).

    A key is NAME or SUBDOMAIN/NAME.
    """
    *prefix, name = text.split("/")
    if len(prefix) > 1:
        example = "(e.g. 'example.com/MyName')"
        return [f"a qualified name {_NAME_PROBLEM} with an optional DNS subdomain prefix and '/' {example}"]
    of_prefix = [problem for part in prefix for problem in (subdomain_problems(part) if part else [_EMPTY])]
    of_name = too_long(name, MAX_LABEL) if name else [_EMPTY]
    if not _NAME.fullmatch(name):
        of_name.append(_NAME_PROBLEM)
    return [f"prefix part {problem}" for problem in of_prefix] + [f"name part {problem}" for problem in of_name]


def label_value_problems(text: str) -> list[str]:
    """Return the reasons why the text is not the value of a label or taint (`IsValidLabelValue`).

    An empty value is allowed.
    """
    return too_long(text, MAX_LABEL) + ([] if not text or _NAME.fullmatch(text) else [_VALUE_PROBLEM])


# -- times -------------------------------------------------------------------------------------------------------------
# RFC 3339 as Go reads it in manifests and expressions, which is a little more lenient than the standard.

_SECOND = 10**9
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})([.,][0-9]+)?(Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)


def parse_timestamp(text: str) -> int | None:
    """Return the time in nanoseconds since 1970, or None if Go does not accept it as RFC 3339."""
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
        offset += 366 * 86400  # before the first representable year, which is out of range for the caller
    delta = moment - _EPOCH
    return (delta.days * 86400 + delta.seconds - offset) * _SECOND + int(fraction)


# -- request policies in words -----------------------------------------------------------------------------------------
# `allocator.capacity` decides whether an amount is allowed.


def allowed(policy: CapacityRequestPolicy | None, listed: Callable[[list[str]], str]) -> str:
    """Return a phrase for the amounts that a policy allows, or "" if it allows all amounts.

    A range is, for example, `from 10G to 60G in steps of 10G`. `listed` turns a list of values into a phrase.
    """
    if policy is None:
        return ""
    if policy.valid_values:
        return listed([str(value) for value in policy.valid_values])
    if policy.valid_range is None:
        return ""
    ends = (("from", policy.valid_range.min), ("to", policy.valid_range.max), ("in steps of", policy.valid_range.step))
    return " ".join(f"{word} {end}" for word, end in ends if end is not None)
