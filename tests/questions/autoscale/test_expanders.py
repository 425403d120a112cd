"""Which group grows where several could: the expander's choice, what is chance and what the input does not say."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from tests.build import Object, pod
from tests.questions.autoscale.clusters import REFUSED, group, grouped, waiting, waiting_pod
from tests.questions.autoscale.test_recorded import CASES

COMPUTED = {"least-waste": "leastWaste", "most-pods": "mostPods", "least-nodes": "leastNodes"}
SEVERAL = [case for case in CASES if len(case["expected"]["scaleUp"].get("options") or []) > 1]


def sizes() -> Object:
    """A group of small nodes before one of large ones: four pods fill four of those and half of this."""
    small, large = group("small", 9, each=1), group("large", 9, each=8)
    large["template"]["node"]["status"]["allocatable"] |= {"cpu": "64", "memory": "512Gi"}
    large["template"]["node"]["status"]["capacity"] |= {"cpu": "64", "memory": "512Gi"}
    return {"nodeGroups": [small, large]}


@pytest.mark.parametrize(("expander", "grows"), [("", "small"), ("least-waste", "small"), ("least-nodes", "large")])
def test_the_expander_chooses_the_group(expander: str, grows: str) -> None:
    found = Cluster.of(waiting(4)).autoscale(sizes(), expander=expander or None)
    assert [one["group"] for one in found.to_dict()["scaleUp"]["plan"]] == [grows]
    assert found.to_dict()["scaleUp"].get("expander", "") == expander


def test_the_choice_is_told() -> None:
    cluster = Cluster.of(waiting(4))
    told = str(cluster.autoscale(sizes()))
    assert "2 groups would help; the expander decides which group grows." in told
    assert "This result assumes the first group, small. Of the expanders, " in told
    assert (
        "least-waste (the default) would pick small; most-pods would pick large or small; least-nodes would pick large."
        in told
    )
    assert "2 groups would help; least-nodes picks large." in str(cluster.autoscale(sizes(), expander="least-nodes"))
    tie = str(cluster.autoscale(sizes(), expander="most-pods"))
    assert "most-pods picks large or small at random; the output assumes small." in tie
    for unknown in ("random", "price", "priority"):
        said = str(cluster.autoscale(sizes(), expander=unknown))
        assert f"the input does not show which group the expander {unknown} would pick." in said
        assert "This result assumes the first group, small." in said


@pytest.mark.sampled(4)
@pytest.mark.parametrize("expander", COMPUTED)
@pytest.mark.parametrize("case", SEVERAL, ids=lambda case: str(case["id"]))
def test_the_group_is_one_that_the_recorded_expander_took(case: Any, expander: str) -> None:
    groups = {"nodeGroups": case["nodeGroups"], "options": {**case["options"], "expander": expander}}
    up = Cluster.of(case["objects"], kubernetes_version="1.36.2").autoscale(groups).to_dict()["scaleUp"]
    assert up["chosen"] in up[COMPUTED[expander]]
    recorded = case["expected"]["scaleUp"][COMPUTED[expander]]
    if not case["expected"]["open"].get("scaleUp"):
        assert up[COMPUTED[expander]] == recorded


def test_there_are_recorded_choices() -> None:
    assert len(SEVERAL) > 20


def test_the_option_goes_before_the_file() -> None:
    groups = sizes() | {"options": {"expander": "least-waste"}}
    found = Cluster.of(waiting(4)).autoscale(groups, expander="least-nodes").to_dict()
    assert found["scaleUp"]["chosen"] == "large"


def test_another_name_is_an_error() -> None:
    with pytest.raises(UsageError, match="--expander: 'cheapest' is not one of least-waste, most-pods"):
        Cluster.of(waiting(1)).autoscale(sizes(), expander="cheapest")


# -- what the scheduler needs ------------------------------------------------------------------------------------------


def test_the_scheduler_may_need_fewer_nodes() -> None:
    """Pods with three devices before those with one would fill two nodes; the autoscaler takes them as they come."""
    pods = [each for name in ("a", "b") for each in waiting_pod(name)]
    pods += [each for name in ("x", "y") for each in waiting_pod(name, each=3)]
    objects = [*waiting(0), *pods]
    found = Cluster.of(objects).autoscale({"nodeGroups": [group("pool", 9, each=4)]})
    assert found.to_dict()["scaleUp"]["plan"] == [{"group": "pool", "from": 0, "to": 3}]
    assert found.to_dict()["scaleUp"]["needed"] == 2
    assert "To bind all of these pods, kube-scheduler needs 2 new nodes in group pool (see `grow`)." in str(found)


def test_it_is_the_number_of_grow() -> None:
    found = Cluster.of(waiting(5)).autoscale({"nodeGroups": [group("pool", 9, each=2)]}).to_dict()["scaleUp"]
    assert (found["plan"], found["needed"]) == ([{"group": "pool", "from": 0, "to": 3}], 3)


def test_pods_outside_the_plan_do_not_count() -> None:
    other = pod("big", cpu="7", nodeSelector={"no": "where"}, status=REFUSED)
    assert Cluster.of([*waiting(1), other]).autoscale(grouped(9)).to_dict()["scaleUp"]["needed"] == 1


def test_a_large_cluster_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    from dra_plan.questions.autoscale import growing

    monkeypatch.setattr(growing, "MOST_GROWN", 0)
    found = Cluster.of(waiting(1)).autoscale(grouped(9))
    assert found.to_dict()["scaleUp"].get("needed") is None
    assert "(see `grow`)" not in str(found)
