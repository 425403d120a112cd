"""A rule as data, a problem (a rule that an object violates at a field), and a finding (a problem with its place).

The checks that find problems are in other modules.
"""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.api.meta import FieldPath
from dra_plan.documents.findings import FindingEntry, Refuser, RuleEntry, SourceExcerpt


class Severity(IntEnum):
    """The severity of a finding.

    Severities are ordered. `--fail-on` includes findings of the given severity or a higher severity.
    """

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


class Rule(Struct, frozen=True):
    """A rule of `validate`: its stable code, its title, why it matters, and how to fix a violation."""

    code: str
    severity: Severity
    title: str
    why: str
    fix: str
    refused_by: Refuser | None = None
    """The component that rejects a violation; None if the rule is advice, or follows from other objects."""

    def entry(self) -> RuleEntry:
        """Return the rule in the form that documents use."""
        return RuleEntry(code=self.code, severity=str(self.severity), title=self.title, why=self.why, fix=self.fix)

    def at(self, path: FieldPath, message: str, suggestion: str = "") -> Problem:
        """Return a problem with the field at `path`. `suggestion` is the corrected text, if there is one.

        The path is the path in v1.
        """
        return Problem(self, path, message, suggestion)


class Problem(Struct, frozen=True):
    """A violation of a rule by an object.

    The path is the path in v1. When the problem is reported, the path is converted to the path in the manifest.
    """

    rule: Rule
    path: FieldPath
    message: str
    suggestion: str = ""
    written: bool = False
    """True if the path is already as in the manifest."""
    of_key: bool = False
    """True if the key is wrong instead of the value."""
    offset: int | None = None
    """The position in the field's text, in characters; None for the field as a whole."""
    field: str = ""
    """The API server's name for the field, if it differs from the path."""
    value: str = ""
    """The value that the field should have, if a fix needs it."""
    expression: str = ""
    """The selector that does not compile."""

    def called(self, field: str) -> Problem:
        """Return the problem with `field` as the name that the API server uses for the field."""
        return replace(self, field=field)


def refused(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule that the API server enforces when an object is written.

    kubectl's strict decoding may enforce the rule before the API server does.
    """
    return Rule(code, Severity.ERROR, title, why, fix, "APIServer")


def unschedulable(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule that the scheduler enforces. After a violation, pods stay pending or devices are not used."""
    return Rule(code, Severity.ERROR, title, why, fix, "Scheduler")


def error(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule that is violated only by mistake. Neither the API server nor the scheduler enforces the rule."""
    return Rule(code, Severity.ERROR, title, why, fix)


def warning(code: str, title: str, why: str, fix: str, refused_by: Refuser | None = None) -> Rule:
    """Return a rule whose violation is probably a mistake.

    `refused_by` is the component that rejects the object, or None if the object is accepted.
    """
    return Rule(code, Severity.WARNING, title, why, fix, refused_by)


def info(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule whose findings are useful information, not mistakes."""
    return Rule(code, Severity.INFO, title, why, fix)


# -- findings ----------------------------------------------------------------------------------------------------------
# Findings are ready for any output.


class Finding(Struct, frozen=True):
    """A violation of a rule, and its position in the input.

    The first line and the first column have the number 1, the end is exclusive, and 0 means unknown. `file` is the name
    that the user gave (`-` for standard input). `object` is `KIND NAMESPACE/NAME`. `field` is the path as it is in the
    manifest. `suggestion` is the corrected text, or "" if there is none.
    """

    rule: Rule
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    object: str = ""
    field: str = ""
    suggestion: str = ""
    end_line: int = 0
    end_column: int = 0
    field_line: int = 0
    """The line of the field's key, at the end of which comments may be; the value may begin below it."""
    excerpt: SourceExcerpt | None = None

    @property
    def code(self) -> str:
        """The code of the violated rule."""
        return self.rule.code

    @property
    def severity(self) -> Severity:
        """The severity of the violated rule."""
        return self.rule.severity

    def entry(self) -> FindingEntry:
        """Return the finding in the form that documents use. The fix is left out, because it is not known here."""
        return FindingEntry(
            code=self.code,
            severity=str(self.severity),
            refused_by=self.rule.refused_by,
            message=self.message,
            object=self.object,
            field=self.field,
            file=self.file,
            line=self.line,
            column=self.column,
            end_line=self.end_line,
            end_column=self.end_column,
            excerpt=self.excerpt,
            suggestion=self.suggestion,
            fix=None,
        )
