"""docs/rules.md says what the code says."""

from dra_plan.validation.registry import RULES
from tests.conftest import Golden

from .rules_page import GROUPS, PATH, page


def test_page_is_up_to_date(golden: Golden) -> None:
    golden(PATH, page())


def test_every_rule_is_in_a_group_and_says_everything() -> None:
    for code, rule in RULES.items():
        assert code[3] in GROUPS
        assert not rule.title.endswith(".")
        assert rule.why.endswith(".")
        assert rule.fix.endswith(".")
