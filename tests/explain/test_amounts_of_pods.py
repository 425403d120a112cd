"""What a pod requests as a whole, and labels that its program needs: what is said of them, and what is changed."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, node, pod, workload

from .apply import applied
from .json_patch import patched


def explained(*objects: Object, of: str = "pod/p") -> tuple[str, list[dict[str, Any]]]:
    told = Cluster.of(objects).explain(of)
    return " ".join(str(told).split()), told.to_dict()["verdicts"][0].get("suggestions", [])


@pytest.mark.parametrize("overhead", [{}, {"cpu": "1"}])
@pytest.mark.parametrize("of", ["pod/p", "deployment/w"])
def test_an_amount_of_the_whole_pod_is_named_and_lowered(of: str, overhead: Object) -> None:
    whole = {"requests": {"cpu": "6"}, "limits": {"cpu": "8"}}
    asked = pod("p", cpu="600m", resources=whole, overhead=overhead or None)
    asked["spec"] = {key: value for key, value in asked["spec"].items() if value}
    objects = [node("a", cpu="4"), asked if of == "pod/p" else workload("Deployment", "w", asked, replicas=1)]
    text, [one] = explained(*objects, of=of)
    need = "7 (6 in spec.resources" if overhead else "6 (spec.resources"
    assert f"cpu: needs {need} of the pod; its containers request 600m" in text
    to = "3" if overhead else "4"
    assert f"1. ask for {to} instead of 6 cpu in spec.resources of the pod (" in text
    for after in (patched(objects, one["patches"]), applied(objects, one["changes"])):
        assert "would be bound" in explained(*after, of=of)[0]


@pytest.mark.parametrize(
    ("own", "free", "lowered"),
    [("600m", "2", True), ("3", "2", False), ("600m", "1", False)],
)
def test_no_less_than_the_containers_request(own: str, free: str, lowered: bool) -> None:
    asked = pod("p", cpu=own, resources={"requests": {"cpu": "6"}})
    assert bool(explained(node("a", cpu=free), asked)[1]) == lowered


def test_an_amount_that_the_pod_does_not_request_as_a_whole_is_that_of_its_containers() -> None:
    text, [one] = explained(node("a", cpu="4"), pod("p", cpu="6", resources={"requests": {"memory": "1Gi"}}))
    assert "spec.resources" not in text
    assert one["changes"][0]["container"] == "c"


@pytest.mark.parametrize("near", [False, True])
def test_a_build_of_windows_is_neither_dropped_nor_changed(near: bool) -> None:
    build = "node.kubernetes.io/windows-build"
    has = "10.0.2034" if near else "10.0.17763"
    nodes = [node("a", labels={build: has}), node("full", cpu="0", labels={build: "10.0.20348"})]
    text, suggestions = explained(*nodes, pod("p", nodeSelector={build: "10.0.20348"}))
    assert f"wants {build}=10.0.20348, has {build}={has}" in text
    assert not suggestions
