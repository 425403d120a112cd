"""One uid on several objects, and objects that control themselves: no pod is lost, and every command ends."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import dra_plan
from dra_plan.claims.identity import told_apart
from dra_plan.claims.index import Index
from dra_plan.claims.owners import MOST_OWNERS
from dra_plan.manifests.decode import from_dicts
from tests.cli.running import in_process

Data = dict[str, Any]
NODE: Data = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
    "status": {"allocatable": {"cpu": "8", "pods": "10"}},
}
DEVICES: list[Data] = [
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s1"},
        "spec": {
            "driver": "d",
            "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "g0"}],
        },
    },
]


def pod(name: str, uid: str = "", cpu: str = "3", node: str = "", owner: Data | None = None, **spec: Any) -> Data:
    metadata: Data = {"name": name, "namespace": "default"}
    if uid:
        metadata["uid"] = uid
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    placed = {"nodeName": node} if node else {}
    made: Data = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    return (
        made
        | {"spec": {"containers": containers, **placed, **spec}}
        | ({"status": {"phase": "Running"}} if node else {})
    )


def claim(name: str, uid: str, reserved: Data | None = None) -> Data:
    made: Data = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": uid},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    }
    return made | ({"status": {"reservedFor": [reserved]}} if reserved else {})


def using(name: str, claim_name: str, uid: str = "") -> Data:
    return pod(name, uid, resourceClaims=[{"name": "x", "resourceClaimName": claim_name}])


def owner(kind: str, name: str, uid: str = "") -> Data:
    version = "v1" if kind == "Pod" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


def workload(
    name: str, uid: str = "", owned_by: Data | None = None, kind: str = "ReplicaSet", replicas: int = 1
) -> Data:
    metadata: Data = {"name": name, "namespace": "default", **({"uid": uid} if uid else {})}
    if owned_by is not None:
        metadata["ownerReferences"] = [owned_by]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("p")["spec"]}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def outcomes(objects: list[Data]) -> dict[str, str]:
    return {one["name"]: one["outcome"] for one in dra_plan.schedule(objects).to_dict()["pods"]}


def test_pods_with_one_uid_are_two_pods() -> None:
    objects = [NODE, *DEVICES, claim("ca", "1"), claim("cb", "2"), using("a", "ca", "U"), using("b", "cb", "U")]
    assert outcomes(objects) == {"a": "Bound", "b": "Unschedulable"}


def test_claims_with_one_uid_are_two_claims() -> None:
    objects = [NODE, *DEVICES, claim("ca", "U"), claim("cb", "U"), using("a", "ca"), using("b", "cb")]
    assert outcomes(objects) == {"a": "Bound", "b": "Unschedulable"}
    assert dra_plan.Cluster.of(objects).place().to_dict()["outcome"] == "Impossible"


def test_a_running_pod_keeps_its_place() -> None:
    same = [NODE, pod("r1", "U", node="n1"), pod("r2", "U", node="n1"), pod("new", "N", cpu="4")]
    assert outcomes(same)["new"] == "Unschedulable"


def test_the_order_of_the_input_decides_nothing() -> None:
    copies = [pod("a", "U"), pod("b", "U"), claim("c", "C", {"resource": "pods", "name": "b", "uid": "U"})]
    for objects in permutations(copies):
        inventory = told_apart(from_dicts(list(objects)))
        assert {one.metadata.name: one.metadata.uid for one in inventory.pods} == {"a": "", "b": "U"}
        (notice,) = inventory.notices
        assert (notice.code, "Pod default/a is read as new" in notice.message) == ("uid-repeated", True)


def test_what_has_a_uid_of_its_own_stays_as_it_is() -> None:
    inventory = from_dicts(
        [NODE, pod("a", "1"), pod("b", "2"), workload("w", "3"), pod("c", owner=owner("ReplicaSet", "w", "3"))]
    )
    assert told_apart(inventory) is inventory


@pytest.mark.parametrize(
    "objects",
    [
        [pod("a", "U", owner=owner("Pod", "a", "U"))],
        [pod("a", owner=owner("Pod", "a"))],
        [pod("a", "A", owner=owner("Pod", "b", "B")), pod("b", "B", owner=owner("Pod", "a", "A"))],
        [workload("a", "A", owner("ReplicaSet", "a", "A"))],
        [workload("a", "A", owner("ReplicaSet", "b", "B")), workload("b", "B", owner("ReplicaSet", "a", "A"))],
        [workload("a", "A", owner("Pod", "p", "P")), pod("p", "P", owner=owner("ReplicaSet", "a", "A"))],
    ],
    ids=["itself", "itself-by-name", "two-pods", "workload", "two-workloads", "pod-and-workload"],
)
@pytest.mark.parametrize("command", ["schedule", "place", "explain", "capacity"])
def test_circles_of_owners_end(command: str, objects: list[Data], tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_text(json.dumps([NODE, *objects]))
    ran = in_process(command, str(path), "--devices-only" if command == "explain" else "--fail-on=error")
    planned = outcomes([NODE, *objects])
    if objects[0]["metadata"]["ownerReferences"][0].get("uid"):
        assert ran.status == 0, ran.err
        assert list(planned.values()) == ["Bound"] * len(objects)
    else:  # the API server takes no new object whose owner has no uid
        assert ran.status == (command != "explain"), ran.err
        assert list(planned.values()) == ["Refused"]
    assert "owner-circle" in ran.err


def test_long_chains_of_owners_end() -> None:
    links = [workload(f"w{n}", f"{n}", owner("ReplicaSet", f"w{n + 1}", f"{n + 1}")) for n in range(5_000)]
    leaf = pod("p", "P", owner=owner("ReplicaSet", "w0", "0"))
    inventory = told_apart(from_dicts([NODE, leaf, *links, workload("w5000", "5000")]))
    assert inventory.notices == []
    index = Index(inventory)
    assert len(list(index.owners.above(inventory.pods[0].metadata))) == MOST_OWNERS
    assert index.pods_of(inventory.workloads[-1]) == []
    assert [one.metadata.name for one in index.pods_of(inventory.workloads[3])] == ["p"]


def test_validate_names_the_copy() -> None:
    found = dra_plan.validate([pod("a", "U"), pod("b", "U")]).findings
    assert [(one.code, one.object, one.message) for one in found] == [
        ("DRA227", "Pod default/b", "Pod default/a has the same uid")
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("explain", "--infer-nodes", "--together", "--moves", "1"),
        ("schedule", "--kubernetes-version", "1.36.2", "--report", "html=page.html"),
        ("explain", "--together", "--moves", "1"),
    ],
    ids=["moves-inferred", "page", "moves"],
)
def test_copies_end_in_no_defect(options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bare = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [{}]}}},
    }
    entry = {"name": "x", "resourceClaimTemplateName": "t"}
    copies = [pod("a", "U"), pod("a-17", "U", resourceClaims=[entry])]
    Path("input.json").write_text(json.dumps([bare, template, *copies]))
    command, *rest = options
    ran = in_process(command, "input.json", *rest)
    assert ran.status in (0, 1), ran.err
    assert "uid-repeated" in ran.err
