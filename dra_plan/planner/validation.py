"""`validate`: what is wrong with manifests, one by one and together, before a cluster says so."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dra_plan import releases
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.validation import FindingCounts, ValidationDocument
from dra_plan.releases import Target
from dra_plan.validation.finding import Finding
from dra_plan.validation.reading import Reading, of_objects, read
from dra_plan.validation.rule import Severity
from dra_plan.validation.run import Judgement, judge
from dra_plan.validation.selection import ALL, RuleSelection

Given = str | os.PathLike[str] | Mapping[str, Any]
"""A path, or an object as a plain dict."""


@dataclass(frozen=True)
class ValidationReport:
    """The answer of `validate`."""

    target: Target
    judgement: Judgement

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong, in the order of the input."""
        return self.judgement.findings

    def at_least(self, severity: Severity) -> int:
        """How many findings are as bad as that or worse."""
        return sum(finding.severity >= severity for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The document that `dra-plan validate -o json` prints, as plain values."""
        return self.document.to_dict()

    @cached_property
    def document(self) -> ValidationDocument:
        """The document that `dra-plan validate` prints, made once."""
        counts = Counter(finding.severity for finding in self.findings)
        rules = {finding.code: finding.rule for finding in self.findings}
        return ValidationDocument(
            target=answer_target(self.target),
            summary=FindingCounts(
                objects=self.judgement.objects,
                errors=counts[Severity.ERROR],
                warnings=counts[Severity.WARNING],
                infos=counts[Severity.INFO],
                spared=self.judgement.spared,
            ),
            findings=[finding.entry() for finding in self.findings],
            rules=[rules[code].entry() for code in sorted(rules)],
            warnings=warnings(self.target.notices),
        )


def validate(
    objects: Given | Iterable[Given],
    *,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    select: Sequence[str] = (ALL,),
    ignore: Sequence[str] = (),
    ignore_unknown: bool = False,
    recursive: bool = False,
) -> ValidationReport:
    """What is wrong with objects (plain dicts) or with the manifests of paths, or both together.

    Raises InputError (`ManifestErrors`, with every fault) for what can't be read as documents, UsageError for an
    unknown version, gate, quirks or code. What a document says is never an error: it becomes findings.
    """
    given = [objects] if isinstance(objects, str | os.PathLike | Mapping) else list(objects)
    paths = [one for one in given if isinstance(one, str | os.PathLike)]
    reading = Reading()
    if paths:
        reading = read(paths, recursive=recursive)
    reading.subjects += of_objects([one for one in given if isinstance(one, Mapping)])
    selection = RuleSelection(tuple(select), tuple(ignore))
    return report(
        reading,
        selection,
        kubernetes_version=kubernetes_version,
        feature_gates=feature_gates,
        quirks=quirks,
        ignore_unknown=ignore_unknown,
    )


def report(
    reading: Reading,
    selection: RuleSelection,
    *,
    kubernetes_version: str | None,
    feature_gates: Mapping[str, bool] | None,
    quirks: str,
    ignore_unknown: bool,
) -> ValidationReport:
    """The judgement of what was read. Raises UsageError for an unknown version, gate or mode of quirks."""
    target = releases.target(kubernetes_version or releases.NEWEST, feature_gates, quirks)
    return ValidationReport(target, judge(reading, target, selection, ignore_unknown=ignore_unknown))
