"""All rules over one input: what counts is sorted by place, and what was spared is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dra_plan.releases import Target

from . import fitness, matching, objects, pools, references, schema, taintrules
from .choice import Choice
from .comments import Comments
from .finding import Finding
from .reading import Reading
from .subject import Subject
from .world import World

_TOGETHER = (references, pools, matching, fitness, taintrules)
"""The rules that need more than one object."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found. `objects` were looked at, `spared` findings are left out for comments or settings."""

    findings: tuple[Finding, ...]
    spared: int
    objects: int


def judge(reading: Reading, target: Target, choice: Choice, *, ignore_unknown: bool = False) -> Judgement:
    """Every finding that counts, in the order of the input. `ignore_unknown` spares fields that no schema has."""
    comments = Comments(reading.texts)
    found = list(_findings(reading.subjects, target))
    if ignore_unknown:
        found = [finding for finding in found if finding.rule is not schema.UNKNOWN_FIELD]
    kept = [finding for finding in found if choice.counts(finding) and not comments.spare(finding)]
    files = {name: position for position, name in enumerate(dict.fromkeys(s.place.source for s in reading.subjects))}
    kept.sort(key=lambda finding: (files[finding.file], finding.line, finding.column, finding.code))
    return Judgement(tuple(kept), len(found) - len(kept), len(reading.subjects))


def _findings(subjects: Sequence[Subject], target: Target) -> Iterator[Finding]:
    yield from objects.findings(subjects, target)
    world = World(subjects, target)
    for rules in _TOGETHER:
        for subject, problem in rules.check(world):
            yield subject.finding(problem)
