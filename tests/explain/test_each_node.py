"""What each of a few alike nodes has left, who has the rest, and which devices a request could mean."""

from __future__ import annotations

from dra_plan import Cluster
from tests.build import (
    Object,
    bare_pod,
    claim,
    device,
    device_class,
    gpus,
    node,
    owned_by,
    placed,
    pod,
    request,
    reserved,
    running,
    slice_,
)
from tests.explain.test_leaving import leaving

CHANNEL = "channel.example.com"


def text(*objects: Object, name: str = "p") -> str:
    return " ".join(str(Cluster.of(list(objects)).explain(f"pod/{name}")).split())


def held(name: str, pool: str, *devices: str, driver: str = "gpu.example.com", by: str = "") -> Object:
    """A claim that has these devices of a pool, for a pod."""
    made = [{"request": "r", "driver": driver, "pool": pool, "device": each} for each in devices]
    status = {"allocation": {"devices": {"results": made}}, "reservedFor": reserved(by or name)}
    return {**claim(name, request()), "status": status}


def test_devices_in_use_are_those_that_the_request_could_mean() -> None:
    """Devices of other classes, and those that the request's own selector rejects, are not counted."""
    small = device("small", attributes={"size": 1})
    objects = [
        node("a"),
        node("empty"),
        device_class(),
        device_class(CHANNEL),
        slice_("a", device("gpu-0", attributes={"size": 2}), device("gpu-1", attributes={"size": 2}), small),
        slice_("a", device("channel-0"), driver=CHANNEL),
        held("x", "a", "gpu-0", "gpu-1", "small"),
        held("y", "a", "channel-0", driver=CHANNEL),
        bare_pod("p", claims={"c": "c"}),
    ]
    said = text(*objects, claim("c", request("channel", of=CHANNEL)))
    assert "channel needs 1, none available (1 in use, by claim default/y (pod y))" in said
    big = 'device.attributes["gpu.example.com"].size > 1'
    said = text(*objects, claim("c", request("gpu", big)))
    assert "gpu needs 1, none available (2 in use, by claim default/x (pod x))" in said


def test_a_few_nodes_that_differ_are_told_one_by_one() -> None:
    """By what is left, or by who has the rest; for all their obstacles, if nothing else keeps the pod off."""
    there = [running("w", "a", cpu="6"), running("x", "b", cpu="6"), pod("p", cpu="4")]
    said = text(node("a"), node("b"), *there)
    by = "a: 2 free (default/w requests 6) b: 2 free (default/x requests 6)"
    assert f"2 nodes: cpu: needs 4, 2 of 8 free {by} It requests" in said
    tainted = {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}
    said = text(node("a", spec=tainted), node("b", spec=tainted), *there)
    assert "2 nodes (a, b): taint dedicated:NoSchedule; cpu: needs 4, 2 of 8 free (on a: default/w requests 6)" in said
    said = text(node("a"), node("b"), pod("p", cpu="16"))
    assert "2 nodes (a, b): cpu: needs 16, 8 of 8 free" in said


def test_many_pods_of_one_workload_are_counted_as_users_of_a_resource() -> None:
    chip = {"x.com/chip": "1"}
    nodes = [node(name, **{"x.com/chip": "4"}) for name in "ab"]
    names = [(f"{at}-{name}", name) for name in "ab" for at in range(4)]
    there = [owned_by(running(name, where, requests=chip), "ReplicaSet", "w") for name, where in names]
    said = text(*nodes, *there, pod("p", requests=chip))
    assert "a: 0 free (4 pods of default/w have the rest) b: 0 free (4 pods of default/w have the rest)" in said
    said = text(nodes[0], *there[:3], running("own", "a", requests=chip), pod("p", requests=chip))
    assert "(default/0-a, default/1-a, default/2-a and default/own have the rest)" in said


def test_pods_that_are_deleted_are_marked_among_the_users_of_devices() -> None:
    objects = [
        *gpus("a", "b"),
        held("x", "a", "gpu-0", "gpu-1"),
        held("y", "b", "gpu-0"),
        leaving("x", "a", cpu=None),
        running("y", "b"),
        claim("c", request("gpu", count=2)),
        pod("p", cpu="8", claims={"c": "c"}),
    ]
    assert (
        "b: cpu: needs 8, 7 of 8 free (default/y requests 1); devices: gpu needs 2, 1 available (1 in use, by "
        "claim default/y (pod y))"
    ) in text(*objects)
    objects[-1] = bare_pod("p", claims={"c": "c"})
    assert (
        "2 nodes: devices: gpu needs 2, 0 to 1 available b: 1 available (1 in use, by claim default/y (pod y)) "
        "a: none available (2 in use, by claim default/x (pod x, which is being deleted))"
    ) in text(*objects)


def test_finished_pods_hold_nothing() -> None:
    """Neither a place on a node, nor a claim: that is still reserved for one until its controller frees it."""
    done = placed("x", "a", phase="Succeeded", claims={"g": "x"})
    objects = [*gpus("a", "b"), held("x", "a", "gpu-0", "gpu-1"), held("y", "b", "gpu-0"), running("y", "b"), done]
    said = text(*objects, claim("c", request("gpu", count=2)), bare_pod("p", claims={"c": "c"}))
    assert "a: none available (2 in use, by claim default/x (its pods have finished))" in said
    full = [node("a", pods="1"), running("w", "a"), pod("p")]
    assert "a: no room for another pod: it has 1 of 1 It requests" in text(*full)
    said = text(*full, placed("done", "a", phase="Failed"))
    assert "a: no room for another pod: it has 1 of 1 (finished pods do not count) It requests" in said
