"""Claims whose devices are on nodes that the input does not have."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from tests.build import Object, allocated, claim, device_class, node, pod, request, running, slice_
from tests.explain.test_leaving import leaving


def cluster(*more: Object) -> list[Object]:
    """The claim of the pod has the device of node lost; node a has a free one."""
    held = allocated("c", "lost/gpu-0", pod="w", on="lost")
    return [node("a"), device_class(), slice_("a", "gpu-0"), held, *more, pod("p", claims={"g": "c"})]


def text(objects: list[Object]) -> str:
    said = " ".join(str(Cluster.of(objects).explain("pod/p")).split())
    nodes = [each for each in objects if each["kind"] == "Node"]
    assert said == " ".join(
        str(Cluster.of([*nodes, *(each for each in objects[::-1] if each not in nodes)]).explain("pod/p")).split()
    )
    return said


@pytest.mark.parametrize("finalizers", [[], ["example.com/archive", "example.com/copy"]])
def test_the_node_and_what_keeps_the_holder_are_named(finalizers: list[str]) -> None:
    holder = leaving("w", "lost", claims={"g": "c"})
    holder["metadata"]["finalizers"] = finalizers
    said = text(cluster(holder))
    assert said.startswith(
        "pod/default/p is Pending: claim c has devices on lost, a node that the input does not have."
    )
    assert "Pod w has it and is being deleted" in said
    kept = "; it exists until finalizers are removed, also with --force: example.com/archive and example.com/copy."
    assert (kept in said) == bool(finalizers)
    assert said.count("gpu.example.com/lost/gpu-0") == 1, "the claim is told once"


def test_slices_of_a_node_that_is_gone_are_not_missing() -> None:
    codes = [each.code for each in Cluster.of(cluster()).explain("pod/p").document.warnings]
    assert "slices-missing" not in codes
    there = [*cluster(running("w", "lost", claims={"g": "c"})), node("lost")]
    assert "slices-missing" in [each.code for each in Cluster.of(there).explain("pod/p").document.warnings]
    assert "the input does not have" not in str(Cluster.of(there).explain("pod/p"))


def test_a_claim_of_another_node_that_exists_has_its_own_reason() -> None:
    held = allocated("c", "b/gpu-0", pod="w", on="b")
    objects = [node("a"), node("b", cpu="1"), device_class(), slice_("a", "gpu-0"), slice_("b", "gpu-0"), held]
    objects += [running("w", "b", claims={"g": "c"}, cpu=None), claim("free", request())]
    said = text([*objects, pod("p", cpu="2", claims={"g": "c"})])
    assert "claim c allocated elsewhere" in said
    assert "the input does not have" not in said
