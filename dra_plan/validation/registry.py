"""Every rule by code, and the selection of rules by options, settings and YAML comments.

A code is never reused, and always refers to the same subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dra_plan.errors import UsageError

from . import (
    admission,
    claim_status,
    claims,
    classes,
    devices,
    fitness,
    gates,
    limits,
    matching,
    metadata,
    names,
    objects,
    pod_specs,
    pools,
    quotas,
    references,
    resources,
    schema,
    selectors,
    taint_rules,
    updates,
    workloads,
)
from .formats import nearest
from .rule import Finding, Rule

_RULES = (
    *schema.RULES,
    *objects.BARE_KEY_RULES,
    *names.RULES,
    *limits.RULES,
    *metadata.RULES,
    *gates.RULES,
    *selectors.RULES,
    *selectors.NODE_SELECTOR_RULES,
    *selectors.TAINT_RULES,
    *devices.SLICE_RULES,
    *devices.RULES,
    *devices.POLICY_RULES,
    *devices.NODE_FIELD_RULES,
    *devices.NODE_ALLOCATABLE_RULES,
    *claims.RULES,
    *claims.FLAT_REQUEST_RULES,
    *claims.CONFIG_RULES,
    *claim_status.RULES,
    *claim_status.CONDITION_RULES,
    *classes.RULES,
    *pod_specs.RULES,
    *pod_specs.POD_RULES,
    *resources.RULES,
    *workloads.RULES,
    *admission.RULES,
    *quotas.RULES,
    *references.RULES,
    *pools.RULES,
    *matching.RULES,
    *fitness.RULES,
    *taint_rules.RULES,
    *updates.RULES,
)


RULES: dict[str, Rule] = {rule.code: rule for rule in sorted(_RULES, key=lambda rule: rule.code)}
"""All rules, sorted by code."""


# -- selection of rules ------------------------------------------------------------------------------------------------
# `select` and `ignore` take codes or their prefixes; the longer prefix takes precedence, and if both are equally long,
# `ignore` does.

ALL = "DRA"
"""The prefix of all codes."""


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The selected rules, and the rules to ignore in files that match a shell pattern."""

    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for code in (*self.select, *self.ignore, *(code for codes in self.per_file.values() for code in codes)):
            check(code)

    def counts(self, finding: Finding) -> bool:
        """Return whether the selection reports the finding."""
        chosen, refused = _longest(self.select, finding.code), _longest(self.ignore, finding.code)
        return chosen > refused and not self._is_spared(finding)

    def _is_spared(self, finding: Finding) -> bool:
        from fnmatch import fnmatch

        name = finding.file.replace("\\", "/")
        return any(
            _longest(codes, finding.code) >= 0
            for pattern, codes in self.per_file.items()
            if fnmatch(name, pattern) or fnmatch(name, f"*/{pattern}")
        )


def check(code: str) -> None:
    """Check that a rule's code begins with the text. Raises UsageError otherwise."""
    if problem := unknown_code(code):
        raise UsageError(problem)


def unknown_code(code: str) -> str:
    """Return an error message if no rule's code begins with the text, or "" otherwise."""
    if code and any(known.startswith(code) for known in RULES):
        return ""
    if near := nearest(code, RULES):
        return f"no rule {code!r}; did you mean {near}?"
    if code.startswith(ALL):
        return f"no rule {code!r}: `dra-plan rule` lists the rules"
    return f"no rule {code!r}: a code is {ALL} and three digits, or a prefix of that"


def _longest(codes: Iterable[str], code: str) -> int:
    """Return the length of the longest text that is a prefix of the code; -1 if there is none."""
    return max((len(start) for start in codes if code.startswith(start)), default=-1)


# -- comments that suppress findings -----------------------------------------------------------------------------------
# The YAML comment `# dra-plan: ignore=DRA101` applies to a field's line if it is after the field, to a field and
# everything in it if it is above the field, and to the whole document if it is above the document's first field. If it
# has no codes, it suppresses every rule.

_COMMENT = re.compile(r"(?:^|\s)#\s*dra-plan:\s*ignore(?:\s*=\s*(?P<codes>[A-Za-z0-9]+(?:\s*,\s*[A-Za-z0-9]+)*))?\s*$")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*dra-plan:\s*(?P<word>[A-Za-z_-]+)(?P<rest>.*)$")
_WORD = "ignore"
_SEPARATOR = re.compile(r"(?:---|\.\.\.)(?:\s|$)")


class SparedLines(NamedTuple):
    """A range of lines in which rules with these code prefixes are suppressed.

    Lines are numbered from 1, and the range includes its last line.
    """

    first: int
    last: int
    codes: tuple[str, ...]

    def spares(self, finding: Finding) -> bool:
        """Return whether the finding is in these lines and has a suppressed code."""
        held = any(self.first <= line <= self.last for line in (finding.line, finding.field_line))
        return held and finding.code.startswith(self.codes)


class CommentMistake(NamedTuple):
    """A comment that suppresses less than it seems to, and the reason. Lines are numbered from 1."""

    file: str
    line: int
    message: str


class Comments:
    """The comments in all sources that suppress findings."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._spared = {name: spared_by(text) for name, text in texts.items()}
        self.mistakes = tuple(
            CommentMistake(name, line, message) for name, text in texts.items() for line, message in mistakes_in(text)
        )

    def spare(self, finding: Finding) -> bool:
        """Return whether a comment suppresses the finding."""
        return any(lines.spares(finding) for lines in self._spared.get(finding.file, ()))


def spared_by(text: str) -> list[SparedLines]:
    """Return the lines and codes that the comments in a text suppress."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        if match is None:
            continue
        alone = not line[: match.start()].strip()
        first = _next(lines, number) if alone else number
        found.append(SparedLines(first, _last(lines, first) if alone else number, _codes(match)))
    return found


def mistakes_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield each comment that is meant to suppress findings but does not work, as its line and the mistake.

    Naming an unknown code is also a mistake.
    """
    for number, line in enumerate(text.split("\n"), 1):
        match, meant = _COMMENT.search(line), _DIRECTIVE.search(line)
        if match is not None:
            for code in _codes(match):
                if code and (problem := unknown_code(code)):
                    yield number, f"a comment that ignores findings: {problem}"
        elif meant is not None and nearest(meant["word"], [_WORD]):
            is_word = meant["word"] == _WORD
            how = "write the codes after `=`, separated by commas" if is_word else "the word is `ignore`"
            yield number, f"a comment has no effect: {how}, as in `# dra-plan: ignore=DRA101`"


def _codes(match: re.Match[str]) -> tuple[str, ...]:
    return tuple(code.strip() for code in match["codes"].split(",")) if match["codes"] else ("",)


def _next(lines: list[str], number: int) -> int:
    """Return the line of the next field after a comment, or the comment's own line if there is none."""
    for at in range(number, len(lines)):
        if not _is_empty(lines[at]):
            return at + 1
    return number


def _last(lines: list[str], first: int) -> int:
    """Return the last line of the block that begins on a line.

    The block is everything indented deeper, or the whole document if the line is at its start.
    """
    starts_document = not any(_is_field(line) for line in _before(lines, first))
    indent, is_item = _indent(lines[first - 1]), lines[first - 1].lstrip().startswith("- ")
    last = first
    for at in range(first, len(lines)):
        line = lines[at]
        if _SEPARATOR.match(line):
            break
        if _is_empty(line):
            continue
        # List items may have the same indentation as the key that contains them.
        inside = _indent(line) > indent or (_indent(line) == indent and not is_item and line.lstrip().startswith("- "))
        if not (inside or starts_document):
            break
        last = at + 1
    return last


def _before(lines: list[str], first: int) -> list[str]:
    """Return the lines of the document before a line."""
    start = max((at + 1 for at in range(first - 1) if _SEPARATOR.match(lines[at])), default=0)
    return lines[start : first - 1]


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#") or _SEPARATOR.match(line) is not None


def _is_field(line: str) -> bool:
    return not _is_empty(line)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
