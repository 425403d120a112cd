"""The examples that the package has for every rule: the bad one breaks it, the good one breaks nothing."""

import importlib.resources

import pytest

from dra_plan.questions.rule.answer import judged_example
from dra_plan.validation import examples
from dra_plan.validation.registry import RULES
from dra_plan.validation.rule import Severity


def test_every_rule_has_one_and_no_other_does() -> None:
    files = importlib.resources.files(examples).iterdir()
    assert sorted(file.name for file in files if file.name.endswith(".toml")) == [f"{code}.toml" for code in RULES]


@pytest.mark.parametrize("code", RULES)
def test_the_bad_one_breaks_it_and_the_good_one_nothing(code: str) -> None:
    bad, good = judged_example(code), judged_example(code, good=True)
    assert code in {finding.code for finding in bad}
    assert all(finding.file == "bad.yaml" and finding.line for finding in bad)
    assert code not in {finding.code for finding in good}
    assert [finding.message for finding in good if finding.severity is Severity.ERROR] == []


@pytest.mark.parametrize("code", RULES)
def test_they_are_short(code: str) -> None:
    example = examples.load(code)
    for text in (example.bad, example.good, example.around):
        assert max(map(len, text.split("\n"))) <= 115
        assert len(text.split("\n")) <= 40
        assert text.endswith("\n") or text == ""
