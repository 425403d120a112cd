"""The command `rule`: a list, or all about some rules, with what a bad example gives."""

import json
from pathlib import Path

import jsonschema
import pytest

from dra_plan.questions import schema as schemas
from dra_plan.validation.registry import RULES
from tests.conftest import Golden

from .running import in_process

GOLDEN = Path(__file__).parent / "golden"


def test_without_a_code_all_are_listed() -> None:
    ran = in_process("rule")
    assert (ran.status, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()[1:-2]] == list(RULES)
    assert in_process("rule", "-o", "name").out.split() == list(RULES)


@pytest.mark.parametrize("code", ["DRA101", "DRA221", "DRA252"])
def test_one_is_told_with_its_examples(code: str, golden: Golden) -> None:
    ran = in_process("rule", code)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == in_process("rule", code.lower()).out
    golden(GOLDEN / f"rule-{code}.txt", ran.out)


def test_the_beginning_of_codes_stands_for_all_of_them() -> None:
    told = in_process("rule", "DRA25", "DRA101", "-o", "jsonpath={.rules[*].code}").out
    assert told.split() == ["DRA101", *(code for code in RULES if code.startswith("DRA25"))]


def test_the_document_keeps_to_its_schema() -> None:
    validator = jsonschema.Draft202012Validator(schemas.load("RuleList"))
    for codes in ([], ["DRA"]):
        document = json.loads(in_process("rule", *codes, "-o", "json").out)
        validator.validate(document)
        assert [rule["code"] for rule in document["rules"]] == list(RULES)
    assert all(rule["example"]["findings"] for rule in document["rules"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["DRA999"], "no rule 'DRA999'"), (["x"], "no rule 'X'"), (["-o", "table"], "no format 'table'")],
)
def test_what_is_no_rule_is_refused(arguments: list[str], said: str) -> None:
    ran = in_process("rule", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
