"""The formats of names that Kubernetes checks in many places, with what is wrong with a text in apimachinery's words.

Each function returns the problems of a text; none: the text is correct. What the name is for, and whether it may be
missing, is the callers' part.
"""

from __future__ import annotations

import re

MAX_LABEL = 63
"""Bytes of a DNS label, of a label's value, and of the name part of its key."""
MAX_SUBDOMAIN = 253
"""Bytes of a DNS subdomain."""

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
    """The problem of a text of more than `most` bytes."""
    return [f"must be no more than {most} bytes"] if len(text.encode("utf-8", "surrogatepass")) > most else []


def dns_label_problems(text: str) -> list[str]:
    """What keeps a text from being an RFC 1123 label (`IsDNS1123Label`)."""
    return too_long(text, MAX_LABEL) + ([] if _LABEL.fullmatch(text) else [_LABEL_PROBLEM])


def subdomain_problems(text: str) -> list[str]:
    """What keeps a text from being an RFC 1123 subdomain (`IsDNS1123Subdomain`)."""
    return too_long(text, MAX_SUBDOMAIN) + ([] if _SUBDOMAIN.fullmatch(text) else [_SUBDOMAIN_PROBLEM])


def label_key_problems(text: str) -> list[str]:
    """What keeps a text from being the key of a label or taint (`IsQualifiedName`): NAME or SUBDOMAIN/NAME."""
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
    """What keeps a text from being the value of a label or taint (`IsValidLabelValue`); it may be empty."""
    return too_long(text, MAX_LABEL) + ([] if not text or _NAME.fullmatch(text) else [_VALUE_PROBLEM])
