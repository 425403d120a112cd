"""An extended resource that nodes lack although devices of the vendor are free there: a claim for them instead."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    deployment,
    device_class,
    node,
    owned_by,
    pod,
    request,
    slice_,
    template,
)
from tests.explain.apply import applied
from tests.explain.json_patch import patched

GPU = "example.com/gpu"
DEVICES = [node("a"), node("b"), slice_("a", "gpu-0", "gpu-1"), slice_("b", "gpu-0", "gpu-1")]
WITH_PLUGIN = node("old", **{"example.com/gpu": "0"})


def explained(*objects: Object, owner: str = "pod/p", **amounts: str) -> Any:
    asking = pod("p", requests=amounts or {GPU: "1"})
    return Cluster.of([*DEVICES, device_class(), WITH_PLUGIN, *objects, asking]).explain(owner)


def suggested(found: Any) -> list[Object]:
    return list(found.to_dict()["verdicts"][0].get("suggestions", []))


def claims(found: Any) -> list[Object]:
    return [change for one in suggested(found) for change in one["changes"] if change["code"] == "claim-resource"]


def test_a_claim_comes_before_a_change_of_the_class_and_is_tried() -> None:
    found = explained(template("other", request("x", count=2)), allocated("held", "a/gpu-0", pod="w"))
    text = " ".join(str(found).split())
    assert "3 devices of class gpu.example.com are free on a and b, for pods with a ResourceClaim." in text
    assert (
        "1. use a ResourceClaim from a new ResourceClaimTemplate gpu-1 for 1 device of class gpu.example.com, instead "
        "of example.com/gpu=1 in container c (the pod then fits on a)" in text
    )
    assert [one["changes"][0]["code"] for one in suggested(found)][:2] == ["claim-resource", "serve-resource"]


@pytest.mark.parametrize("number", ["1", "2"])
@pytest.mark.parametrize("there", [[], [template("mine", request("x"))], [template("gpu-1", request("x", count=9))]])
def test_the_words_and_the_patches_make_it_fit(there: list[Object], number: str) -> None:
    shape = pod("-", requests={GPU: number})
    objects = [*DEVICES, device_class(), *there, deployment("w", shape)]
    objects.append(owned_by(pod("p", requests={GPU: number}), "Deployment", "w"))
    found = Cluster.of(objects).explain("deploy/w")
    [change] = claims(found)
    exists = bool(there) and there[0]["metadata"]["name"] == "mine" and number == "1"
    assert change.get("exists", False) is exists
    assert change["template"] not in {one["metadata"]["name"] for one in there} or exists
    one = next(each for each in suggested(found) if change in each["changes"])
    for changed in (applied(objects, [change]), patched(objects, one["patches"])):
        left = [each for each in changed if each["metadata"]["name"] != "p"]
        assert Cluster.of(left).explain("deploy/w").verdict == "WouldBind"
    assert one["patches"][0]["object"]["kind"] == ("Deployment" if exists else "ResourceClaimTemplate")


def test_only_classes_and_devices_that_fit_are_meant() -> None:
    named = [device_class("tpu.example.com"), device_class("a.example.com")]
    assert [one["class"] for one in claims(explained(*named))] == ["gpu.example.com"]
    assert claims(explained(**{"other.com/gpu": "1"})) == []
    assert claims(explained(**{GPU: "3"})) == []  # no node has so many
    full = [allocated(f"c{at}", f"{where}/gpu-{at % 2}", pod="w") for at, where in enumerate("aabb")]
    used = explained(*full)
    assert claims(used) == []
    assert "are free on" not in str(used)
    assert "is free on" not in str(used)


def test_two_containers_with_the_resource_are_left_to_the_class() -> None:
    asking = pod("p", requests={GPU: "1"})
    first = asking["spec"]["containers"][0]
    asking["spec"]["containers"] = [first, {**first, "name": "d"}]
    found = Cluster.of([*DEVICES, device_class(), asking]).explain("pod/p")
    assert claims(found) == []
    assert "serve-resource" in {one["code"] for each in suggested(found) for one in each["changes"]}
