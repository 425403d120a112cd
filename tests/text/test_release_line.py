"""The last line of every answer: release, gates that differ from its defaults, defects met."""

from dra_plan.api.inventory import Notice
from dra_plan.documents.base import answer_target
from dra_plan.questions.allocate.document import AllocationDocument
from dra_plan.releases import target
from dra_plan.text import naming as text


def line(*notices: Notice, **asked: object) -> str:
    found = target(**{"kubernetes_version": "1.36", **asked})  # type: ignore[arg-type]
    return text.target(AllocationDocument(target=answer_target(found), claim_sets=[], warnings=list(notices)))


def test_defaults_are_not_told() -> None:
    assert line() == f"Kubernetes {target('1.36').release}."


def test_gates_that_differ_are_told() -> None:
    told = line(feature_gates={"DRAConsumableCapacity": False, "DRADeviceTaints": True})
    assert told == f"Kubernetes {target('1.36').release}, DRAConsumableCapacity=false."


def test_repaired_defects_are_told() -> None:
    assert line(quirks="fixed") == f"Kubernetes {target('1.36').release} without its known bugs."


def test_defects_that_changed_the_answer_are_told_once_in_order() -> None:
    met = [Notice("upstream-defect", "one", defects=("Q12", "P10")), Notice("upstream-defect", "two", defects=("Q2",))]
    told = line(*met, *met, Notice("shared-claim", "no defect"))
    assert told == f"Kubernetes {target('1.36').release}; known bugs that affect this result: P10, Q2, Q12."
