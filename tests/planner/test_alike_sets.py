"""Claim sets that are alike: searched and explained once, and each document is that of asking about it alone."""

import json
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.planner.claim_sets import SetPlanner
from tests import build
from tests.allocator.build import claim, device, device_class, exactly, is_v, pool
from tests.build import Object, bare_pod, manifest, node, owned

ABOVE_5 = 'device.driver == "a.example.com" && device.attributes["a.example.com"].v > 5'
TAINT = {"key": "gone", "effect": "NoSchedule"}


def nodes(number: int = 4) -> list[Object]:
    """Nodes with devices, each one more than the node before."""
    objects: list[Object] = []
    for index in range(number):
        objects.append(node(f"n{index}"))
        devices = [device(f"d{at}", v=at) for at in range(2 + index)]
        objects += pool(*devices, name=f"p{index}", nodeName=f"n{index}")
    return objects


def template(*requests: Object, **devices: Any) -> Object:
    """What the claims of the pods are made from."""
    return build.template("t", *requests, **devices)


def pods(number: int = 3, **spec: Any) -> list[Object]:
    """Pods of one template that differ in nothing but their names."""
    return [bare_pod(f"p{at}", templates={"r": "t"}, **spec) for at in range(number)]


def made(one_template: Object, number: int = 3) -> list[Object]:
    """The claims of the pods, as a cluster has them when the controller has made them."""
    devices = one_template["spec"]["spec"]["devices"]
    annotations = {"resource.kubernetes.io/pod-claim-name": "r"}
    return [
        manifest(
            "ResourceClaim",
            f"p{at}-r-abcde",
            namespace="default",
            metadata={"annotations": annotations, **owned("Pod", f"p{at}")},
            spec={"devices": devices},
        )
        for at in range(number)
    ]


def narrow_class() -> Object:
    """A class whose selector no device of the nodes passes."""
    narrow = device_class()
    narrow["spec"] = {"selectors": [{"cel": {"expression": ABOVE_5}}]}
    return narrow


FEW, MANY, WRONG = exactly("g", 2), exactly("g", 9), exactly("g", where='device.attributes["x"].y == 1')
APART = template(FEW, exactly("h"), constraints=[{"matchAttribute": "a.example.com/v"}])
TAINTED = {**nodes(1)[0], "spec": {"taints": [TAINT]}}

TOLERANT = pods(1, tolerations=[{"key": "gone", "operator": "Exists"}])

CLUSTERS: dict[str, list[Object]] = {
    "fit": [device_class(), *nodes(), template(FEW), *pods()],
    "too many": [device_class(), *nodes(), template(MANY), *pods()],
    "made by the controller": [device_class(), *nodes(), *made(template(MANY)), *pods()],
    "collide": [device_class(), *nodes(), APART, *pods()],
    "class": [narrow_class(), *nodes(), template(exactly("g")), *pods()],
    "class, made by the controller": [narrow_class(), *nodes(), *made(template(exactly("g"))), *pods()],
    "selector fails": [device_class(), *nodes(), template(WRONG), *pods()],
    "no class": [*nodes(), template(FEW), *pods()],
    "no template": [device_class(), *nodes(), *pods()],
    "excluded": [device_class(), *nodes()[1:], TAINTED, template(MANY), *pods(4)[1:], *TOLERANT],
    "two kinds": [device_class(), *nodes(), template(exactly("g", 3)), *pods(2), claim(exactly("g", 3, where=is_v(0)))],
    "lone claims": [device_class(), *nodes(), *(claim(MANY, name=name) for name in "abc")],
}


def alone(cluster: Cluster, method: str, **options: Any) -> list[Object]:
    """The claim sets, each as it is when nothing else is asked about."""
    answer = cluster.allocate()
    owners = [plan.name if plan.claim_set.owner else f"ResourceClaim {plan.claim_set.claims[0].key}" for plan in answer]
    names = [owner.replace(" default/", "/").lower() for owner in owners]
    return [only(getattr(cluster, method)(name, **options).to_dict()) for name in names]


def only(document: Object) -> Object:
    [claim_set] = document["claimSets"]
    return dict(claim_set)


@pytest.mark.parametrize("kind", CLUSTERS)
@pytest.mark.parametrize(("method", "options"), [("allocate", {}), ("allocate", {"explain": True}), ("explain", {})])
def test_each_has_the_document_of_asking_about_it_alone(kind: str, method: str, options: Object) -> None:
    cluster = Cluster.of(CLUSTERS[kind])
    together = getattr(cluster, method)(**options).to_dict()["claimSets"]
    assert len(together) >= 3
    assert json.dumps(together) == json.dumps(alone(cluster, method, **options))


def test_users_of_a_class_stay_in_the_order_of_the_input() -> None:
    explained = Cluster.of(CLUSTERS["class, made by the controller"]).explain().to_dict()["claimSets"]
    assert [
        [user["name"] for user in change["usedBy"]]
        for claim_set in explained
        for change in claim_set["suggestions"][0]["changes"]
    ] == [["p1-r-abcde", "p2-r-abcde"], ["p0-r-abcde", "p2-r-abcde"], ["p0-r-abcde", "p1-r-abcde"]]


@pytest.mark.parametrize(("kind", "searched"), [("fit", 1), ("too many", 1), ("lone claims", 1), ("two kinds", 2)])
def test_one_search_for_all_that_ask_for_the_same(kind: str, searched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    plan = SetPlanner.plan
    monkeypatch.setattr(SetPlanner, "plan", lambda self, claim_set: asked.append(claim_set) or plan(self, claim_set))
    Cluster.of(CLUSTERS[kind]).allocate()
    assert len(asked) == searched


def test_progress_counts_all_of_them() -> None:
    told: list[tuple[int, int]] = []
    Cluster.of(CLUSTERS["fit"]).allocate(progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (12, 12)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_notices_are_about_each() -> None:
    objects = [*CLUSTERS["fit"][:-3], *pods(3)]
    kind = {"apiVersion": "v1", "kind": "List", "items": objects}
    first = Cluster.of(kind).allocate("pod/p0").to_dict()["warnings"]
    third = Cluster.of(kind).allocate("pod/p2").to_dict()["warnings"]
    assert json.dumps(first).replace("p0", "p2") == json.dumps(third)


def test_a_table_has_one_row_for_them() -> None:
    objects = [device_class(), *nodes(), template(FEW), *pods(5)]
    lines = str(Cluster.of(objects).allocate()).splitlines()
    assert next(line for line in lines if line.startswith("pod/")).split("  ")[0] == "pod/default/p0 and 4 more"
    assert "5 Fits." in lines
    assert sum("p0-r" in line for line in lines) == 2, "one example, of two devices"
    assert not any("p1-r" in line for line in lines)


def test_up_to_three_are_named() -> None:
    lines = str(Cluster.of(CLUSTERS["fit"]).allocate()).splitlines()
    assert lines[1].startswith("pod/default/p0, pod/default/p1, pod/default/p2  ")


def test_wide_lists_all() -> None:
    from dra_plan.questions.allocate.text import FORMATS
    from dra_plan.text.formats import parse

    text = parse("wide", FORMATS)(Cluster.of(CLUSTERS["fit"]).allocate().document, None)
    assert all(text.count(f"p{number}-r") == 8 for number in range(3))


@pytest.mark.parametrize("kind", ["fit", "collide"])
def test_an_explanation_is_told_once(kind: str) -> None:
    text = str(Cluster.of(CLUSTERS[kind]).explain())
    assert text.startswith("pod/default/p0, pod/default/p1, pod/default/p2 ")
    assert "p1-r" not in text


def test_pods_that_no_change_helps_are_told_together() -> None:
    """Only n3 has five devices: with the change to the template one pod fits, and the two others do not."""
    found = Cluster.of(CLUSTERS["too many"]).explain()
    assert [bool(one.suggestions) for one in found.verdicts].count(True) == 1
    blocks = [line for line in str(found).splitlines() if "Pending" in line]
    assert sorted(line.count("pod/default/p") for line in blocks) == [1, 2]


def test_a_change_of_a_claim_that_is_made_already_names_the_template_that_the_input_lacks() -> None:
    found = Cluster.of(CLUSTERS["made by the controller"]).explain()
    [one] = found.verdicts[0].suggestions
    assert [patch.object.name for patch in one.patches] == ["p0-r-abcde"]
    assert "in request g of template default/t (not in the input)" in str(found)


def test_different_answers_have_rows_of_their_own() -> None:
    lines = str(Cluster.of(CLUSTERS["two kinds"]).allocate()).splitlines()
    rows = lines[1 : lines.index("")]
    assert [row.split("  ")[0] for row in rows] == ["pod/default/p0, pod/default/p1", "resourceclaim/default/c"]
