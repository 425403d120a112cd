"""`validate`: problems within and between manifests, found before they are applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from dra_plan.api.inventory import Notice, Origin
from dra_plan.documents.base import answer_target, warnings
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.questions.validate.document import FindingCounts, ValidationDocument
from dra_plan.releases import Target
from dra_plan.validation.fixing import FixedSource, entry, fixed
from dra_plan.validation.matches import BUDGET
from dra_plan.validation.reading import Reading
from dra_plan.validation.registry import RuleSelection
from dra_plan.validation.rule import Finding, Severity
from dra_plan.validation.run import Judgement, judge
from dra_plan.validation.served import RuntimeConfig
from dra_plan.validation.subject import Subject


@dataclass(frozen=True, repr=False)
class ValidationReport(PrintedAnswer[ValidationDocument]):
    """The result of `validate`. Iterating over the result yields the findings."""

    target: Target
    judgement: Judgement
    offers_fixes: bool = True
    """Whether findings say how to fix them. After `--fix`, the remaining findings do not."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, in input order."""
        return self.judgement.findings

    def at_least(self, severity: Severity) -> int:
        """Return the number of findings with this severity or a higher one."""
        return sum(finding.severity >= severity for finding in self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        found, objects = counted(len(self), "finding"), counted(self.judgement.objects, "object")
        return f"<ValidationReport for {self.target.version}: {found} in {objects}>"

    def _document(self) -> ValidationDocument:
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
            findings=[
                structs.replace(
                    finding.entry(), fix=entry(subject, problem, self.target) if self.offers_fixes else None
                )
                for finding, (subject, problem) in zip(self.findings, self.judgement.broken, strict=True)
            ],
            rules=[rules[code].entry() for code in sorted(rules)],
            warnings=warnings(
                [
                    *self.target.notices,
                    *_of_coverage(self.target),
                    *_of_costs(self.judgement),
                    *_of_comments(self.judgement),
                ]
            ),
        )


def _of_coverage(target: Target) -> list[Notice]:
    """Return the release whose rules are used, if the API server's rules for this release were not recorded."""
    stands = target.coverage.validation
    if not stands:
        return []
    text = (
        f"the API server of {target.release} was not recorded: objects are checked against the "
        f"rules of {stands}, with the fields, versions and limits of {target.version} "
        "(docs/releases.md)"
    )
    return [Notice("rules-of-another-release", text)]


def _of_costs(judgement: Judgement) -> list[Notice]:
    """Return notices for selectors that were not evaluated on all devices, so that their results are incomplete."""
    if not judgement.untried:
        return []
    text = (
        f"{counted(judgement.untried, 'selector')} not evaluated on all devices of the input, "
        f"because together they cost more than {BUDGET:,} CEL units (docs/rules.md)"
    )
    return [Notice("selectors-not-tried", text)]


def _of_comments(judgement: Judgement) -> list[Notice]:
    """Return the comments that ignore fewer findings than they seem to, with their positions."""
    return [
        Notice("comment-spares-nothing", mistake.message, source=str(Origin(mistake.file, mistake.line)))
        for mistake in judgement.comments
    ]


def report(
    reading: Reading,
    target: Target,
    selection: RuleSelection,
    *,
    ignore_unknown: bool = False,
    against: Sequence[Subject] = (),
    runtime_config: RuntimeConfig | None = None,
) -> ValidationReport:
    """Validate the input. Objects that are also in `against` are validated as updates.

    `runtime_config` selects which of the release's API versions the API server serves. None means all of them.
    """
    judged = judge(
        reading, target, selection, ignore_unknown=ignore_unknown, against=against, runtime_config=runtime_config
    )
    return ValidationReport(target, judged)


@dataclass(frozen=True, slots=True)
class FixedManifests:
    """The manifests after `--fix`, and the remaining findings.

    `made` is the number of fixes, `sources` are the changed files, and `before` contains the original findings. If no
    file changes, no original finding is marked as fixable.
    """

    sources: list[FixedSource]
    made: int
    before: ValidationReport
    report: ValidationReport


def fix(
    reading: Reading,
    target: Target,
    selection: RuleSelection,
    *,
    ignore_unknown: bool = False,
    against: Sequence[Subject] = (),
    runtime_config: RuntimeConfig | None = None,
) -> FixedManifests:
    """Return the input with every certain fix for the selected rules applied. No file is written."""

    def judged(read: Reading) -> Judgement:
        return judge(
            read, target, selection, ignore_unknown=ignore_unknown, against=against, runtime_config=runtime_config
        )

    done = fixed(reading.sources, judged, target)
    before = ValidationReport(target, done.before, offers_fixes=bool(done.sources))
    return FixedManifests(done.sources, done.made, before, ValidationReport(target, done.judgement, offers_fixes=False))
