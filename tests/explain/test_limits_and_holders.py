"""What explanations say below, as `allocate` does, of what was not judged; and where holders have their devices."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import allocate
from dra_plan.questions.explain.text import parse
from tests.build import Object, allocated, bare_pod, claim, deployment, device, device_class, node, request, slice_

from .asking import explain, only_set
from .situations import cluster, gpus


def asking(**spec: Any) -> list[Object]:
    owner = bare_pod("train", claims={"gpu": "train"})
    owner["spec"] |= spec
    return [*cluster(gpus("a", "A100")), claim("train", request("gpu")), owner]


def forty() -> list[Object]:
    serving = deployment("serve", bare_pod("x", claims={"gpu": "train"}), 40)
    return [*cluster(gpus("a", "A100")), claim("train", request("gpu")), serving]


CPU = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "200"}}}]}


@pytest.mark.parametrize(
    ("objects", "begins"),
    [
        (
            asking(**CPU),
            "Not checked: resource requests of pod/default/train. To check them as well, run `dra-plan schedule",
        ),
        (forty(), "Each row is checked alone: deployment/default/serve needs 40 pods."),
    ],
)
def test_explain_says_the_same_limits_as_allocate(objects: list[Object], begins: str) -> None:
    told = explain(objects, together=False, devices_only=True)
    [said] = [line for line in str(told).splitlines() if line.startswith(begins)]
    assert said in str(allocate(objects, devices_only=True)).splitlines()
    assert said.replace("`dra-plan", "") in parse("markdown")(told.document, None).replace("`dra-plan", "")


def test_nothing_is_said_where_everything_was_judged() -> None:
    told = str(explain(asking(), together=False))
    assert "Not checked: " not in told
    assert "is checked alone" not in told


def holders(*held: Object) -> tuple[str, str]:
    """Where the holders are told to be, and the line that tells it, of two nodes whose GPUs are all in use."""
    slices = [gpus("a", "A100 A100"), gpus("b", "A100")]
    objects = [*cluster(*slices), *held, claim("train", request("gpu", count=3))]
    [removed] = only_set(objects)["stories"][0]["requests"][0]["removed"]
    [line] = [line for line in str(explain(objects)).splitlines() if "in use" in line]
    return removed.get("holdersOn", ""), line.strip()


def test_holders_that_differ_between_nodes_are_told_of_one() -> None:
    one = allocated("one", "a/gpu-0", "a/gpu-1", on="a")
    on, line = holders(one, allocated("two", "b/gpu-0", on="b"))
    assert on == "a"
    assert line == "-2  in use, by claim default/one on a (1 to 2 on these nodes)"


def test_holders_that_are_the_same_are_told_of_all() -> None:
    on, line = holders(allocated("one", "a/gpu-0", "a/gpu-1", "b/gpu-0"))
    assert on == ""
    assert line == "-2  in use, by claim default/one (1 to 2 on these nodes)"


def test_amounts_that_differ_between_devices_are_told_from_the_least_to_the_most() -> None:
    shared = device("eth0", allowMultipleAllocations=True, capacity={"bandwidth": "100G"})
    objects = [
        node("a"),
        device_class(),
        slice_("a", shared, device("eth1", capacity={"bandwidth": "25G"})),
        allocated(
            "used", "a/eth0", shareID="0d1d2d3d-1111-2222-3333-444444444444", consumedCapacity={"bandwidth": "60G"}
        ),
        claim("wants", request("r", capacity={"requests": {"bandwidth": "50G"}})),
    ]
    said = str(explain(objects, feature_gates={"DRAConsumableCapacity": True}))
    assert "-2  capacity bandwidth: 50G needed, 25G to 40G left (used by default/used)" in said
