"""Clusters that went on until nothing changed: Kubernetes 1.36.2 with all its controllers, and what we say."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.controllers.settle import Settling

from .recorded import QUIRK, cases, differences, name_of, settled, settled_plan

EVERY = 6
CHANCE = {
    "pc-g30": "kubelet and claim controller race with the scheduler, by milliseconds; there is one recording",
    "q-18": "both nodes score the same, and one is drawn",
    "q-g07": "both nodes score the same, and one is drawn",
    "st-s008-p1": "three nodes score the same, and one is drawn",
    "dt-43": "the input cannot say that the scheduler had lost the rule",
    "dt-64": "a race of evictions without end, until the rule goes",
}
"""Cases in which chance decides although nothing marks it, and why."""

CASES = [*cases("control"), *cases("settled")]
FAMILIES = sorted({case["family"] for case in CASES})


@pytest.mark.parametrize("family", FAMILIES)
def test_sample_agrees(family: str) -> None:
    sample = [case for case in CASES if case["family"] == family][::EVERY]
    assert sample
    check(sample)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_all_agree(family: str) -> None:
    check([case for case in CASES if case["family"] == family])


def check(sample: list[dict[str, Any]]) -> None:
    wrong = {case["id"]: found for case in sample if (found := differences(case, settled(case)))}
    assert {case: found for case, found in wrong.items() if case not in CHANCE} == {}


@pytest.mark.parametrize("name", ["q-18", "q-g07", "st-s008-p1"])
def test_the_cluster_drew_one_of_the_best_nodes(name: str) -> None:
    """Where a node is drawn among those that score the same, the recorded one is among ours."""
    case = next(case for case in CASES if case["id"] == name)
    document, plan = settled_plan(case)
    best = {(pod.namespace, pod.name): pod.best_nodes for pod in plan.document.pods}
    drawn = 0
    for pod in document["pods"]:
        theirs = case["after"]["pods"].get(name_of(pod))
        if theirs is not None and theirs["node"] != pod["nodeName"]:
            assert {theirs["node"], pod["nodeName"]} <= set(best[pod["namespace"], pod["name"]])
            drawn += 1
    assert drawn == 1


def test_with_a_slower_kubelet_and_a_quicker_claim_controller_it_ends_as_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All victims but one end before a StatefulSet goes on; their claims are free before anybody is tried."""

    def schedule(self: Settling) -> None:
        self._run_scheduler()
        while victims := self._server.victims():
            if len(victims) == 1 and self._make():
                self._run_scheduler()
            self._server.end_victim()
            self._release()
            self._run_scheduler()

    [case] = [case for case in CASES if case["id"] == "pc-g30"]
    assert differences(case, settled(case))
    monkeypatch.setattr(Settling, "_schedule", schedule)
    assert differences(case, settled(case)) == []


def test_the_defect_is_a_switch() -> None:
    """E3: with rules that the scheduler never hears of, an evicted pod's successor lands where it was."""
    case = next(case for case in CASES if case["id"] == "dt-08")
    assert case["quirk"] == QUIRK
    assert settled(case)["unsettled"]
    rule = next(case for case in CASES if case["id"] == "dt-64+fix")
    assert settled({**rule, "action": rule["action"][:1]})["unsettled"] is None
    assert settled({**rule, "action": rule["action"][:1], "quirk": QUIRK})["unsettled"]
    cluster = Cluster.of(rule["before"], kubernetes_version="1.36.2")
    warnings = cluster.schedule(settle=True, events=rule["action"][:1]).document.warnings
    [told] = [each for each in warnings if each.code == "upstream-defect"]
    assert (told.defects, told.object) == (("E3",), "DeviceTaintRule r")
