"""Pods that end: those that taints evict after a pass of the scheduler, and those for which a drain waits."""

import pytest

from dra_plan import Cluster
from tests.build import (
    bare_pod,
    node,
    placed,
    taint,
)
from tests.page.reading import read
from tests.planner.test_diff_uses import FLEET, SERVES, budget


def _tainted(effect: str) -> Cluster:
    keys = {"spec": {"taints": [taint("maintenance", effect=effect)]}}
    stays = placed("stays", "b", cpu="1")
    return Cluster.of([node("a", **keys), node("b"), placed("goes", "a", cpu="1"), stays, bare_pod("new")])


def test_pods_that_a_node_taint_evicts_are_in_the_document_and_on_the_page() -> None:
    cluster = _tainted("NoExecute")
    answer = cluster.schedule()
    assert answer.to_dict()["taintEvictions"] == [
        {"namespace": "default", "name": "goes", "nodeName": "a", "by": "node taint"}
    ]
    page = read(cluster.page(answer))
    assert page.headline == "pod/default/new gets node b; taints evict 1 pod"
    found = {pick["name"]: (pick["tone"], pick["word"]) for pick in page.data["picks"]}
    assert found["pod/default/goes"] == ("other", "Runs already, then evicted")
    assert found["pod/default/stays"] == ("plain", "Runs already")
    assert "Runs already on a. Then a node taint evicts it." in page.text


@pytest.mark.parametrize("settle", [False, True])
def test_pods_that_stay_or_have_ended_are_not(settle: bool) -> None:
    effect = "NoExecute" if settle else "NoSchedule"
    cluster = _tainted(effect)
    answer = cluster.schedule(settle=settle)
    assert "taintEvictions" not in answer.to_dict()
    assert "taints evict" not in read(cluster.page(answer)).headline


@pytest.mark.parametrize(("least", "waits"), [(3, True), (2, False)])
def test_a_drain_that_waits_says_so_in_its_headline(least: int, waits: bool) -> None:
    cluster = Cluster.of([*FLEET, *SERVES, budget(least)])
    page = read(cluster.page(cluster.diff(cluster.drain("a"))))
    assert page.headline.endswith("; kubectl drain would wait for budget default/serve") is waits
    assert page.headline.startswith("After draining a: nothing is lost, 1 other change")
