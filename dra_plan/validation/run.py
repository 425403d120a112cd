"""Validation of one input against all rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from msgspec.structs import replace

from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.well_known import POD_CLAIM_ANNOTATION
from dra_plan.interpreter import uncollected
from dra_plan.releases import Target

from . import admission, fitness, matching, objects, pools, quotas, references, schema, selectors, taint_rules, updates
from .input import Input
from .reading import Reading
from .registry import CommentMistake, Comments, RuleSelection
from .rule import Finding, Problem
from .served import RuntimeConfig
from .subject import Subject

_TOGETHER = (references, admission, quotas, pools, matching, fitness, taint_rules)
"""The rules that need more than one object."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of validation.

    - `objects`: the number of checked objects
    - `spared`: the number of findings that comments or settings suppressed
    - `untried`: the number of selectors that were not evaluated on all devices because this would have cost too much
    """

    findings: tuple[Finding, ...]
    broken: tuple[tuple[Subject, Problem], ...]
    """The object and the problem of each finding, in the same order as the findings."""
    spared: int
    objects: int
    untried: int = 0
    comments: tuple[CommentMistake, ...] = ()
    """The comments that suppress less than they seem to."""


def judge(
    reading: Reading,
    target: Target,
    selection: RuleSelection,
    *,
    ignore_unknown: bool = False,
    against: Sequence[Subject] = (),
    runtime_config: RuntimeConfig | None = None,
) -> Judgement:
    """Return all findings that are not suppressed, sorted by place.

    If `ignore_unknown` is set, fields that are not in any schema are not reported. Objects that are also in `against`
    are validated as updates. `runtime_config` selects the API versions that the API server serves; None means all
    versions that the release can serve.
    """
    comments = Comments(reading.texts)
    with uncollected():
        given = Input(reading.subjects, target)
        told = [*reading.unread, *_findings(reading.subjects, given, against, runtime_config)]
    if ignore_unknown:
        told = [one for one in told if one[1].rule is not schema.UNKNOWN_FIELD]
    kept = [one for one in told if selection.counts(one[2]) and not comments.spare(one[2])]
    order = {subject: position for position, subject in enumerate(reading.subjects)}
    kept.sort(key=lambda one: (order[one[0]], *_place(one[2])) if one[0] in order else (-1, 0, 0, ""))
    findings = tuple(finding for _, _, finding in kept)
    broken = tuple((subject, problem) for subject, problem, _ in kept)
    spared = len(told) - len(findings)
    return Judgement(findings, broken, spared, len(reading.subjects), given.matches.untried, comments.mistakes)


def _is_generated(claim: ResourceClaim) -> bool:
    return POD_CLAIM_ANNOTATION in (claim.metadata.annotations or {})


def _once(found: Iterable[tuple[Subject, Problem]], given: Input) -> Iterator[tuple[Subject, Problem]]:
    """Yield the problems without those of generated claims that a template in the namespace has as well.

    Kubernetes generates the claims from their templates, and only the templates can be corrected.
    """
    generated = {subject for subject, claim in given.of(ResourceClaim) if _is_generated(claim)}
    templates = {subject for subject, _ in given.of(ResourceClaimTemplate)}
    of_claims: list[tuple[Subject, Problem]] = []
    known: set[tuple[str, Problem]] = set()
    for subject, problem in found:
        if subject in generated:
            of_claims.append((subject, problem))
            continue
        if subject in templates:
            known.add((subject.namespace, replace(problem, path=problem.path[1:])))
        yield subject, problem
    yield from ((subject, problem) for subject, problem in of_claims if (subject.namespace, problem) not in known)


def _place(finding: Finding) -> tuple[int, int, str]:
    return finding.line, finding.column, finding.code


def _findings(
    subjects: Sequence[Subject], given: Input, against: Sequence[Subject], config: RuntimeConfig | None
) -> Iterator[tuple[Subject, Problem, Finding]]:
    target = given.target
    found: Iterable[tuple[Subject, Problem]]
    found = chain(objects.check(subjects, target, config), *(rules.check(given) for rules in _TOGETHER))
    if against:
        found = updates.as_updates(found, subjects, against, target)
    for subject, problem in _once(found, given):
        if not subject.follows_from_fault(problem):
            meant = selectors.hinted(problem, given.matches.published, target) if problem.expression else problem
            yield subject, meant, subject.finding(meant)
