"""What would help beside changes of claims: what is told is really missing, and doing it makes the pod fit."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster, explain
from tests.build import (
    HOST,
    ZONE,
    Object,
    allocated,
    deployment,
    device_class,
    generated,
    gpus,
    manifest,
    node,
    owned,
    owned_by,
    pod,
    priority_class,
    running,
    slice_,
    template,
    workload,
)
from tests.conformance import recorded

from .apply import applied
from .json_patch import patched

WITH_W = {"labelSelector": {"matchLabels": {"app": "w"}}}
SPREAD = {**WITH_W, "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
APART = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{**WITH_W, "topologyKey": HOST}]}}
PORT = {"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}
PARTLY = {
    "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "example.com/chip": "3"},
    "capacity": {"cpu": "8", "memory": "16Gi", "pods": "110", "example.com/chip": "4"},
}
CHIPS = {"example.com/chip": "2"}


def terms(*alternatives: list[list[str]]) -> Object:
    """An affinity that requires one of these terms; each is a list of expressions: key, operator, values."""
    made = [[{"key": key, "operator": how, "values": values} for key, how, *values in one] for one in alternatives]
    required = {"nodeSelectorTerms": [{"matchExpressions": one} for one in made]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def listening(port: int) -> list[Object]:
    """A container whose process listens on a port of the node."""
    return [{"name": "c", "image": "x", "ports": [{"containerPort": port, "hostPort": port}]}]


FORMER_ZONE, OS = "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/os"


def near(key: str) -> Object:
    """An affinity for pods of app w in the same domain."""
    term = {"labelSelector": {"matchLabels": {"app": "w"}}, "topologyKey": key}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


D = pod(labels={"app": "w", "part": "d"})
SPREAD_W = {"topologySpreadConstraints": [SPREAD]}
TAINT = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}


def told(objects: list[Object], owner: str, **options: Any) -> dict[str, Any]:
    [found] = explain(objects, owner, **options).to_dict()["verdicts"]
    return dict(found)


def helps(objects: list[Object], owner: str, suggestion: dict[str, Any], **options: Any) -> None:
    """By its patches and by its words it makes the owner's pods fit, and on the node that is told."""
    for changed in (by_patches(objects, suggestion), applied(objects, suggestion["changes"])):
        assert objects != changed
        verdict = told(changed, owner, **options)
        assert verdict["verdict"] in ("WouldBind", "WouldPreempt"), suggestion
        assert verdict["nodeName"] == suggestion["node"] or verdict.get("pods", 1) > 1


def by_patches(objects: list[Object], suggestion: dict[str, Any]) -> list[Object]:
    """The objects as the suggestion's patches change them, and with its new node, which no patch makes."""
    new_nodes = [change for change in suggestion["changes"] if change["code"] == "add-node"]
    assert bool(suggestion["patches"]) == (new_nodes != suggestion["changes"])
    return patched(applied(objects, new_nodes), suggestion["patches"])


def changes(verdict: dict[str, Any]) -> list[list[str]]:
    return [[change["code"] for change in each["changes"]] for each in verdict.get("suggestions", [])]


WORLDS: dict[str, tuple[list[Object], list[list[str]]]] = {
    "taint": ([node("a", spec={"taints": [TAINT]}), pod("p")], [["tolerate-node-taint"], ["remove-node-taint"]]),
    "toleration of another value": (
        [node("a", spec={"taints": [TAINT]}), pod("p", tolerations=[{**TAINT, "value": "ML", "operator": "Equal"}])],
        [["correct-toleration"], ["remove-node-taint"]],
    ),
    "toleration of another effect": (
        [node("a", spec={"taints": [TAINT]}), pod("p", tolerations=[{**TAINT, "effect": "NoExecute"}])],
        [["correct-toleration"], ["remove-node-taint"]],
    ),
    "toleration of a key in another case": (
        [node("a", spec={"taints": [TAINT]}), pod("p", tolerations=[{"key": "Dedicated", "operator": "Exists"}])],
        [["correct-toleration"], ["remove-node-taint"]],
    ),
    "toleration of the taint of another node": (
        [
            node("a", spec={"taints": [TAINT]}),
            node("b", cpu="0", spec={"taints": [{**TAINT, "value": "x"}]}),
            pod("p", tolerations=[{**TAINT, "value": "x", "operator": "Equal"}], cpu="1"),
        ],
        [["tolerate-node-taint"], ["remove-node-taint"]],
    ),
    "cordon": ([node("a", spec={"unschedulable": True}), pod("p")], [["uncordon-node"]]),
    "label": ([node("a"), pod("p", nodeSelector={"pool": "x"})], [["label-node"], ["drop-node-requirement"]]),
    "near value": (
        [node("a", labels={"pool": "h100"}), pod("p", nodeSelector={"pool": "H100"})],
        [["change-node-selector"]],
    ),
    "cpu": ([node("a", cpu="4"), pod("p", cpu="6")], [["lower-request"]]),
    "spread": (
        [
            *(node(name, labels={ZONE: name}, cpu=cpu) for name, cpu in (("a", "4"), ("b", "400m"))),
            running("w", "a", labels={"app": "w"}),
            pod("p", cpu="2", labels={"app": "w"}, topologySpreadConstraints=[SPREAD]),
        ],
        [["raise-max-skew"], ["relax-spread"]],
    ),
    "spread over the former name of a label": (
        [
            *(node(name, labels={ZONE: name}) for name in ("a", "b")),
            pod("p", topologySpreadConstraints=[{**SPREAD, "topologyKey": FORMER_ZONE}]),
        ],
        [["change-topology-key"], ["relax-spread"]],
    ),
    "spread over a label that no node has": (
        [node("a"), pod("p", topologySpreadConstraints=[{**SPREAD, "topologyKey": FORMER_ZONE}])],
        [["relax-spread"]],
    ),
    "pods near, by the former name of a label": (
        [
            node("a", labels={ZONE: "x"}),
            running("w", "a", labels={"app": "w"}),
            pod("p", affinity=near(FORMER_ZONE)),
        ],
        [["change-topology-key"]],
    ),
    "the former name of a label": (
        [node("a", labels={OS: "linux"}), pod("p", nodeSelector={f"beta.{OS}": "linux"})],
        [["change-node-selector"]],
    ),
    "the former name of a label, with a value that no node has": (
        [node("a", labels={OS: "linux"}), pod("p", nodeSelector={f"beta.{OS}": "windows"})],
        [],
    ),
    "spread over a zone that is full": (
        [
            *(node(name, labels={ZONE: name}, cpu="4") for name in ("a", "b")),
            running("w", "a", labels={"app": "w"}),
            running("other", "b", cpu="4"),
            pod("p", cpu="2", labels={"app": "w"}, topologySpreadConstraints=[SPREAD]),
        ],
        [["raise-max-skew"], ["relax-spread"], ["add-node"], ["remove-pods"]],
    ),
    "spread that counts pods of other workloads": (
        [
            *(node(name, labels={ZONE: name}, cpu=cpu) for name, cpu in (("a", "4"), ("b", "400m"))),
            *(running(f"w-{at}", "a", cpu="100m", labels={"app": "w", "part": "x"}) for at in range(3)),
            workload("ReplicaSet", "d", D, replicas=1, selector={"matchLabels": {"app": "w", "part": "d"}}),
            pod("p", cpu="2", labels={"app": "w", "part": "d"}, metadata=owned("ReplicaSet", "d"), **SPREAD_W),
        ],
        [["narrow-pod-selector"], ["relax-spread"]],
    ),
    "anti-affinity to pods of other workloads": (
        [
            node("a"),
            running("w", "a", labels={"app": "w", "part": "x"}),
            workload("ReplicaSet", "d", D, replicas=1, selector={"matchLabels": {"app": "w", "part": "d"}}),
            pod("p", labels={"app": "w", "part": "d"}, metadata=owned("ReplicaSet", "d"), affinity=APART),
        ],
        [["narrow-pod-selector"], ["relax-anti-affinity"], ["add-node"]],
    ),
    "spread over nodes": (
        [
            *(node(name, labels={HOST: name}, cpu=cpu) for name, cpu in (("a", "4"), ("b", "400m"))),
            running("w", "a", labels={"app": "w"}),
            pod("p", cpu="2", labels={"app": "w"}, topologySpreadConstraints=[{**SPREAD, "topologyKey": HOST}]),
        ],
        [["raise-max-skew"], ["relax-spread"], ["add-node"]],
    ),
    "spread over a zone of tainted nodes": (
        [
            *(node(name, labels={ZONE: name}) for name in ("a", "b")),
            node("c", labels={ZONE: "c"}, spec={"taints": [TAINT]}),
            running("w-1", "a", labels={"app": "w"}),
            running("w-2", "b", labels={"app": "w"}),
            pod("p", labels={"app": "w"}, topologySpreadConstraints=[SPREAD]),
        ],
        [["honor-taints"], ["tolerate-node-taint"], ["remove-node-taint"], ["raise-max-skew"], ["relax-spread"]],
    ),
    "spread over more domains than there are": (
        [
            *(node(name, labels={ZONE: name}) for name in ("a", "b")),
            *(running(f"w-{name}", name, labels={"app": "w"}) for name in ("a", "b")),
            pod("p", labels={"app": "w"}, topologySpreadConstraints=[{**SPREAD, "minDomains": 3}]),
        ],
        [["lower-min-domains"], ["relax-spread"]],
    ),
    "host port": (
        [node("a"), running("old", "a", containers=[PORT]), pod("p", containers=[PORT])],
        [["drop-host-port"], ["add-node"], ["remove-pods"]],
    ),
    "host port of a program": (
        [
            *(node(name) for name in "ab"),
            *(running(f"old-{name}", name, containers=listening(9901)) for name in "ab"),
            running("next", "b", containers=listening(9902)),
            pod("p", containers=listening(9901), hostNetwork=True),
        ],
        [["change-host-port"], ["add-node"], ["remove-pods"]],
    ),
    "anti-affinity": (
        [node("a"), running("w", "a", labels={"app": "w"}), pod("p", labels={"app": "w"}, affinity=APART)],
        [["relax-anti-affinity"], ["add-node"]],
    ),
    "anti-affinity on both sides": (
        [
            node("a"),
            running("w", "a", labels={"app": "w"}, affinity=APART),
            pod("p", labels={"app": "w"}, affinity=APART),
        ],
        [["add-node"]],
    ),
    "another label": (
        [node("a", labels={"pool": "web"}), pod("p", nodeSelector={"pool": "x9"})],
        [["drop-node-requirement"]],
    ),
    "a requirement of the affinity": (
        [node("a", labels={"pool": "web"}), pod("p", affinity=terms([["pool", "NotIn", "web"]]))],
        [["drop-node-requirement"]],
    ),
    "a bound that is excluded": (
        [
            node("a", labels={"gib": "128"}),
            node("b", labels={"gib": "-8"}),
            pod("p", affinity=terms([["gib", "Gt", "128"]], [["gib", "Lt", "-8"]])),
        ],
        [["include-bound"], ["drop-node-requirement"]],
    ),
    "one of two requirements, which is also selected": (
        [
            node("a", labels={"pool": "web", "disk": "ssd"}),
            pod(
                "p",
                nodeSelector={"pool": "x9"},
                affinity=terms(
                    [["pool", "In", "x9"], ["disk", "Exists"]], [["pool", "In", "x9"], ["disk", "In", "hdd"]]
                ),
            ),
        ],
        [["drop-node-requirement"]],
    ),
    "what the program depends on": (
        [node("a", labels={"kubernetes.io/arch": "arm64"}), pod("p", nodeSelector={"kubernetes.io/arch": "amd64"})],
        [],
    ),
    "pods of another namespace, and no room there": (
        [
            *(node(name, cpu="4") for name in ("a", "b")),
            running("cache", "a", cpu="2", labels={"app": "w"}, namespace="other"),
            running("rest", "a", cpu="1"),
            pod("p", cpu="2", affinity={"podAffinity": APART["podAntiAffinity"]}),
        ],
        [["lower-request", "add-affinity-namespaces"], ["remove-pods", "add-affinity-namespaces"]],
    ),
    "a claim that another pod keeps on a node": (
        [
            node("a", labels={"eks.amazonaws.com/nodegroup": "y"}),
            node("b", labels={"eks.amazonaws.com/nodegroup": "x"}),
            device_class(),
            *(slice_(name, "gpu-0") for name in ("a", "b")),
            allocated("shared", "a/gpu-0", pod="w", on="a"),
            running("w", "a", claims={"g": "shared"}),
            pod("p", claims={"g": "shared"}, nodeSelector={"eks.amazonaws.com/nodegroup": "x"}),
        ],
        [["use-claim-template"], ["drop-node-requirement"]],
    ),
    "two": (
        [node("a", cpu="4", spec={"taints": [TAINT]}), pod("p", cpu="6")],
        [["tolerate-node-taint", "lower-request"]],
    ),
    "pods that are nowhere": (
        [node("a"), pod("p", affinity={"podAffinity": APART["podAntiAffinity"]})],
        [["relax-affinity"]],
    ),
    "pods of a workload without replicas": (
        [node("a"), deployment("w", pod(labels={"app": "w"}), 0), pod("p", affinity=near(HOST))],
        [["raise-replicas"], ["relax-affinity"]],
    ),
    "pods of a suspended job": (
        [node("a"), workload("Job", "w", pod(labels={"app": "w"}), suspend=True), pod("p", affinity=near(HOST))],
        [["resume-job"], ["relax-affinity"]],
    ),
    "pods with a misspelt label": (
        [node("a"), running("ww", "a", labels={"app": "ww"}), pod("p", affinity=near(HOST))],
        [["correct-pod-selector"], ["relax-affinity"]],
    ),
    "a shared device of a device plugin": (
        [
            node("a", **{"example.com/gpu.shared": "4", "example.com/gpu-mem": "0"}),
            device_class("gpu.other.com"),
            pod("p", requests={"example.com/gpu": "1"}),
        ],
        [["rename-resource"]],
    ),
    "a part of a device": (
        [node("a", **{"x.com/mig-1g.5gb": "4", "x.com/mig-2g.10gb": "1"}), pod("p", requests={"x.com/gpu": "1"})],
        [["rename-resource"], ["rename-resource"]],
    ),
    "another device of the vendor": ([node("a", **{"x.com/fpga": "4"}), pod("p", requests={"x.com/qat": "1"})], []),
    "a fifth of the size": ([node("a", cpu="1"), pod("p", cpu="5")], []),
    "a place": (
        [node("a"), pod("p", nodeSelector={"topology.kubernetes.io/zone": "x"})],
        [["drop-node-requirement"]],
    ),
    "full, and a node for others": (
        [
            node("a", cpu="4"),
            running("w", "a", cpu="4"),
            node("b", spec={"taints": [TAINT]}),
            pod("p", cpu="3"),
        ],
        [["add-node"], ["tolerate-node-taint"], ["remove-node-taint"], ["remove-pods"]],
    ),
    "full, and a node whose taint names the hardware": (
        [
            node("a", **CHIPS),
            node("b", **CHIPS, spec={"taints": [{**TAINT, "key": "gpu.example.com/present"}]}),
            running("w", "a", requests=CHIPS),
            pod("p", requests=CHIPS),
        ],
        [["tolerate-node-taint"], ["remove-node-taint"], ["add-node"], ["remove-pods"]],
    ),
    "a lost node whose pod cannot end": (
        [
            *(node(name) for name in ("a", "b")),
            node("c", spec={"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]}),
            *(running(f"w-{name}", name, labels={"app": "w"}) for name in ("a", "b")),
            running("w-c", "c", labels={"app": "w"}, metadata={"deletionTimestamp": "2026-11-27T02:45:00Z"}),
            pod("p", labels={"app": "w"}, affinity=APART),
        ],
        [["await-node"], ["relax-anti-affinity"], ["add-node"]],
    ),
    "devices of a device plugin": (
        [
            node("a", **{"example.com/chip": "4"}),
            node("b", **{"example.com/chip": "3"}) | {"status": PARTLY},
            running("large", "a", requests={"example.com/chip": "2"}),
            running("small", "a", requests={"example.com/chip": "1"}),
            owned_by(running("daemon", "a", requests={"example.com/chip": "1"}), "DaemonSet", "d"),
            running("vital", "b", requests={"example.com/chip": "0"}, priority=9),
            pod("p", requests={"example.com/chip": "4"}),
        ],
        [["repair-devices"], ["lower-request"]],
    ),
    "the smallest of the pods without which it fits": (
        [
            node("a", cpu="8"),
            running("daemon", "a", cpu="500m", metadata=owned("DaemonSet", "d")),
            running("vital", "a", cpu="1", priority=9),
            running("large", "a", cpu="3"),
            running("small", "a", cpu="2"),
            running("tiny", "a", cpu="250m"),
            pod("p", cpu="3"),
        ],
        [["lower-request"], ["add-node"], ["remove-pods"]],
    ),
    "not ready": (
        [node("a", spec={"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}), pod("p")],
        [["await-node"]],
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_what_helps_is_told_and_helps(name: str) -> None:
    objects, expected = WORLDS[name]
    verdict = told(objects, "pod/p")
    assert changes(verdict) == expected
    for suggestion in verdict.get("suggestions", []):
        helps(objects, "pod/p", suggestion)
    said = str(explain(objects, "pod/p"))
    assert ("No single change" in said or "No change was tried: " in said) == (not expected)


def test_the_smallest_pod_leaves_and_what_belongs_to_its_node_stays() -> None:
    [_, _, removed] = told(WORLDS["the smallest of the pods without which it fits"][0], "pod/p")["suggestions"]
    assert removed["changes"] == [
        {"code": "remove-pods", "pods": ["default/small"], "on": "a", "stays": "NoController"}
    ]


def test_a_toleration_names_the_cron_job_whose_jobs_create_the_pod() -> None:
    job = workload("Job", "j", pod())
    own = pod("p", metadata=owned("Job", "j"))
    tainted = node("a", spec={"taints": [TAINT]})
    for made, said in ((job, "ml:NoSchedule, or"), (owned_by(job, "CronJob", "c"), "ml:NoSchedule to CronJob c, or")):
        made["metadata"]["uid"] = "u-j"
        assert f"add a toleration for taint dedicated={said}" in str(explain([tainted, made, own], "pod/p"))


def test_fewer_pods() -> None:
    objects = [node("a", cpu="4"), deployment("d", pod("x", cpu="2"), 3)]
    verdict = told(objects, "deploy/d")
    assert (verdict["pods"], verdict["wouldBind"]) == (3, 2)
    assert ["lower-replicas"] in changes(verdict)
    for suggestion in verdict["suggestions"]:
        helps(objects, "deploy/d", suggestion)


def rollout(strategy: Object | None, *, room: int = 1) -> list[Object]:
    """A Deployment of one pod that is being updated; the old pod has a device of its node."""
    made = deployment("w", pod(templates={"gpu": "one"}, labels={"v": "2"}), uid="d")
    if strategy is not None:
        made["spec"]["strategy"] = strategy
    sets = [
        owned_by(workload("ReplicaSet", f"w-{name}", shape, uid=name, replicas=1), "Deployment", "w")
        for name, shape in {
            "old": pod(templates={"gpu": "one"}, labels={"v": "1"}),
            "new": pod(templates={"gpu": "one"}, labels={"v": "2"}),
        }.items()
    ]
    for each in sets:
        each["metadata"]["ownerReferences"][0]["uid"] = "d"
    old = running("w-old-x", "a", "w-old-x-gpu-x7k2p", templates={"gpu": "one"})
    new = pod("w-new-y", templates={"gpu": "one"})
    for each, by in ((old, "old"), (new, "new")):
        each["metadata"] |= owned("ReplicaSet", f"w-{by}", uid=by)
    return [*gpus("a", each=room), template("one"), made, *sets, old, new, generated("w-old-x", "gpu", "a", "gpu-0")]


STUCK: dict[str, Object | None] = {
    "as the API server fills it in": {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    },
    "nothing said": None,
    "no bounds": {"type": "RollingUpdate"},
}


@pytest.mark.parametrize("owner", ["deploy/w", "pod/w-new-y"])
@pytest.mark.parametrize("name", STUCK)
def test_a_rollout_that_waits_for_its_own_pods(name: str, owner: str) -> None:
    """One pass binds nothing more; with the change the controllers delete the old pod, and the new one is bound."""
    objects = rollout(STUCK[name])
    suggestions = [
        each for each in told(objects, owner)["suggestions"] if each["changes"][0]["code"] == "loosen-rollout"
    ]
    [suggestion] = suggestions
    assert suggestion["node"] == "a"
    assert ended_with(objects) == {"w-old-x": "a", "w-new-y": None}
    for changed in (patched(objects, suggestion["patches"]), applied(objects, suggestion["changes"])):
        assert ended_with(changed) == {"w-new-y": "a"}


def ended_with(objects: list[Object]) -> dict[str, str | None]:
    found = Cluster.of(objects).schedule(settle=True).to_dict()["settled"]
    return {each["name"]: each["nodeName"] for each in found["pods"]}


def rollout_without_room(pods: str, reported: bool) -> list[Object]:
    """Return a rollout whose next pod does not exist yet, and the quota of its namespace."""
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": pods}})
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: q"}
    made = [each for each in rollout(None, room=2) if each["metadata"]["name"] != "w-new-y"]
    for each in made:
        if each["kind"] == "Deployment" and reported:
            each["status"] = {"conditions": [failure]}
    return [*made, quota]


@pytest.mark.parametrize("owner", ["deploy/w", None])
def test_a_rollout_whose_next_pod_a_quota_rejects(owner: str | None) -> None:
    """All its pods run. The cluster reports the failure, so that no name is needed to find it."""
    objects = rollout_without_room("1", reported=True)
    found = explain(objects, owner) if owner is not None else explain(objects)
    [verdict] = found.to_dict()["verdicts"]
    assert (verdict["verdict"], verdict["outdated"], verdict["over"][0]["hard"]) == ("Refused", 1, "1")
    assert str(found).startswith("deployment/default/w: its rollout is stuck: all its pods have an older template")
    assert [each["changes"][0]["code"] for each in verdict["suggestions"]] == ["loosen-rollout", "raise-quota"]
    assert ended_with(objects) == {"w-old-x": "a"}
    for suggestion in verdict["suggestions"]:
        for changed in (patched(objects, suggestion["patches"]), applied(objects, suggestion["changes"])):
            ends = ended_with(changed)
            assert "w-old-x" not in ends
            assert set(ends.values()) == {"a"}


@pytest.mark.parametrize("reported", [False, True])
def test_a_rollout_with_room_for_its_next_pod(reported: bool) -> None:
    assert told(rollout_without_room("2", reported=reported), "deploy/w")["verdict"] == "Bound"


@pytest.mark.parametrize(
    "objects",
    [
        rollout({"type": "Recreate"}),
        rollout({"rollingUpdate": {"maxSurge": 0}}),
        rollout({"rollingUpdate": {"maxUnavailable": 1}}),
        [each | {"spec": {"taints": [TAINT]}} if each["kind"] == "Node" else each for each in rollout(None)],
    ],
    ids=["recreates", "no surge", "one may go", "nothing would fit"],
)
def test_a_rollout_that_waits_for_something_else(objects: list[Object]) -> None:
    for owner in ("deploy/w", "pod/w-new-y"):
        assert "loosen-rollout" not in str(told(objects, owner).get("suggestions"))


@pytest.mark.parametrize(
    "strategy",
    [{"rollingUpdate": {"maxSurge": 0}}, {"rollingUpdate": {"maxUnavailable": 1}}, {"type": "Recreate"}],
    ids=str,
)
def test_an_update_that_deletes_an_old_pod_by_itself(strategy: Object) -> None:
    objects = rollout(strategy)
    assert ended_with(objects) == {"w-new-y": "a"}
    for owner in ("deploy/w", "pod/w-new-y"):
        assert told(objects, owner)["afterRollout"] == "a"
        said = str(Cluster.of(objects).explain(owner))
        assert "Deployment's update will delete an old pod first; then it fits on a." in said
    assert not told(rollout(None), "pod/w-new-y").get("afterRollout")


def test_nodes_that_only_run_sandboxes_are_not_opened() -> None:
    only = {"key": "sandbox.gke.io/runtime", "value": "gvisor", "effect": "NoSchedule"}
    assert changes(told([node("a", spec={"taints": [only]}), pod("p")], "pod/p")) == []


def test_pods_that_it_may_not_preempt() -> None:
    full = [node("a", cpu="2"), running("low", "a", cpu="2", priority=0)]
    for policy, verdict in (("Never", "Unschedulable"), ("PreemptLowerPriority", "WouldPreempt")):
        objects = [*full, priority_class("high", 9, preemptionPolicy=policy), pod("p", priorityClassName="high")]
        found = told(objects, "pod/p")
        assert found["verdict"] == verdict
        assert [each["name"] for each in found.get("spared", [])] == (["low"] if policy == "Never" else [])
        line = "It could preempt default/low (priority 0) on a, but its preemptionPolicy is Never."
        assert (line in str(explain(objects, "pod/p"))) == (policy == "Never")


@pytest.mark.parametrize("owner", ["rs/w", "pod/w-x"])
def test_pods_that_a_workload_may_not_preempt(owner: str) -> None:
    asked = {"cpu": "2", "preemptionPolicy": "Never", "priority": 9}
    waiting = pod("w-x", **asked)
    waiting["metadata"] |= owned("ReplicaSet", "w", uid="w")
    objects = [
        node("a", cpu="2"),
        running("low", "a", cpu="2", priority=0),
        workload("ReplicaSet", "w", pod(**asked), uid="w", replicas=1),
        waiting,
    ]
    assert [each["name"] for each in told(objects, owner)["spared"]] == ["low"]


def check(case: dict[str, Any]) -> int:
    """How many suggestions for pods of a recorded case were tried again."""
    asked: dict[str, Any] = {"kubernetes_version": "1.36.2", "feature_gates": case.get("featureGates")}
    cluster = Cluster.of(case["objects"], **asked)
    if not cluster.inventory.nodes:
        return 0
    tried = 0
    for verdict in cluster.explain().to_dict()["verdicts"]:
        owner = f"{verdict['kind'].lower()}/{verdict['namespace']}/{verdict['name']}"
        for suggestion in verdict.get("suggestions", []):
            changed = by_patches(case["objects"], suggestion)
            [after] = Cluster.of(changed, **asked).explain(owner).to_dict()["verdicts"]
            assert after["verdict"] in ("WouldBind", "WouldPreempt"), (case["id"], suggestion)
            tried += 1
    return tried


@pytest.mark.parametrize("corpus", ["schedule", "volume", "gang", "nodealloc"])
def test_suggestions_hold_in_recorded_cases(corpus: str) -> None:
    assert sum(map(check, recorded.cases(corpus, 12))) >= 0


@pytest.mark.long
@pytest.mark.parametrize("corpus", ["schedule", "volume", "gang", "nodealloc"])
def test_suggestions_hold_in_whole_corpora(corpus: str) -> None:
    assert sum(map(check, recorded.cases(corpus))) > (0 if corpus == "nodealloc" else 3)


def test_a_topology_key_that_no_node_has_is_named_with_its_replacement() -> None:
    there = node("a", labels={ZONE: "x"})
    spread = [{**SPREAD, "topologyKey": FORMER_ZONE}]
    replaced = f"no node has the label {FORMER_ZONE} (replaced by {ZONE})"
    assert f"topology spread: {replaced}" in str(explain([there, pod("p", topologySpreadConstraints=spread)], "p"))
    assert f"pod affinity: {replaced}" in str(explain([there, pod("p", affinity=near(FORMER_ZONE))], "p"))
    selects = pod("p", nodeSelector={FORMER_ZONE: "x"})
    assert f"wants {FORMER_ZONE}=x (replaced by {ZONE}), has no label" in str(explain([there, selects], "p"))
    elsewhere = node("b", labels={FORMER_ZONE: "x"}, cpu="500m")
    some = str(explain([there, elsewhere, pod("p", topologySpreadConstraints=spread)], "p"))
    assert f"topology spread: the node has no label {FORMER_ZONE}" in some
