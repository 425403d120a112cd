"""`schedule --explain`: why devices were refused to a pod, in the cluster as it was at its last attempt."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from dra_plan import Cluster, schedule
from dra_plan.explanation import funnel
from dra_plan.explanation.funnel import Funnel, NodeOffer
from dra_plan.explanation.placement import Placement
from dra_plan.questions import schema as schemas
from dra_plan.questions.schedule.gate import JUDGE
from dra_plan.questions.schedule.report import content
from dra_plan.text.gate import Gate
from tests.build import allocated, bare_pod, claim, device, device_class, match, node, pod, request, slice_
from tests.conformance import recorded

Object = dict[str, Any]


def cluster(*slices: Object) -> list[Object]:
    room = {"allocatable": {"cpu": "4", "pods": "10"}}
    return [*({**node(made["spec"]["nodeName"]), "status": room} for made in slices), device_class(), *slices]


def explained(objects: list[Object], **asked: Any) -> list[Object]:
    found: list[Object] = schedule(objects, explain=True, **asked).to_dict()["explanations"]
    return found


def test_what_an_earlier_pod_took_is_in_use() -> None:
    """The input alone has a free device for each of the two."""
    objects = [
        *cluster(slice_("a", device("gpu-0"))),
        claim("one", request("gpu")),
        claim("two", request("gpu")),
        bare_pod("one", claims={"gpu": "one"}),
    ]
    objects.append(bare_pod("two", claims={"gpu": "two"}))
    [told] = explained(objects)
    assert told["pods"] == [{"namespace": "default", "name": "two"}]
    assert told["message"].startswith("0/1 nodes are available: 1 cannot allocate all claims.")
    [story] = told["stories"]
    [removed] = story["requests"][0]["removed"]
    assert (removed["code"], removed["holders"][0]["name"]) == ("in-use", "one")


def test_pods_that_are_alike_are_told_once() -> None:
    objects = [*cluster(slice_("a", device("gpu-0")))]
    for number in range(4):
        objects += [
            claim(f"gpu-{number}", request("gpu")),
            bare_pod(f"train-{number}", claims={"gpu": f"gpu-{number}"}),
        ]
    plan = schedule(objects, explain=True)
    [told] = plan.to_dict()["explanations"]
    assert [one["name"] for one in told["pods"]] == ["train-1", "train-2", "train-3"]
    lines = str(plan).splitlines()
    assert "default/train-1 and 2 pods like it:" in lines
    assert "1 Bound, 3 Unschedulable." in lines
    assert sum(line.startswith("default/train-1 and 2 like it") for line in lines) == 1


def interleaved(pods: int) -> list[Object]:
    """Pods that take a GPU each, of ten nodes with two, in turn with such as want three."""
    objects = cluster(*(slice_(f"n{number}", device("gpu-0"), device("gpu-1")) for number in range(10)))
    for number in range(pods):
        objects += [claim(f"one-{number}", request("gpu")), bare_pod(f"fits-{number}", claims={"gpu": f"one-{number}"})]
        objects += [
            claim(f"three-{number}", request("gpu", count=3)),
            bare_pod(f"never-{number}", claims={"gpu": f"three-{number}"}),
        ]
    return objects


def test_attempts_in_between_which_a_device_was_taken_share_what_is_known_of_other_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    plain = funnel.offer

    def watched(placement: Placement, known: list[Funnel] | None = None) -> NodeOffer:
        if known is None:
            looked.append(placement.node.metadata.name)
        return plain(placement, known)

    monkeypatch.setattr("dra_plan.explanation.explainer.offer", watched)
    told = explained(interleaved(6))
    assert [[one["name"] for one in each["pods"]] for each in told] == [[f"never-{number}"] for number in range(6)]
    assert len(looked) == 10 + 5  # all nodes once, then the one that lost a device
    claims = [each["stories"][0]["requests"][0]["claim"]["name"] for each in told]
    assert claims == [f"three-{number}" for number in range(6)]


def test_what_is_known_of_nodes_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = explained(interleaved(6))
    monkeypatch.setattr(
        "dra_plan.explanation.explainer.KnownFindings.offer", lambda _, placement: funnel.offer(placement)
    )
    assert explained(interleaved(6)) == shared
    assert len(shared) == 6


def test_a_class_that_is_missing_is_told_in_the_schedulers_words() -> None:
    objects = [*cluster(slice_("a", device("gpu-0"))), claim("one", request("gpu", of="gpus.example.com"))]
    [told] = explained([*objects, bare_pod("one", claims={"gpu": "one"})])
    [story] = told["stories"]
    assert story["fault"]["message"] == "request gpu: device class gpus.example.com does not exist"
    assert story["fault"]["message"] in told["message"]
    assert story["fault"]["hint"] == "gpu.example.com"


def test_nodes_that_others_refuse_are_not_told() -> None:
    """On b cpu is lacking: nothing is to be said of devices there."""
    objects = cluster(slice_("a", device("gpu-0")), slice_("b", device("gpu-0")))
    for item, cpu in zip(objects, ("4", "1"), strict=False):
        item["status"] = {"allocatable": {"cpu": cpu, "pods": "10"}}
    wanted = bare_pod("one", claims={"gpu": "one"})
    wanted["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    [told] = explained([*objects, claim("one", request("gpu", count=2)), wanted])
    assert [story["nodes"] for story in told["stories"]] == [["a"]]


def test_an_own_claim_out_of_reach_is_told() -> None:
    objects = cluster(slice_("a", device("gpu-0")), slice_("b", device("gpu-0")))
    far = allocated("far", "a/gpu-0", on="a")
    near = claim("near", request("gpu", count=2))
    [told] = explained([*objects, far, near, bare_pod("one", claims={"far": "far", "near": "near"})])
    elsewhere = {story["nodes"][0]: story["claimsElsewhere"] for story in told["stories"]}
    assert [one["name"] for one in elsewhere["b"]] == ["far"]
    assert elsewhere["a"] == []


def test_a_bound_pod_and_a_pod_without_claims_are_not_explained() -> None:
    objects = [
        *cluster(slice_("a", device("gpu-0"))),
        claim("one", request("gpu")),
        bare_pod("one", claims={"gpu": "one"}),
    ]
    huge = bare_pod("huge")
    huge["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2000"}}
    assert explained([*objects, huge]) == []


def test_the_document_has_explanations_only_if_asked() -> None:
    objects = [
        *cluster(slice_("a", device("gpu-0"))),
        claim("one", request("gpu", count=2)),
        bare_pod("one", claims={"gpu": "one"}),
    ]
    assert "explanations" not in schedule(objects).to_dict()
    assert Cluster.of(objects).schedule(explain=True).to_dict()["explanations"]


def check(case: Object) -> int:
    """Explaining changes nothing else; the document keeps to its schema. How many attempts were explained."""
    asked: Object = {"feature_gates": case.get("featureGates", {})}
    plain = schedule(case["objects"], **asked).to_dict()
    told = schedule(case["objects"], **asked, explain=True)
    document = told.to_dict()
    explanations = document.pop("explanations")
    document.pop("contested", None)
    assert document == plain
    jsonschema.Draft202012Validator(schemas.load("SchedulePlan")).validate({**document, "explanations": explanations})
    assert str(told)
    unbound = {(p["namespace"], p["name"]): p["message"] for p in document["pods"] if p["nodeName"] is None}
    for one in explanations:
        assert one["stories"], case["id"]
        assert all(unbound[name["namespace"], name["name"]] == one["message"] for name in one["pods"])
    refused = [name for name, message in unbound.items() if message and "cannot allocate all claims" in message]
    said = {(name["namespace"], name["name"]) for one in explanations for name in one["pods"]}
    assert set(refused) <= said, case["id"]
    return len(explanations)


def test_recorded_pods_that_devices_were_refused_to_are_explained() -> None:
    chosen = [case for number, case in enumerate(recorded.cases("schedule")) if number % 12 == 1]
    assert sum(map(check, chosen)) > 3


@pytest.mark.long
def test_all_recorded_pods_that_devices_were_refused_to_are_explained() -> None:
    assert sum(map(check, recorded.cases("schedule"))) > 50


def test_the_constraint_that_collides_is_told() -> None:
    devices = [device("gpu-0", numa=0), device("gpu-1", numa=1)]
    wanted = claim("one", request("gpu", count=2), constraints=[match("gpu.example.com/numa")])
    [told] = explained([*cluster(slice_("a", *devices)), wanted, bare_pod("one", claims={"gpu": "one"})])
    assert {element["kind"] for element in told["stories"][0]["blockingSet"]["elements"]} == {"request", "constraint"}


def short_of_cpu(*, free: int) -> list[Object]:
    """Three nodes: two without four free devices, and one with four, of whose 4 CPUs `free` are left."""
    gpus = [device(f"gpu-{number}") for number in range(4)]
    objects = cluster(*(slice_(name, *gpus) for name in ("full", "half", "idle")))
    for name, count in (("full", 4), ("half", 2)):
        objects.append(allocated(f"used-{name}", *(f"{name}/gpu-{number}" for number in range(count))))
    busy = pod("busy", cpu=str(4 - free), memory=None, nodeName="idle")
    wants = pod("wants", cpu="3", memory=None, claims={"gpu": "four"})
    return [*objects, busy, claim("four", request("gpu", count=4)), wants]


def test_a_node_whose_devices_fit_is_named_with_what_else_it_lacks() -> None:
    [told] = explained(short_of_cpu(free=1))
    [closest] = told["devicesFit"]
    assert closest["nodes"] == ["idle"]
    [about] = closest["reasons"][0]["about"]
    assert (about["resource"], about["need"], about["left"]) == ("cpu", "3", "1")
    assert "idle: devices fit; cpu: needs 3, 1 of 4 free" in str(schedule(short_of_cpu(free=1), explain=True))


def test_a_node_whose_devices_do_not_fit_either_is_not_close() -> None:
    objects = short_of_cpu(free=1)
    [told] = explained([*objects, allocated("used-idle", "idle/gpu-0")])
    assert "devicesFit" not in told


def test_the_devices_left_are_a_range_if_nodes_differ() -> None:
    said = str(schedule(short_of_cpu(free=1), explain=True))
    assert "needs 4 devices of class gpu.example.com; 0 to 2 of 4 are available." in said
    assert "none of the" not in said


def test_reports_of_a_failed_gate_name_the_closest_node() -> None:
    answer = schedule(short_of_cpu(free=1), explain=True)
    closest = "idle: devices fit; cpu: needs 3, 1 of 4 free"
    origins: dict[tuple[str, str, str], Any] = {}
    made = content(answer.document, Gate(require_fit=True), origins, command="schedule", anchor="")
    [entry] = [check.entry for check in made.checks if check.entry is not None]
    assert f"on {closest}" in entry.message
    assert closest in entry.details.splitlines()
    [reason] = JUDGE.causes(Gate(require_fit=True), answer.document)
    assert reason.endswith(f"on {closest})")
