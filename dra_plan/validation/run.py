"""All rules over one input: what counts is sorted by place, and what was spared is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from dra_plan.manifests.load import without_gc
from dra_plan.releases import Target

from . import fitness, matching, objects, pools, references, schema, taintrules
from .comments import Comments
from .finding import Finding
from .input import Input
from .reading import Reading
from .selection import RuleSelection
from .subject import Subject

_TOGETHER = (references, pools, matching, fitness, taintrules)
"""The rules that need more than one object."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found. `objects` were looked at, `spared` findings are left out for comments or settings."""

    findings: tuple[Finding, ...]
    spared: int
    objects: int


def judge(reading: Reading, target: Target, selection: RuleSelection, *, ignore_unknown: bool = False) -> Judgement:
    """Every finding that counts, in the order of the input. `ignore_unknown` spares fields that no schema has."""
    comments = Comments(reading.texts)
    with without_gc():
        told = list(_findings(reading.subjects, target))
    if ignore_unknown:
        told = [(subject, finding) for subject, finding in told if finding.rule is not schema.UNKNOWN_FIELD]
    kept = [
        (subject, finding) for subject, finding in told if selection.counts(finding) and not comments.spare(finding)
    ]
    order = {subject: position for position, subject in enumerate(reading.subjects)}
    kept.sort(key=lambda item: (order[item[0]], item[1].line, item[1].column, item[1].code))
    findings = tuple(finding for _, finding in kept)
    return Judgement(findings, len(told) - len(findings), len(reading.subjects))


def _findings(subjects: Sequence[Subject], target: Target) -> Iterator[tuple[Subject, Finding]]:
    given = Input(subjects, target)
    found = chain(objects.check(subjects, target), *(rules.check(given) for rules in _TOGETHER))
    for subject, problem in found:
        if not subject.follows_from_fault(problem):
            yield subject, subject.finding(problem)
