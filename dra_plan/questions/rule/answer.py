"""`rule`: the rules of `validate`, each with its findings in a bad example."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dra_plan import releases
from dra_plan.documents.base import answer_target
from dra_plan.planner.answer import PrintedAnswer
from dra_plan.questions.rule.document import RuleGuide, RulesDocument, ShownExample
from dra_plan.validation import examples, registry
from dra_plan.validation.reading import of_text
from dra_plan.validation.registry import RULES, RuleSelection
from dra_plan.validation.rule import Finding, Rule
from dra_plan.validation.run import judge

BAD = "bad.yaml"
"""The file name of the bad example."""


@dataclass(frozen=True, kw_only=True, repr=False)
class RuleGuides(PrintedAnswer[RulesDocument]):
    """The result of `rule`."""

    rules: tuple[Rule, ...]
    with_examples: bool

    def _document(self) -> RulesDocument:
        target = releases.target(releases.NEWEST)
        made = [_guide(rule, with_example=self.with_examples) for rule in self.rules]
        return RulesDocument(target=answer_target(target), rules=made, warnings=[])


def guides(codes: Iterable[str]) -> RuleGuides:
    """Return the rules whose codes begin with any of these prefixes, with examples.

    Without prefixes, returns all rules, without examples. Raises UsageError for a prefix that matches no rule.
    """
    wanted = tuple(code.upper() for code in codes)
    for code in wanted:
        registry.check(code)
    chosen = tuple(rule for code, rule in RULES.items() if not wanted or code.startswith(wanted))
    return RuleGuides(rules=chosen, with_examples=bool(wanted))


def judged_example(code: str, *, good: bool = False) -> tuple[Finding, ...]:
    """Return all findings in the rule's bad example or, if `good` is set, in its good example."""
    example = examples.load(code)
    gates = {**example.gates, **(example.good_gates if good else {})}
    text = example.whole(example.good if good else example.bad)
    target = releases.target(example.kubernetes_version, gates, "upstream")
    old = of_text(example.old, "old.yaml").subjects if example.old else ()
    return judge(of_text(text, "good.yaml" if good else BAD), target, RuleSelection(), against=old).findings


def _guide(rule: Rule, *, with_example: bool) -> RuleGuide:
    return RuleGuide(
        code=rule.code,
        severity=str(rule.severity),
        refused_by=rule.refused_by,
        title=rule.title,
        why=rule.why,
        fix=rule.fix,
        example=_shown(rule) if with_example else None,
    )


def _shown(rule: Rule) -> ShownExample:
    example = examples.load(rule.code)
    return ShownExample(
        bad=example.bad,
        good=example.good,
        around=example.around,
        old=example.old,
        feature_gates={**example.gates, **example.good_gates},
        findings=[found.entry() for found in judged_example(rule.code) if found.code == rule.code],
    )
