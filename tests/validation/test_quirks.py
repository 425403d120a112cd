"""The same objects with the release's defects and without: what `fixed` places, `fixed` does not call impossible."""

from typing import Any

import dra_plan

from .objects import claim, device_class, piece, taint_rule

RULES_ON = {"DRADeviceTaintRules": True}
ABSENT = taint_rule()
ABSENT["spec"].pop("deviceSelector")
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}}
OBJECTS = [NODE, piece(), device_class(), claim(), ABSENT]


def _found(quirks: str, **options: Any) -> list[tuple[str, str]]:
    report = dra_plan.validate(OBJECTS, quirks=quirks, feature_gates=RULES_ON, **options)
    return [(finding.code, finding.message) for finding in report.findings]


def _outcome(quirks: str) -> str:
    plan = dra_plan.allocate(OBJECTS, quirks=quirks, feature_gates=RULES_ON).to_dict()
    return str(plan["claimSets"][0]["outcome"])


def test_a_taint_rule_without_selector_taints_everything_upstream() -> None:
    """E1 (kubernetes#141620)."""
    assert _outcome("upstream") == "DoesNotFit"
    assert [code for code, _ in _found("upstream")] == ["DRA230", "DRA250"]


def test_a_taint_rule_without_selector_taints_nothing_once_repaired() -> None:
    assert _outcome("fixed") == "Fits"
    assert _found("fixed") == [("DRA251", "the rule has no device selector, so no device gets the taint")]


def test_a_rule_that_selects_everything_taints_everything_in_both() -> None:
    rule = taint_rule()
    rule["spec"]["deviceSelector"] = {}
    for quirks in ("upstream", "fixed"):
        report = dra_plan.validate([*OBJECTS[:-1], rule], quirks=quirks, feature_gates=RULES_ON)
        assert [finding.code for finding in report.findings] == ["DRA230", "DRA250"]
