"""Random clusters with much that is alike in them, and what may become of them later."""

from __future__ import annotations

import copy
import random
from typing import Any

from tests.build import GPU, device_class, node, placed, pod, request, slice_, template

Objects = list[dict[str, Any]]

NIC = "nic.example.com"
NET = "net.example.com"
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
APPS = ("x", "y")


def cluster(seed: int, *, nodes: int = 7, pods: int = 26) -> Objects:
    """Nodes, devices, and pods of a few shapes in random order, some of them on nodes already."""
    choose = random.Random(seed)
    made: Objects = [device_class(), device_class(NIC), device_class(NET), *_templates(choose)]
    shared = choose.random() < 0.3
    for number in range(nodes):
        made += _node(choose, f"n{number}", shared=shared)
    made.append(_of_all_nodes(choose))
    shapes = [_shape(choose) for _ in range(6)]
    for number in range(pods):
        shape = copy.deepcopy(choose.choice(shapes))
        if number < 4:
            shape.pop("templates", None)
            made.append(placed(f"old-{number}", f"n{choose.randrange(nodes)}", **shape))
        else:
            made.append(pod(f"p-{number:02}", **shape))
    return made


def later(seed: int, objects: Objects) -> Objects:
    """The same cluster after a few things have happened to it."""
    choose = random.Random(seed)
    after = copy.deepcopy(objects)
    for _ in range(choose.randint(1, 4)):
        change = choose.choice((_evict, _taint, _relabel, _relabel_node, _come, _go, _shrink))
        change(choose, after)
    return after


def _templates(choose: random.Random) -> Objects:
    match = {"requests": ["r", "n"], "matchAttribute": f"{GPU}/root"}
    pair = template("pair", request(), request("n", of=NIC))
    pair["spec"]["spec"]["devices"]["constraints"] = [match]
    old = {"cel": {"expression": f'device.attributes["{GPU}"].model == "old"'}}
    either = {
        "name": "e",
        "firstAvailable": [
            {"name": "two", "deviceClassName": GPU, "count": 2, "selectors": [old]},
            {"name": "one", "deviceClassName": GPU},
        ],
    }
    some = {"requests": {"memory": choose.choice(("2Gi", "3Gi", "5Gi"))}}
    return [
        template("one"),
        template("two", request(count=2)),
        pair,
        template("old", request(selectors=[old])),
        template("either", either),
        template("some", request(capacity=some)),
        template("net", request(of=NET)),
        template("all", {"name": "r", "exactly": {"deviceClassName": NIC, "allocationMode": "All"}}),
    ]


def _node(choose: random.Random, name: str, *, shared: bool) -> Objects:
    taints = [{"key": "k", "effect": choose.choice(("NoSchedule", "PreferNoSchedule"))}]
    spec = {"taints": taints} if choose.random() < 0.2 else {}
    made = node(name, labels={ZONE: f"z{choose.randrange(3)}"} if choose.random() < 0.9 else {}, spec=spec)
    made["status"]["allocatable"]["cpu"] = choose.choice(("4", "8"))
    if choose.random() < 0.3:
        made["status"]["images"] = [{"names": ["app:latest"], "sizeBytes": choose.choice((5, 500)) * 2**20}]
    found = [made]
    for driver, most in ((GPU, 4), (NIC, 2)):
        devices = [_device(choose, driver, index, shared=shared) for index in range(choose.randint(0, most))]
        if devices:
            pool = f"{name}-{driver}"
            found.append(slice_(pool, *devices, driver=driver, name=pool, nodeName=name))
    return found


def _device(choose: random.Random, driver: str, index: int, *, shared: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"name": f"d{index}", "attributes": {f"{GPU}/root": {"int": choose.randrange(2)}}}
    if driver == GPU:
        made["attributes"]["model"] = {"string": choose.choice(("old", "new"))}
        made["capacity"] = {"memory": {"value": "8Gi"}}
        if shared:
            made["allowMultipleAllocations"] = choose.random() < 0.7
    return made


def _of_all_nodes(choose: random.Random) -> dict[str, Any]:
    devices = (f"d{index}" for index in range(choose.randint(1, 3)))
    return slice_(f"net-{NET}", *devices, driver=NET, name=f"net-{NET}", allNodes=True)


def _shape(choose: random.Random) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "cpu": choose.choice(("500m", "1", "2", "3")),
        "labels": {"app": choose.choice(APPS)},
        "priority": choose.choice((0, 0, 0, 10, 100)),
    }
    if choose.random() < 0.7:
        shape["templates"] = {"d": choose.choice(("one", "two", "pair", "old", "either", "some", "net", "all"))}
    if choose.random() < 0.3:
        shape["nodeSelector"] = {ZONE: f"z{choose.randrange(3)}"}
    if choose.random() < 0.3:
        shape["tolerations"] = [{"key": "k", "operator": "Exists"}]
    if choose.random() < 0.4:
        shape["topologySpreadConstraints"] = [_spread(choose) for _ in range(choose.randint(1, 2))]
    if choose.random() < 0.4:
        shape["affinity"] = _affinity(choose)
    return shape


def _spread(choose: random.Random) -> dict[str, Any]:
    return {
        "maxSkew": choose.randint(1, 2),
        "topologyKey": choose.choice((ZONE, HOST)),
        "whenUnsatisfiable": choose.choice(("DoNotSchedule", "ScheduleAnyway")),
        "labelSelector": choose.choice(({"matchLabels": {"app": choose.choice(APPS)}}, {}, None)),
        "nodeTaintsPolicy": choose.choice(("Honor", "Ignore")),
        "nodeAffinityPolicy": choose.choice(("Honor", "Ignore")),
    }


def _affinity(choose: random.Random) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": choose.choice(APPS)}}, "topologyKey": choose.choice((ZONE, HOST))}
    kind = choose.choice(("podAffinity", "podAntiAffinity", "podAntiAffinity"))
    if choose.random() < 0.5:
        return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    weighted = [{"weight": choose.choice((1, 50)), "podAffinityTerm": term}]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def _of_kind(objects: Objects, kind: str) -> Objects:
    return [item for item in objects if item["kind"] == kind]


def _evict(choose: random.Random, objects: Objects) -> None:
    pods = _of_kind(objects, "Pod")
    for item in choose.sample(pods, min(5, len(pods))):
        objects.remove(item)


def _taint(choose: random.Random, objects: Objects) -> None:
    spec = choose.choice(_of_kind(objects, "Node"))["spec"]
    spec["taints"] = [] if spec.get("taints") else [{"key": "k", "effect": "NoSchedule"}]


def _relabel(choose: random.Random, objects: Objects) -> None:
    for item in choose.sample(_of_kind(objects, "Pod"), 4):
        item["metadata"]["labels"] = {"app": choose.choice(APPS)}


def _relabel_node(choose: random.Random, objects: Objects) -> None:
    choose.choice(_of_kind(objects, "Node"))["metadata"]["labels"][ZONE] = f"z{choose.randrange(3)}"


def _come(choose: random.Random, objects: Objects) -> None:
    number = choose.randrange(100, 1000)
    objects += _node(choose, f"n{number}", shared=False)
    objects += [pod(f"new-{number}-{index}", **_shape(choose)) for index in range(4)]


def _go(choose: random.Random, objects: Objects) -> None:
    objects.remove(choose.choice(_of_kind(objects, "ResourceSlice")))


def _shrink(choose: random.Random, objects: Objects) -> None:
    choose.choice(_of_kind(objects, "Node"))["status"]["allocatable"]["cpu"] = choose.choice(("2", "6"))
