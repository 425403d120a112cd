"""`diff` of drains: evicted pods are recreated in any order, so nothing is safe that only one order keeps."""

from __future__ import annotations

import itertools

import pytest

from dra_plan import Cluster
from tests.build import GPU, Object, gpus, manifest, node, owned, placed, request, slice_, template

LUCKY = "only-in-this-order"
FIRST, LATER = "big", "small"


def user(name: str, where: str, devices: int, **spec: object) -> list[Object]:
    """A pod of a Job that has the first devices of its node."""
    pool = [{"request": "r", "driver": GPU, "pool": where, "device": f"gpu-{at}"} for at in range(devices)]
    claim = manifest(
        "ResourceClaim",
        f"{name}-gpu-x",
        namespace="default",
        metadata={"annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"}, **owned("Pod", name)},
        spec={"devices": {"requests": [request(count=devices)]}},
        status={
            "allocation": {"devices": {"results": pool}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": f"u-{name}"}],
        },
    )
    made = placed(name, where, templates={"gpu": f"t{devices}"}, **spec)
    made["metadata"] |= {"uid": f"u-{name}", **owned("Job", name)}
    made["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": f"{name}-gpu-x"}]
    return [made, claim]


def fleet(*, room: int = 1) -> list[Object]:
    """Two nodes to drain, with a pod of two devices and one of one; c has two devices, d has `room`."""
    rest = [node("d"), slice_("d", *(f"gpu-{at}" for at in range(room)))]
    templates = [template("t1", request(count=1)), template("t2", request(count=2))]
    return [*gpus("a", "b", "c"), *rest, *templates, *user(FIRST, "a", 2), *user(LATER, "b", 1)]


def lucky(objects: list[Object], *drained: str) -> list[str]:
    cluster = Cluster.of(objects)
    found = cluster.diff(cluster.drain(*drained)).document
    assert not [pod for pod in found.pods if pod.change == "Lost"]
    return [one.object for one in found.warnings if one.code == LUCKY]


def test_a_pod_that_only_this_order_keeps_is_named() -> None:
    assert lucky(fleet(), "a", "b") == ["Pod default/big"]


def test_the_other_order_loses_the_pod_and_needs_no_warning() -> None:
    small_first = [one for one in fleet() if one["metadata"]["name"] != LATER]
    small_first.insert(0, next(one for one in fleet() if one["metadata"]["name"] == LATER))
    cluster = Cluster.of(small_first)
    found = cluster.diff(cluster.drain("b", "a")).document
    assert [pod.name for pod in found.pods if pod.change == "Lost"] == [FIRST]
    assert [one for one in found.warnings if one.code == LUCKY] == []


@pytest.mark.parametrize("drained", [("a",), ("b",)])
def test_one_pod_has_no_other_order(drained: tuple[str, ...]) -> None:
    assert lucky(fleet(), *drained) == []


def test_where_every_order_keeps_all_pods_nothing_is_said() -> None:
    assert lucky(fleet(room=2), "a", "b") == []


def test_priorities_decide_before_the_order() -> None:
    objects = fleet()
    for one in objects:
        if one["kind"] == "Pod":
            one["spec"]["priority"] = 10 if one["metadata"]["name"] == FIRST else 0
    assert lucky(objects, "a", "b") == []


def test_the_input_stays_as_it_was() -> None:
    cluster = Cluster.of(fleet())
    after = cluster.drain("a", "b")
    names = [pod.metadata.name for pod in after.inventory.pods]
    warned = [str(cluster.diff(after).document.warnings) for _ in range(2)]
    assert [pod.metadata.name for pod in after.inventory.pods] == names
    assert len(set(itertools.chain(warned))) == 1
