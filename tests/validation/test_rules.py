"""Every rule: what breaks it is found, in these words and at this place, and what does not is let be."""

from pathlib import Path
from typing import Any

import pytest

from dra_plan.validation.registry import RULES
from tests.conftest import Golden

from .cases import CASES, ELSEWHERE, Case
from .judging import as_yaml, judged, line
from .objects import taint_rule
from .variants import VARIANTS

GOLDEN = Path(__file__).parent / "golden"
INPUTS = {case.code: case for case in CASES} | {f"{case.code}-more": case for case in VARIANTS}
named = pytest.mark.parametrize(("name", "case"), INPUTS.items(), ids=INPUTS)


def _options(case: Case) -> dict[str, Any]:
    return {"kubernetes_version": case.version, "feature_gates": case.gates}


def test_every_rule_has_a_case() -> None:
    assert sorted([*(case.code for case in CASES), *ELSEWHERE]) == list(RULES)


@named
def test_what_breaks_it_is_found(name: str, case: Case, tmp_path: Path, golden: Golden) -> None:
    text = as_yaml(case.bad)
    findings = judged(tmp_path, text, **_options(case)).findings
    assert case.code in {finding.code for finding in findings}
    golden(GOLDEN / f"{name}.txt", f"{text}\n" + "".join(map(line, findings)))


@named
def test_what_does_not_is_let_be(name: str, case: Case, tmp_path: Path) -> None:
    findings = judged(tmp_path, as_yaml(case.good), **_options(case)).findings
    assert case.code not in {finding.code for finding in findings}, name
    assert "error" not in {str(finding.severity) for finding in findings}


@pytest.mark.parametrize("form", ["objects", "json"])
@named
def test_it_is_the_same_however_it_is_read(name: str, case: Case, form: str, tmp_path: Path) -> None:
    import json

    from dra_plan import validate

    read = judged(tmp_path, as_yaml(case.bad), **_options(case)).findings
    if form == "json":
        path = tmp_path / "input.json"
        path.write_text(json.dumps(case.bad), encoding="utf-8")
        other = validate(path, **_options(case)).findings
    else:
        other = validate(case.bad, **_options(case)).findings
    assert sorted(_what(f) for f in read) == sorted(_what(f) for f in other), name


def _what(finding: Any) -> tuple[str, ...]:
    """All but the place, which is in one message too."""
    return finding.code, finding.object, finding.field, finding.message.partition("; first in")[0]


def test_taint_rules_that_nothing_reads(tmp_path: Path, golden: Golden) -> None:
    text = as_yaml([taint_rule()])
    off = judged(tmp_path, text).findings
    on = judged(tmp_path, text, feature_gates={"DRADeviceTaintRules": True}).findings
    assert [finding.code for finding in off] == ["DRA252"]
    assert on == ()
    golden(GOLDEN / "DRA252.txt", f"{text}\n" + "".join(map(line, off)))
