"""Which rules count. `select` and `ignore` take codes or their beginnings; the longer wins, of equal ones `ignore`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dra_plan.errors import UsageError

from .finding import Finding
from .registry import RULES
from .words import nearest

ALL = "DRA"
"""The beginning of every code."""


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The rules that count, and for files that match a pattern (as of the shell) those that don't."""

    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for code in (*self.select, *self.ignore, *(code for codes in self.per_file.values() for code in codes)):
            check(code)

    def counts(self, finding: Finding) -> bool:
        """Whether a finding is to be told."""
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
    """Raises UsageError unless the text begins the code of a rule."""
    if problem := unknown_code(code):
        raise UsageError(problem)


def unknown_code(code: str) -> str:
    """Why no rule is meant by the code, or what it begins with; empty if one is."""
    if code and any(known.startswith(code) for known in RULES):
        return ""
    if near := nearest(code, RULES):
        return f"no rule {code!r}; did you mean {near}?"
    if code.startswith(ALL):
        return f"no rule {code!r}: `dra-plan rule` lists the rules"
    return f"no rule {code!r}: codes are {ALL} and three digits, or begin so"


def _longest(codes: Iterable[str], code: str) -> int:
    """The length of the longest text that begins the code, -1 without any."""
    return max((len(start) for start in codes if code.startswith(start)), default=-1)
