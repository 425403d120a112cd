"""A rule, a problem (a violation of a rule at a field), and a finding (a problem with its place in the input)."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.api.meta import FieldPath
from dra_plan.documents.findings import FindingEntry, Refuser, RuleEntry, SourceExcerpt


class Severity(IntEnum):
    """The severity of a finding. `--fail-on` includes findings of the given severity or higher."""

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
    """The component that rejects a violation. None if the rule is only advice, or depends on other objects."""

    def entry(self) -> RuleEntry:
        """Return the rule as an entry of a document."""
        return RuleEntry(code=self.code, severity=str(self.severity), title=self.title, why=self.why, fix=self.fix)

    def at(self, path: FieldPath, message: str, suggestion: str = "") -> Problem:
        """Return a problem with the field at the v1 path `path`. `suggestion` is the corrected text, if any."""
        return Problem(self, path, message, suggestion)


class Problem(Struct, frozen=True):
    """A violation of a rule by an object.

    The path is a v1 path, which is converted to the path in the manifest when the problem is reported.
    """

    rule: Rule
    path: FieldPath
    message: str
    suggestion: str = ""
    written: bool = False
    """Whether the path is already the path in the manifest."""
    of_key: bool = False
    """Whether the key is wrong, and not the value."""
    offset: int | None = None
    """The position in the field's text in characters, or None for the whole field."""
    field: str = ""
    """The API server's name of the field, if it differs from the path."""
    value: str = ""
    """The value that the field should have, if a fix needs it."""
    expression: str = ""
    """The selector that does not compile."""

    def called(self, field: str) -> Problem:
        """Return the problem with `field` as the API server's name of the field."""
        return replace(self, field=field)


def refused(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule that the API server or kubectl's strict decoding enforces when an object is written."""
    return Rule(code, Severity.ERROR, title, why, fix, "APIServer")


def unschedulable(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule whose violation leaves pods pending or devices unused."""
    return Rule(code, Severity.ERROR, title, why, fix, "Scheduler")


def error(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule that is violated only by mistake. Neither the API server nor the scheduler enforces it."""
    return Rule(code, Severity.ERROR, title, why, fix)


def warning(code: str, title: str, why: str, fix: str, refused_by: Refuser | None = None) -> Rule:
    """Return a rule whose violation is probably a mistake. `refused_by` is the component that rejects it, if any."""
    return Rule(code, Severity.WARNING, title, why, fix, refused_by)


def info(code: str, title: str, why: str, fix: str) -> Rule:
    """Return a rule whose findings are useful information, not mistakes."""
    return Rule(code, Severity.INFO, title, why, fix)


# -- findings ----------------------------------------------------------------------------------------------------------
# Findings are ready for any output.


class Finding(Struct, frozen=True):
    """A violation of a rule, and its position in the input.

    Lines and columns are numbered from 1, and 0 means unknown. The end is exclusive. `file` is the name that the user
    gave (`-` for standard input). `object` is `KIND NAMESPACE/NAME`. `field` is the path in the manifest. `suggestion`
    is the corrected text, or "" if there is none.
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
    """The line of the field's key, at the end of which a comment may be. The value may begin on a later line."""
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
        """Return the finding as an entry of a document, without a fix."""
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
