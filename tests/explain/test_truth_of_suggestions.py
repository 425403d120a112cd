"""Suggestions are true of the whole cluster and of the input as it is, and say what is needed to apply them."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import allocate
from tests.build import (
    GPU,
    allocated,
    bare_pod,
    claim,
    device,
    device_class,
    match,
    node,
    request,
    slice_,
    taint,
    template,
)

from .apply import applied
from .asking import explain, only_set
from .json_patch import patched
from .situations import cel, cluster, gpus
from .test_suggestions import codes

Object = dict[str, Any]


def test_what_fits_elsewhere_already_has_to_fit_there_with_the_change() -> None:
    """On a the request for All ends the attempt for a broken pool of NICs; b has two GPUs and not the four of a."""
    nic = {"driver": "nic.example.com"}
    broken = slice_("a-nics", device("nic-0"), device("nic-0"), nodeName="a", **nic)
    nics = [device_class("nic.example.com"), broken, slice_("b-nics", device("nic-0"), nodeName="b", **nic)]
    objects = [*cluster(gpus("a", "A100 A100 A100 A100"), gpus("b", "A100 A100")), *nics]
    wanted = claim("train", request("gpu", allocationMode="All"), request("nic", of="nic.example.com"))
    claim_set = only_set([*objects, wanted])
    assert (claim_set["outcome"], claim_set["fittingNodes"]) == ("Error", ["b"])
    [counted] = [s for s in claim_set["suggestions"] if s["changes"][0]["code"] == "count-instead-of-all"]
    assert (counted["changes"][0]["to"], counted["node"]) == (2, "b")


def test_two_changes_are_told_of_the_input_and_not_of_each_other() -> None:
    """With 40Gi, the first that is left, there would still be one device too few: 9Gi is instead of 41Gi."""
    hot = {"taints": [taint("hot")], "allowMultipleAllocations": True}
    devices = [device(f"gpu-{n}", capacity={"memory": "40Gi"}, **hot) for n in range(2)]
    used = allocated("old", "a/gpu-1", consumedCapacity={"memory": "31Gi"}, shareID="0")
    wanted = request("gpu", count=2, capacity={"requests": {"memory": "41Gi"}})
    [suggestion] = only_set([*cluster(slice_("a", *devices)), used, claim("train", wanted)])["suggestions"]
    tolerated, lowered = suggestion["changes"]
    assert (tolerated["code"], lowered["code"]) == ("tolerate-taint", "lower-capacity")
    assert (lowered["from"], lowered["to"]) == ("41Gi", "9Gi")


def test_no_more_than_two_changes_are_suggested() -> None:
    devices = [device("gpu-0", model="A100", taints=[taint("hot"), taint("old")])]
    wanted = request("gpu", cel(' .model == "H100"'))
    assert only_set([*cluster(slice_("a", *devices)), claim("train", wanted)])["suggestions"] == []


def test_a_template_is_patched_and_stands_for_all_claims_that_come_from_it() -> None:
    objects = [*cluster(gpus("a", "A100 A100")), template("gpus", request("gpu", count=2))]
    objects.append(bare_pod("train", templates={"one": "gpus", "two": "gpus"}))
    [claim_set] = explain(objects, together=False).to_dict()["claimSets"]
    suggestion = claim_set["suggestions"][0]
    assert [change["code"] for change in suggestion["changes"]] == ["lower-count"]
    name = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "namespace": "default", "name": "gpus"}
    operation = {"op": "add", "path": "/spec/spec/devices/requests/0/exactly/count", "value": 1}
    assert suggestion["patches"] == [{"object": name, "patch": [operation], "recreate": True}]
    [planned] = allocate(patched(objects, suggestion["patches"])).to_dict()["claimSets"]
    assert planned["fittingNodes"] == [suggestion["node"]] == ["a"]


def test_other_processes_do_not_change_what_is_patched() -> None:
    objects = [*cluster(gpus("a", "A100")), template("gpus", request("gpu", count=2))]
    objects += [bare_pod("one", templates={"gpu": "gpus"}), bare_pod("two", templates={"gpu": "gpus"})]
    alone, shared = (allocate(objects, explain=True, jobs=jobs).claim_sets for jobs in (1, 2))
    assert [plan.claim_set.claims[0].spec is shared[0].claim_set.claims[0].spec for plan in shared] == [True, True]
    assert [plan.name for plan in alone] == [plan.name for plan in shared]


def test_a_change_to_a_class_names_those_who_use_it() -> None:
    narrow = device_class("narrow", f'device.driver == "{GPU}"', cel(" .index > 5"))
    devices = [device("gpu-0", index=1)]
    wanted = claim("train", request("gpu", of="narrow"))
    others = [claim("other", request("gpu", of="narrow"))]
    others[0]["status"] = {"allocation": {"devices": {"results": []}}}
    others.append(template("more", request("gpu", of="narrow")))
    every = [*cluster(slice_("a", *devices)), narrow, wanted, *others]
    claim_set = only_set([one for one in every if (one["kind"], one["metadata"]["name"]) != ("DeviceClass", GPU)])
    [loosened] = [s["changes"][0] for s in claim_set["suggestions"] if s["changes"][0]["code"] == "loosen-class"]
    assert [user["name"] for user in loosened["usedBy"]] == ["other", "more"]


@pytest.mark.parametrize("asks", [True, False], ids=["with a selector of its own", "without"])
def test_another_class_is_asked_for_and_that_of_all_users_is_left_as_it_is(asks: bool) -> None:
    """Devices of the class are on no node that is left; those of the other class have no profile."""
    mig = device_class("mig", f'device.driver == "{GPU}"', cel(' .type == "mig"'))
    slices = [slice_("a", device("gpu-0", type="gpu")), slice_("b", device("mig-0", type="mig", profile="1g"))]
    own = [cel(' .profile == "1g"')] if asks else []
    objects = [*cluster(*slices), mig, allocated("used", "b/mig-0", pod="w"), claim("c", request("g", *own, of="mig"))]
    told = only_set(objects, nodes=["a"])["suggestions"]
    assert codes({"suggestions": told}) == [["change-class", "drop-selector"] if asks else ["change-class"]]
    assert told[0]["changes"][0]["from"] == "mig"
    for changed in (patched(objects, told[0]["patches"]), applied(objects, told[0]["changes"])):
        assert "a" in allocate(changed).to_dict()["claimSets"][0]["fittingNodes"]


def test_a_class_never_loses_its_driver() -> None:
    """A NIC is nothing for who asks for a GPU."""
    nics = slice_("a", device("nic-0"), driver="nic.example.com")
    nic = device_class("nic.example.com")
    claim_set = only_set([node("a"), device_class(), nic, nics, claim("train", request("gpu"))])
    assert "loosen-class" not in str(codes(claim_set))
    [absent] = claim_set["absent"]
    assert (absent["kind"], absent["wanted"], absent["class"]) == ("driver", GPU, GPU)
    assert absent["values"] == [{"type": "string", "value": "nic.example.com", "count": 1}]


def test_a_value_that_no_device_of_the_cluster_has_is_the_answer() -> None:
    mig = device_class("mig", f'device.driver == "{GPU}"', cel(' .type == "mig"'))
    slices = [slice_(name, device("gpu-0", type="gpu")) for name in ("a", "b")]
    told = explain([*cluster(*slices), mig, claim("train", request("gpu", of="mig"))])
    [claim_set] = told.to_dict()["claimSets"]
    [absent] = claim_set["absent"]
    assert (absent["name"], absent["wanted"], absent["class"]) == ("type", "mig", "mig")
    assert absent["values"] == [{"type": "string", "value": "gpu", "count": 2}]
    assert "loosen-class" not in str(codes(claim_set))
    said = 'No device on any node has type "mig", which the selector of class mig requires; found: "gpu" on 2 devices.'
    assert said in str(told).splitlines()[1]


def test_a_value_that_another_node_has_is_not_nowhere() -> None:
    wanted = claim("train", request("gpu", cel(' .model == "H100"'), count=2))
    assert only_set([*cluster(gpus("a", "H100"), gpus("b", "A100")), wanted])["absent"] == []


def test_an_attribute_that_devices_lack_lets_the_constraint_be_dropped() -> None:
    wanted = claim("train", request("gpu"), constraints=[match("example.com/numa")])
    assert codes(only_set([*cluster(gpus("a", "A100")), wanted])) == [["drop-constraint"]]
