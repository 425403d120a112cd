"""`explain podgroup/NAME`: why a group starts or does not."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from tests.build import (
    allocated,
    claim,
    device_class,
    gpus,
    member,
    node,
    placed,
    pod_group,
    request,
    running,
    slice_,
    template,
)
from tests.scheduler.groups.planning import GANGS

from .json_patch import patched


def asked(objects: list[dict[str, Any]], gates: dict[str, bool]) -> Cluster:
    return Cluster.of(objects, kubernetes_version="1.36", feature_gates=gates)


def told(objects: list[dict[str, Any]], gates: dict[str, bool] = GANGS) -> list[str]:
    """What is told of the group g."""
    lines = str(asked(objects, gates).explain("podgroup/g")).splitlines()
    return lines[: lines.index("")] if "" in lines else lines


def test_a_gang_that_finds_too_few_nodes() -> None:
    objects = [node("n", cpu="5"), pod_group(least=3), *(member(name, cpu="2") for name in "abc")]
    headline, *details = told(objects)
    assert headline == "podgroup/default/g: does not start: 2 of its pods fit at the same time, and the group needs 3."
    assert details[0] == "  The scheduler says: pod group is unschedulable"
    assert details[1] == "  c and a fit on n."
    assert details[2].startswith("  b: 0/1 nodes are available: 1 Insufficient cpu.")
    assert details[3] == "  The scheduler tries the pods only in this order."


def test_pods_that_run_already_count() -> None:
    bound = placed("z", "n", cpu="2", schedulingGroup={"podGroupName": "g"})
    assert told([node("n", cpu="2"), pod_group(), bound, member("a", cpu="2")])[0] == (
        "podgroup/default/g: does not start: 0 of its pods fit at the same time, 1 already has a node, "
        "and the group needs 2."
    )


def test_a_gang_that_is_not_whole() -> None:
    gated = member("b", schedulingGates=[{"name": "later"}])
    objects = [node("n"), pod_group(least=3), member("a"), gated]
    headline, *details = told(objects)
    assert headline == "podgroup/default/g: is not tried: 2 of its pods exist, and the group needs 3."
    assert details == [
        "  The scheduler says: waiting for minCount pods from a gang to appear in scheduling queue",
        "  b: waiting for scheduling gates: [later]",
    ]


def test_an_error_of_one_pod() -> None:
    broken = request(selectors=[{"cel": {"expression": 'device.attributes["x.example"].y == 1'}}])
    objects = [node("n"), slice_("n", "gpu-0"), device_class(), claim("c", broken), pod_group()]
    headline, *details = told([*objects, member("a", claims={"x": "c"}), member("b")])
    said = "does not start: the scheduler stops with an error for all pods in the group."
    assert headline == f"podgroup/default/g: {said}"
    assert "failed to schedule other pod from a pod group: " in details[0]


@pytest.mark.parametrize(
    ("objects", "headline"),
    [
        ([pod_group(), member("a"), member("b")], "starts: 2 of its 2 pods have a node."),
        ([pod_group()], "has no pods."),
    ],
)
def test_what_starts_and_what_is_empty(objects: list[dict[str, Any]], headline: str) -> None:
    assert told([node("n"), *objects]) == [f"podgroup/default/g: {headline}"]


def test_pods_beyond_min_count_are_told() -> None:
    objects = [node("n", cpu="2"), pod_group(least=1), *(member(name, cpu="2") for name in "ab")]
    headline, detail = told(objects)
    assert headline == "podgroup/default/g: starts: 1 of its 2 pods has a node."
    assert detail.startswith("  b: 0/1 nodes are available: 1 Insufficient cpu.")


def test_without_the_gate_a_group_counts_for_nothing() -> None:
    assert told([node("n"), pod_group(), member("a")], {})[0] == "podgroup/default/g: has no effect."


def test_names() -> None:
    cluster = asked([node("n"), pod_group(), member("a"), pod_group("other")], GANGS)
    document = cluster.explain("podgroup/default/g", "podgroups/other", "pod/a").to_dict()
    assert [each["name"] for each in document["podGroups"]] == ["g", "other"]
    assert [each["owner"]["name"] for each in document["unplanned"]] == ["a"]
    with pytest.raises(UsageError, match=r"no podgroup is named 'othr' .did you mean 'podgroup/other'"):
        cluster.explain("podgroup/othr")


def test_markdown_says_the_same() -> None:
    from dra_plan.questions.explain.text import parse

    objects = [node("n"), pod_group(), member("a")]
    text = parse("markdown")(asked(objects, GANGS).explain("podgroup/g").document, None)
    headline, *details = told(objects)
    assert f"### {headline}" in text
    assert all(f"- {line.strip()}" in text for line in details)


def test_a_pod_in_the_way_of_a_group_is_named_and_without_it_the_group_starts() -> None:
    """Each pod alone would fit; the third finds no device, because another pod has the last one."""
    objects = [*gpus("n", each=3), template("t", request()), pod_group(least=3)]
    objects += [allocated("held", "n/gpu-0", pod="w", on="n"), running("w", "n", claims={"x": "held"})]
    objects += [member(name, templates={"gpu": "t"}) for name in "abc"]
    cluster = asked(objects, GANGS)
    [verdict] = cluster.explain("pod/a").to_dict()["verdicts"]
    assert (verdict["verdict"], verdict["gang"]["found"]) == ("Unschedulable", 2)
    [released] = [one for one in verdict["suggestions"] if one["changes"][0]["code"] == "release-claim"]
    assert released["changes"][0]["pods"] == ["w"]
    [after] = asked(patched(objects, released["patches"]), GANGS).explain("pod/a").to_dict()["verdicts"]
    assert after["verdict"] == "WouldBind"
