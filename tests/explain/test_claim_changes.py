"""Changes of claims that are told were tried with the whole scheduler: other rules, and other pods that wait."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.documents.claim_changes import OtherAmount, SelectorChanged
from dra_plan.explanation import funnel
from dra_plan.explanation.explainer import KnownFindings
from dra_plan.explanation.funnel import Funnel, NodeOffer
from dra_plan.explanation.placement import Placement
from dra_plan.explanation.suggest.patches import RANKS, rank
from dra_plan.questions.explain.owners import STILL_NONE
from tests.build import (
    GPU,
    Object,
    allocated,
    claim,
    deployment,
    device,
    device_class,
    node,
    owned,
    pod,
    request,
    running,
    slice_,
    taint,
)
from tests.build import template as of_template

from .apply import applied
from .json_patch import patched


def world(count: int, *nodes: Object, **asked: Any) -> list[Object]:
    """A pod that asks for so many devices and 4 cpu, unless said otherwise."""
    made = of_template("t", request("gpu", count=count))
    return [device_class(), made, *nodes, pod("p", templates={"gpu": "t"}, **{"cpu": "4", **asked})]


def having(name: str, *devices: Object, **rest: Any) -> list[Object]:
    return [node(name, **rest), slice_(name, *devices)]


def told(objects: list[Object], owner: str = "pod/p") -> list[tuple[list[str], str, int]]:
    """The changes of each suggestion, its node, and how many pods it helps if not all; each is carried out."""
    cluster = Cluster.of(objects)
    [verdict] = cluster.explain(owner).to_dict()["verdicts"]
    suggestions = verdict.get("suggestions", [])
    for one in suggestions:
        new_nodes = [change for change in one["changes"] if change["code"] == "add-node"]
        changed = patched(applied(objects, new_nodes), one["patches"])
        [after] = Cluster.of(changed).explain(owner).to_dict()["verdicts"]
        bound = after["wouldBind"] if one.get("wouldBind") else after["verdict"]
        assert bound in (one.get("wouldBind"), "WouldBind", "WouldPreempt"), one
    return [
        ([change["code"] for change in one["changes"]], one["node"], one.get("wouldBind", 0)) for one in suggestions
    ]


def gpus(number: int, **rest: Any) -> list[Object]:
    return [device(f"gpu-{index}", **rest) for index in range(number)]


def test_a_change_is_sought_where_nothing_else_is_in_the_way() -> None:
    objects = world(4, *having("small", *gpus(3), cpu="2"), *having("large", *gpus(1)))
    assert told(objects) == [(["lower-count"], "large", 0), (["lower-count", "lower-request"], "small", 0)]


def test_a_change_found_on_one_node_may_help_on_another() -> None:
    nodes = [*having("small", *gpus(2, model="A"), cpu="2"), *having("large", *gpus(2, model="A"))]
    objects = world(1, *nodes)
    objects[1] = of_template("t", request("gpu", 'device.attributes["gpu.example.com"].model == "B"'))
    assert told(objects) == [(["change-value"], "large", 0)]


def test_devices_and_something_else_are_mended_together() -> None:
    tainted = having("n1", *gpus(2, taints=[taint("broken")]), spec={"taints": [taint("dedicated", "ml")]})
    found = told(world(1, *tainted))
    assert found == [(["tolerate-taint", "tolerate-node-taint"], "n1", 0)]  # not both ways to meet the node's taint


def test_two_mistakes_are_mended_together() -> None:
    """A value of a label that no node has, and more devices than a node has; the first alone says nothing."""
    objects = world(3, *having("n1", *gpus(2), labels={"shape": "4x4"}))
    objects[-1]["spec"]["nodeSelector"] = {"shape": "2x8"}
    assert told(objects) == [(["lower-count", "change-node-selector"], "n1", 0)]
    one_too_few = world(2, *having("n1", *gpus(2), labels={"shape": "4x4"}))
    one_too_few[-1]["spec"]["nodeSelector"] = {"shape": "2x8"}
    assert told(one_too_few) == [(["drop-node-requirement"], "n1", 0)]


def test_what_another_pod_takes_does_not_help() -> None:
    """The one device that is released, or is enough with less asked for, goes to the pod that comes first."""
    held = [allocated("held", "n1/gpu-0", pod="r", on="n1"), running("r", "n1", claims={"x": "held"})]
    rival = pod("q", templates={"gpu": "t"}, priority=10)
    objects = world(2, *having("n1", *gpus(2)), *held, cpu="1")
    assert [codes for codes, *_ in told(objects)] == [["lower-count"], ["add-node"], ["release-claim"]]
    assert told([*objects, rival]) == []
    assert STILL_NONE in str(Cluster.of([*objects, rival]).explain("pod/p"))


@pytest.mark.parametrize(("devices", "helped"), [(3, 0), (2, 2), (1, 1)])
def test_of_a_workload_it_is_told_how_many_pods_it_helps(devices: int, helped: int) -> None:
    """Three pods, and as many devices, all of which have a taint: with it tolerated so many pods start."""
    objects = world(1, *having("n1", *gpus(devices, taints=[taint("broken")])))
    objects[-1] = deployment("w", pod("x", templates={"gpu": "t"}), 3)
    assert told(objects, "deployment/w") == [(["tolerate-taint"], "n1", helped)]
    said = str(Cluster.of(objects).explain("deployment/w"))
    assert (
        "(all 3 of its pods can then be scheduled)",
        "(1 of its pods can then be scheduled)",
        "(2 of its pods can then be scheduled)",
    )[helped] in said


def test_alike_suggestions_share_a_line() -> None:
    """Equal holders on two nodes whose taint is tolerated or removed: the text has one line for all of them."""
    objects = world(1)
    for name in ("n1", "n2"):
        objects += having(name, *gpus(1), spec={"taints": [taint("dedicated", "ml")]})
        objects += [allocated(f"held-{name}", f"{name}/gpu-0", pod=f"r-{name}", on=name)]
        objects += [running(f"r-{name}", name, claims={"x": f"held-{name}"})]
    assert [codes for codes, *_ in told(objects)] == [["release-claim", "tolerate-node-taint"]] * 2
    [line] = [line for line in str(Cluster.of(objects).explain("pod/p")).splitlines() if line.startswith("  1.")]
    assert line == (
        "  1. add a toleration for taint dedicated=ml:NoSchedule, and release any one of these 2 claims: "
        "default/held-n1 (pod r-n1) and default/held-n2 (pod r-n2) "
        "(nothing recreates these pods: they have no controller)"
    )
    free = world(1, *having("n1", *gpus(1), spec={"taints": [taint("dedicated", "ml")]}))
    assert (
        "add a toleration for taint dedicated=ml:NoSchedule, or remove the taint from n1 (the pod then fits on n1)"
    ) in str(Cluster.of(free).explain("pod/p"))


@pytest.mark.parametrize(("small", "last"), [("10Gi", True), ("20Gi", True), ("30Gi", False)])
def test_another_value_says_how_much_smaller_its_devices_are(small: str, last: bool) -> None:
    """Devices with less than half of the memory come after everything else, those with half or more do not."""
    made = [
        device("big", size="big", capacity={"memory": {"value": "41Gi"}}),
        device("small", size="small", capacity={"memory": {"value": small}}),
    ]
    objects = world(1, *having("n1", *made))
    objects[1] = of_template("t", request("gpu", 'device.attributes["gpu.example.com"].size == "big"'))
    objects += [allocated("held", "n1/big", pod="r", on="n1"), running("r", "n1", claims={"x": "held"})]
    found = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"][0]["suggestions"]
    [changed] = [one["changes"][0] for one in found if one["changes"][0]["code"] == "change-value"]
    assert changed["amount"] == {"name": "memory", "from": "41Gi", "to": small}
    amount = OtherAmount(name="memory", from_="41Gi", to=small)
    told = SelectorChanged(code="change-value", selector=0, expression="", replacement="", amount=amount)
    assert (rank(told) == RANKS.index("drop-request")) is last


def test_a_node_is_examined_once_for_its_reasons_and_for_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of nodes and of the plan changes no answer."""
    names = ("a", "b", "c")
    nodes = [each for name in names for each in having(name, *gpus(2), spec={"taints": [taint("dedicated", "ml")]})]
    objects = world(3, *nodes)
    examined: list[str] = []

    def watched(placement: Placement, known: list[Funnel] | None = None) -> NodeOffer:
        examined.extend([placement.node.metadata.name] if known is None else [])
        return funnel.offer(placement, known)

    monkeypatch.setattr("dra_plan.explanation.explainer.offer", watched)
    shared = Cluster.of(objects).explain("pod/p").to_dict()
    assert sorted(examined) == list(names)
    monkeypatch.setattr("dra_plan.questions.explain.reasons.ClusterFindings.of", lambda *_: KnownFindings())
    monkeypatch.setattr("dra_plan.questions.explain.node_reasons._answered", lambda *_: {})
    assert Cluster.of(objects).explain("pod/p").to_dict() == shared
    assert sorted(examined) == sorted(3 * names)


def from_template(name: str, entry: str, count: int) -> Object:
    """A claim without devices that pod p has from its template."""
    made = claim(name, request("gpu", count=count))
    made["metadata"] |= {"annotations": {"resource.kubernetes.io/pod-claim-name": entry}, **owned("Pod", "p")}
    return made


@pytest.mark.parametrize("there", [(), ("actor", "critic", "reward"), ("critic",)], ids=["none", "all", "one"])
@pytest.mark.parametrize(("count", "entries", "to"), [(4, 3, 2), (6, 2, 4)])
def test_a_change_of_a_template_is_tried_in_all_claims_that_the_pod_has_from_it(
    there: tuple[str, ...], count: int, entries: int, to: int
) -> None:
    names = ["actor", "critic", "reward"][:entries]
    own = [from_template(f"p-{name}", name, count) for name in names if name in there]
    made = pod("p", templates=dict.fromkeys(names, "t"))
    known = [{"name": name, "resourceClaimName": f"p-{name}"} for name in names if name in there]
    made["status"] = {"phase": "Pending", "resourceClaimStatuses": known}
    nodes = [*having("a", *gpus(8)), node("b")]
    objects = [device_class(), of_template("t", request("gpu", count=count)), *nodes, made, *own]
    assert told(objects) == [(["lower-count"], "a", 0), (["drop-claim"], "a", 0)]
    lines = str(Cluster.of(objects).explain("pod/p"))
    each = f"(each of the {entries} claims then gets {to})"
    assert f"ask for {to} instead of {count} in request gpu of template t {each}" in lines
    assert f"{entries} claims of the pod (" in lines
    assert ") need 12 devices together, 8 are available" in lines


def test_the_only_request_of_a_claim_is_left_out_with_the_claim() -> None:
    """The other claim keeps its devices, whether or not it has a template of its own."""
    one = [of_template("t", request("gpu")), pod("p", templates={"x": "t", "y": "t"})]
    assert told([device_class(), *having("a", *gpus(1)), *one]) == [(["drop-claim"], "a", 0)]
    two = [of_template("t", request("gpu")), of_template("u", request("gpu")), pod("p", templates={"x": "t", "y": "u"})]
    assert told([device_class(), *having("a", *gpus(1)), *two]) == [(["drop-claim"], "a", 0)] * 2


@pytest.mark.parametrize(
    ("memory", "codes"),
    [
        ("9728Mi", ["release-claim", "change-class"]),
        ("40Gi", ["change-class", "release-claim"]),
        ("60Gi", ["change-class", "release-claim"]),
        ("80Gi", ["change-class", "release-claim"]),
    ],
)
def test_another_class_comes_last_if_its_devices_are_much_smaller(memory: str, codes: list[str]) -> None:
    classes = [device_class(name, f'device.attributes["{GPU}"].type == "{name}"') for name in ("whole", "part")]
    devices = [device("a-0", type="whole", capacity={"memory": "80Gi"})]
    devices += [device("b-0", type="part", capacity={"memory": memory})]
    devices += [device("b-1", type="part", capacity={"memory": "80Gi"})]  # which is in use
    holders = [allocated("large", "a/a-0", pod="w"), allocated("all", "a/b-1")]
    asked = [of_template("t", request("gpu", of="whole")), pod("p", templates={"gpu": "t"})]
    objects = [*classes, node("a"), slice_("a", *devices), *holders, running("w", "a", claims={"gpu": "large"}), *asked]
    found = told(objects)
    assert [code for one, _, _ in found for code in one if code in codes] == codes
    lines = str(Cluster.of(objects).explain("pod/p"))
    assert ("memory" in lines) == (memory != "80Gi")
    assert (f"; its devices have memory {memory} instead of 80Gi (" in lines) == (memory != "80Gi")
