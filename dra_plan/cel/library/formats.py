"""Named formats and regular expressions.

In order: Kubernetes' named formats, which find the errors in a text; and RE2 patterns with Go's error messages, for
`matches` and Kubernetes' regex library.
"""

from __future__ import annotations

import datetime
import functools
import re
from typing import Any

from dra_plan.api.go_text import (
    MAX_LABEL,
    dns_label_problems,
    label_key_problems,
    label_value_problems,
    subdomain_problems,
    too_long,
)
from dra_plan.cel.cost import REGEX_FACTOR, pattern_cost
from dra_plan.cel.types import BOOL, FORMAT, INT, STRING, list_of, optional_of
from dra_plan.cel.values import NONE, EvaluationError, NamedFormat, Optional, Value, size_of

from .network import request_error
from .overload import CallEstimate, Library, Overload, member, plain
from .prices import FOUND, MATCHED, Operands, by_name, through

_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_UUID = re.compile(r"(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_DATETIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")

_LABEL_1035_PROBLEM = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_LABEL_1035.pattern}')"
)


def _as_prefix(text: str) -> str:
    """Return a name prefix with an ending that stands for the text after its final dash."""
    return text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text


def _label_1035(text: str) -> list[str]:
    return too_long(text, MAX_LABEL) + ([] if _LABEL_1035.fullmatch(text) else [_LABEL_1035_PROBLEM])


def _uri(text: str) -> list[str]:
    problem = request_error(text)
    return [] if problem is None else [problem]


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    return [] if _BASE64.fullmatch(text) else ["invalid base64"]


def _is_date(text: str) -> bool:
    try:
        datetime.date(int(text[:4]), int(text[5:7]), int(text[8:]))
    except ValueError:
        return False
    return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII) is not None


def _date(text: str) -> list[str]:
    return [] if _is_date(text) else ["invalid date"]


def _datetime(text: str) -> list[str]:
    parts = text.lower().split("t")
    match = _DATETIME.fullmatch(parts[1]) if len(parts) > 1 else None
    if match is None or not _is_date(parts[0]):
        return ["invalid datetime"]
    within = int(match[1]) <= 23 and int(match[2]) <= 59 and int(match[3]) <= 59
    return [] if within else ["invalid datetime"]


_FORMATS: dict[str, NamedFormat] = {
    "dns1123Label": NamedFormat("DNS1123Label", dns_label_problems, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", subdomain_problems, 60),
    "dns1035Label": NamedFormat("DNS1035Label", _label_1035, 30),
    "qualifiedName": NamedFormat("QualifiedName", label_key_problems, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", lambda text: dns_label_problems(_as_prefix(text)), 30),
    "dns1123SubdomainPrefix": NamedFormat(
        "DNS1123SubdomainPrefix", lambda text: subdomain_problems(_as_prefix(text)), 60
    ),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", lambda text: _label_1035(_as_prefix(text)), 30),
    "labelValue": NamedFormat("LabelValue", label_value_problems, 40),
    "uri": NamedFormat("URI", _uri, 1103),
    "uuid": NamedFormat("uuid", _uuid, 70),
    "byte": NamedFormat("byte", _byte, 84),
    "date": NamedFormat("date", _date, 71),
    "datetime": NamedFormat("datetime", _datetime, 71),
}


def named(name: str) -> Optional:
    """Return an optional with the format of this name, or an empty optional if there is none."""
    found = _FORMATS.get(name)
    return NONE if found is None else Optional(found)


def validate(form: NamedFormat, text: str) -> Value:
    """Return an optional with the list of errors in the text, or an empty optional if it has none."""
    problems = form.problems(text)
    return Optional(list(problems)) if problems else NONE


_LONGEST_PATTERN = 128


def _cost(arguments: list[Value], _result: Value) -> int:
    form = arguments[0]
    return pattern_cost(size_of(arguments[1]), form.regex_size) if type(form) is NamedFormat else 1


def _estimate(operands: Operands) -> CallEstimate:
    return CallEstimate(through(operands[1]).scaled(_LONGEST_PATTERN * REGEX_FACTOR))


def _constructor(name: str, form: NamedFormat) -> tuple[Overload, ...]:
    return (plain(f"format.{name}", (), FORMAT, lambda: form),)


FORMATS = Library(
    name="kubernetes format",
    since=(1, 31),
    functions={
        "validate": (
            member(
                "format-validate", (FORMAT, STRING), optional_of(list_of(STRING)), validate, by_name(_cost, _estimate)
            ),
        ),
        "format.named": (plain("format-named", (STRING,), optional_of(FORMAT), named),),
        **{f"format.{name}": _constructor(name, form) for name, form in _FORMATS.items()},
    },
)


# -- regular expressions -----------------------------------------------------------------------------------------------
# Go and the C++ library share syntax and semantics except for a few corner cases, which are rejected here as Go rejects
# them.

_MEMORY = 64 << 20
"""The maximum memory for one pattern. It is enough for nearly everything that Go compiles; Go allows more (128 MiB)."""
_MOST_DEPTH = 999
"""The maximum nesting of capturing groups; Go limits the height of its tree to 1,000, including the leaf."""

_PARTS = re.compile(
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|\\(?P<escape>.)"
    r"|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]"  # a character class
    r"|(?P<open>\()(?:\?P?<(?P<name>[^>]*)>|(?P<plain>\?))?"
    r"|(?P<close>\))",
    re.DOTALL,
)
_NAME = re.compile(r"[0-9A-Za-z_]+", re.ASCII)

_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
_ABOUT_ALL = frozenset(("missing )", "unexpected )"))
"""The errors for which Go shows the whole pattern."""


@functools.lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Any:
    """Return the compiled RE2 pattern. Raises EvaluationError with Go's message.

    The re2 module is loaded on first use.
    """
    # The module takes long to load, and most selectors have no pattern.
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise EvaluationError(f"error parsing regexp: {_in_go_words(error.args[0], pattern)}") from None
    problem = _refused_by_go(pattern)
    if problem is not None:
        raise EvaluationError(f"error parsing regexp: {problem}")
    return compiled


def _in_go_words(raw: bytes | str, pattern: str) -> str:
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    problem, _, about = text.partition(": ")
    about = pattern if problem in _ABOUT_ALL else about
    return f"{_GO_WORDS.get(problem, problem)}: `{about}`"


def _refused_by_go(pattern: str) -> str | None:
    r"""Return why Go rejects a pattern that the C++ library compiles: `\C`, non-ASCII names, very deep groups."""
    captures: list[bool] = []
    depth = 0
    for part in _PARTS.finditer(pattern):
        if part["escape"] == "C":
            return r"invalid escape sequence: `\C`"
        if part["name"] is not None and not _NAME.fullmatch(part["name"]):
            return f"invalid named capture: `{part[0]}`"
        if part["open"]:
            captures.append(part["plain"] is None)
            depth += captures[-1]
            if depth > _MOST_DEPTH:
                return f"expression nests too deeply: `{pattern}`"
        elif part["close"] and captures:
            depth -= captures.pop()
    return None


def matches(text: str, pattern: str) -> bool:
    """Return whether the pattern matches any part of the text."""
    return compile_regex(pattern).search(text) is not None


def find(text: str, pattern: str) -> str:
    """Return the first match in the text, or an empty string if there is none."""
    match = compile_regex(pattern).search(text)
    return "" if match is None else str(match[0])


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    """Return all matches in the text, but at most `limit` if it is not negative."""
    found: list[str] = []
    last_end = -1
    for match in compile_regex(pattern).finditer(text):
        start, end = match.span()
        # As in Go, no empty match is found at the very end of the previous match.
        if start == end == last_end:
            continue
        if 0 <= limit <= len(found):
            break
        last_end = end
        found.append(text[start:end])
    return found


MATCHES = (
    plain("matches", (STRING, STRING), BOOL, matches, pattern=True),
    member("matches_string", (STRING, STRING), BOOL, matches, MATCHED, pattern=True),
)
"""The function for regular expressions in the standard library."""

REGEX = Library(
    name="kubernetes regex",
    since=(1, 0),
    functions={
        "find": (member("string_find_string", (STRING, STRING), STRING, find, FOUND, pattern=True),),
        "findAll": (
            member("string_find_all_string", (STRING, STRING), list_of(STRING), find_all, FOUND, pattern=True),
            member("string_find_all_string_int", (STRING, STRING, INT), list_of(STRING), find_all, FOUND, pattern=True),
        ),
    },
)
