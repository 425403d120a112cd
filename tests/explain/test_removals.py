"""Which running pod is to be removed: the holder of a port, one whose new pod finds a node, and no sibling."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster
from tests.build import Object, deployment, manifest, node, owned, owned_by, pod, running, workload

from .test_remedies import changes, helps, told

PORT: Any = {"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 9100, "hostPort": 9100}]}]}


def replicas(name: str, *placed: Object) -> list[Object]:
    """A Deployment with these pods."""
    spec = {field: value for field, value in placed[0]["spec"].items() if field != "nodeName"}
    shape = {**placed[0], "spec": spec}
    made = owned_by(workload("ReplicaSet", f"{name}-1", shape, replicas=len(placed)), "Deployment", name)
    pods = [{**one, "metadata": {**one["metadata"], **owned("ReplicaSet", f"{name}-1")}} for one in placed]
    return [deployment(name, shape, len(placed)), made, *pods]


def removed(objects: list[Object], owner: str = "pod/p") -> list[Object]:
    suggestions = told(objects, owner).get("suggestions", [])
    return [one for each in suggestions for one in each["changes"] if one["code"] in ("remove-pods", "restart-pods")]


def text(objects: list[Object], owner: str = "pod/p") -> str:
    return " ".join(str(Cluster.of(objects).explain(owner)).split())


def test_the_holder_of_a_host_port_on_the_only_node_of_a_pod() -> None:
    """Sisters of the pod have the port elsewhere, where the holder's new pod therefore has no place."""
    names = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    required = {"nodeSelectorTerms": [{"matchFields": [names]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    own = pod("p", **PORT, hostNetwork=True, affinity=affinity, metadata=owned("DaemonSet", "d"))
    sister = running("q", "b", **PORT, metadata=owned("DaemonSet", "d"))
    nodes = [node("a"), node("b"), node("c", spec={"unschedulable": True})]
    objects = [*nodes, workload("DaemonSet", "d"), sister, own, *replicas("web", running("w", "a", **PORT))]
    verdict = told(objects, "pod/p")
    assert changes(verdict) == [["change-host-port"], ["remove-pods"], ["raise-priority"]]
    [change] = verdict["suggestions"][1]["changes"]
    assert change == {"code": "remove-pods", "pods": ["default/w"], "on": "a", "stays": "WithoutPlace"}
    helps(objects, "pod/p", verdict["suggestions"][1])
    assert verdict["suggestions"][2]["changes"][0]["withoutPlace"] == ["default/w"]
    said = text(objects)
    assert "(the pod then fits on a; the removed pod's replacement would have no node)" in said
    assert "2 nodes (b, c): DaemonSet d wants it on node a Changes" in said
    assert "stays" not in removed([*objects, node("e")])[0]
    assert removed([*objects[:-3], running("w", "a", **PORT, metadata=owned("DaemonSet", "other"))]) == []


def test_a_pod_whose_new_pod_finds_a_node_comes_before_a_smaller_one() -> None:
    nodes = [node("a", cpu="4"), node("b", cpu="2", labels={"pool": "b"})]
    small = replicas("small", running("s", "a", cpu="2", nodeSelector={"pool": "a"}))
    large = replicas("large", running("l", "a", cpu="2", memory="2Gi"))
    wanted = pod("p", cpu="2", nodeSelector={"kubernetes.io/hostname": "a"})
    both = [*nodes, *small, *large, wanted]
    assert removed(both) == [{"code": "restart-pods", "pods": ["default/l"], "on": "a", "thenOn": ["b"]}]
    alone = removed([*nodes, *small, running("x", "a", cpu="2", priority=9), wanted])
    assert alone == [{"code": "remove-pods", "pods": ["default/s"], "on": "a", "stays": "WithoutPlace"}]


def prefers(name: str) -> Any:
    """The affinity of a pod that goes to this node if it can."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}]}
    preferred = [{"weight": 100, "preference": term}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def test_no_restart_if_the_new_pod_takes_the_room_that_is_left_before_the_old_one_has_ended() -> None:
    nodes = [node("a", cpu="4"), node("b", cpu="2")]
    wanted = pod("p", cpu="3", nodeSelector={"kubernetes.io/hostname": "a"})
    away = {"code": "restart-pods", "pods": ["default/l"], "on": "a", "thenOn": ["b"]}
    for name, change in (("a", {"code": "remove-pods", "pods": ["default/l"], "on": "a"}), ("b", away)):
        made = replicas("l", running("l", "a", cpu="2", affinity=prefers(name)))
        assert removed([*nodes, *made, wanted]) == [change]


def test_pods_of_the_same_workload_do_not_hide_others() -> None:
    own = replicas("d", running("d-1", "a", cpu="2"), pod("d-2", cpu="2"))
    others = replicas("e", running("e-1", "b", cpu="3"))
    objects = [node("a", cpu="3"), node("b", cpu="4"), node("c", cpu="4", spec={"unschedulable": True}), *own, *others]
    assert [one["pods"] for one in removed(objects, "pod/d-2")] == [["default/e-1"]]


def test_a_workload_whose_requests_a_limit_range_sets() -> None:
    """The pods have the requests, which the workload can set; a container that was added to them it cannot change."""
    limits = manifest("LimitRange", "l", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "6"}}]})
    objects = [node("a", cpu="4"), *replicas("d", pod("p", cpu="6")), limits]
    for each in objects[1:3]:
        each["spec"]["template"] = {"spec": {"containers": [{"name": "c", "image": "x"}]}}
    added = [
        *objects[:3],
        {**objects[3], "spec": {"containers": [{**objects[3]["spec"]["containers"][0], "name": "x"}]}},
    ]
    for owner in ("pod/p", "deploy/d"):
        assert changes(told(objects, owner)) == [["lower-request"]]
    [made] = told(objects, "deploy/d")["suggestions"][0]["patches"]
    value = {"requests": {"cpu": "4"}}
    assert made["patch"] == [{"op": "add", "path": "/spec/template/spec/containers/0/resources", "value": value}]
    assert changes(told(added, "deploy/d")) == []
