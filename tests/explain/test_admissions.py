"""What lets pods onto nodes that have room and that the scheduler's rules exclude: suggested, and true when applied."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_plan import allocate
from tests.build import Object, allocated, bare_pod, claim, deployment, node, request, workload

from .apply import applied
from .asking import explain
from .json_patch import patched
from .situations import cluster, gpus
from .test_suggestions import codes

CUSTOM = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
EXISTS = {"key": "team-a", "effect": "NoExecute"}
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
CONTROL = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def world(owner: Object | None = None, **spec: Any) -> list[Object]:
    """Node a, with this spec, has a GPU that is free; b has none."""
    made = cluster(gpus("a", "A100"))
    made[0]["spec"] = spec
    return [*made, claim("train", request("gpu")), owner or bare_pod("train", claims={"gpu": "train"})]


def told(objects: list[Object], **asked: Any) -> Object:
    [claim_set] = explain(objects, together=False, **asked).to_dict()["claimSets"]
    return claim_set


def deployed() -> Object:
    return deployment("serve", bare_pod("serve", claims={"gpu": "train"}, tolerations=[{"key": "x"}]), replicas=None)


def cron_job() -> Object:
    return workload("CronJob", "nightly", bare_pod("x", claims={"gpu": "train"}))


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"unschedulable": True}, [["uncordon-node"]]),
        ({"unschedulable": True, "taints": [CORDON]}, [["uncordon-node"]]),
        ({"taints": [CUSTOM]}, [["tolerate-node-taint"], ["remove-node-taint"]]),
        ({"taints": [EXISTS]}, [["tolerate-node-taint"], ["remove-node-taint"]]),
        (
            {"unschedulable": True, "taints": [CORDON, CUSTOM]},
            [["uncordon-node", "tolerate-node-taint"], ["uncordon-node", "remove-node-taint"]],
        ),
        ({"taints": [CUSTOM, EXISTS]}, [["tolerate-node-taint"] * 2, ["remove-node-taint"] * 2]),
        ({"unschedulable": True, "taints": [CUSTOM, EXISTS]}, []),
        ({"taints": [NOT_READY]}, []),
    ],
)
@pytest.mark.parametrize("owner", [None, deployed()], ids=["pod", "deployment"])
def test_a_node_with_room_is_opened_and_the_scheduler_agrees(
    spec: Object, wanted: list[list[str]], owner: Object | None
) -> None:
    objects = world(copy.deepcopy(owner), **copy.deepcopy(spec))
    claim_set = told(objects)
    assert claim_set["outcome"] == "DoesNotFit"
    assert [(each["nodes"], each["hasRoom"]) for each in claim_set["excluded"]] == [(["a"], True)]
    assert codes(claim_set) == wanted
    for suggestion in claim_set["suggestions"]:
        for changed in (patched(objects, suggestion["patches"]), applied(objects, suggestion["changes"])):
            [planned] = allocate(changed).to_dict()["claimSets"]
            assert planned["fittingNodes"] == [suggestion["node"]] == ["a"]


def test_a_toleration_with_a_mistake_is_corrected_and_names_the_nodes() -> None:
    wrong = [{"key": "GPU", "value": "yes", "effect": "NoSchedule"}]
    objects = world(bare_pod("train", claims={"gpu": "train"}, tolerations=wrong), taints=[CUSTOM])
    objects += [node("c", spec={"taints": [CUSTOM]}), gpus("c", "A100")]
    assert codes(told(objects)) == [["correct-toleration"], ["remove-node-taint"]]
    [suggestion, _] = told(objects)["suggestions"]
    for changed in (patched(objects, suggestion["patches"]), applied(objects, suggestion["changes"])):
        [planned] = allocate(changed).to_dict()["claimSets"]
        assert planned["fittingNodes"] == ["a", "c"]
    said = "correct the key of the toleration for gpu from GPU to gpu (the claim then fits on a or c)"
    assert said in str(explain(objects))


def test_the_template_inside_a_cron_job_is_patched() -> None:
    objects = world(cron_job(), taints=[CUSTOM])
    [first, _] = told(objects)["suggestions"]
    assert first["patches"][0]["object"]["kind"] == "CronJob"
    [planned] = allocate(patched(objects, first["patches"])).to_dict()["claimSets"]
    assert planned["fittingNodes"] == ["a"]


def test_nodes_of_the_control_plane_come_last() -> None:
    """Node b has a GPU, too, which another claim holds; and the control plane has room."""
    objects = [*world(taints=[CONTROL]), gpus("b", "A100"), allocated("old", "b/gpu-0", on="b")]
    found = codes(told(objects))
    assert found[0] == ["release-claim"]
    assert found[-2:] == [["tolerate-node-taint"], ["remove-node-taint"]]


def test_to_uncordon_comes_first() -> None:
    objects = [*world(unschedulable=True), gpus("b", "A100"), allocated("old", "b/gpu-0", on="b")]
    assert codes(told(objects))[:2] == [["uncordon-node"], ["release-claim"]]


def test_a_toleration_that_opens_a_node_with_an_error_is_not_suggested() -> None:
    """On c the selector fails, which ends the attempt for all nodes; its taint is that of a."""
    objects = world(taints=[CUSTOM])
    other = node("c")
    other["spec"] = {"taints": [CUSTOM]}
    broken = gpus("c", "A100")
    broken["spec"]["devices"][0]["attributes"] = {}
    cel = 'device.attributes["gpu.example.com"].model == "A100"'
    objects[4]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [{"cel": {"expression": cel}}]
    claim_set = told([*objects, other, broken])
    assert claim_set["outcome"] == "DoesNotFit"
    assert codes(claim_set) == [["remove-node-taint"]]


def test_of_a_node_selector_only_the_room_is_told() -> None:
    owner = bare_pod("train", claims={"gpu": "train"})
    owner["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "b"}
    claim_set = told(world(owner))
    assert codes(claim_set) == []
    text = str(explain(world(owner), together=False))
    assert "a: devices fit; wants kubernetes.io/hostname=b\n" in text


def test_pods_that_are_alike_are_told_once_each_with_its_own_patch() -> None:
    objects = [*world(taints=[CUSTOM]), claim("more", request("gpu")), bare_pod("other", claims={"gpu": "more"})]
    [devices] = [each["spec"]["devices"] for each in objects if each["kind"] == "ResourceSlice"]
    devices.append({**devices[0], "name": "one-more"})
    answer = explain(objects, together=False)
    names = [each["suggestions"][0]["patches"][0]["object"]["name"] for each in answer.to_dict()["claimSets"]]
    assert names == ["train", "other"]
    assert str(answer).startswith("pod/default/train, pod/default/other are Pending: no node can take one of")


def test_together_all_pods_get_the_toleration() -> None:
    objects = [*world(taints=[CUSTOM]), bare_pod("other", claims={"gpu": "train"})]
    [claim_set] = explain(objects, together=True).to_dict()["claimSets"]
    first = claim_set["suggestions"][0]
    assert [patch["object"]["name"] for patch in first["patches"]] == ["train", "other"]
    [planned] = allocate(patched(objects, first["patches"]), together=True).to_dict()["claimSets"]
    assert planned["fittingNodes"] == ["a"]


def test_with_devices_only_nothing_of_it_is_said() -> None:
    claim_set = told(world(unschedulable=True), devices_only=True)
    assert (claim_set["outcome"], claim_set.get("excluded", []), claim_set["suggestions"]) == ("Fits", [], [])
