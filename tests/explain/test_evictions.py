"""What `explain` says of running pods that taints are going to evict: when, which taint, and of what."""

from __future__ import annotations

from typing import Any

from dra_plan import explain, gather_pools, schedule
from tests.build import generated, gpus, node, owned_by, pod, running, taint, taint_rule, template, workload
from tests.controllers.test_answers import GONE, tainted

Plain = dict[str, Any]
LATER = {**GONE, "timeAdded": "2026-01-01T00:00:00Z"}
FOR_300 = {"key": "xid", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}

EVICTED = (
    "  It is going to be evicted after 300 s: taint xid=79:NoExecute of device gpu.example.com/a/gpu-0"
    " (claim p-gpu-x7k2p)."
)


def serving(name: str, device: str, *tolerations: Plain) -> list[Plain]:
    made = generated(name, "gpu", "a", device)
    made["status"]["allocation"]["devices"]["results"][0]["tolerations"] = list(tolerations)
    return [running(name, "a", f"{name}-gpu-x7k2p", templates={"gpu": "one"}), made]


def verdict(objects: list[Plain], owner: str) -> Plain:
    [found] = explain(objects, owner).to_dict()["verdicts"]
    return dict(found)


def text(objects: list[Plain], owner: str) -> list[str]:
    return str(explain(objects, owner)).splitlines()


def test_a_pod_whose_device_has_a_taint_goes_when_its_toleration_ends() -> None:
    objects = tainted([*gpus("a"), template("one"), *serving("p", "gpu-0", FOR_300)], "gpu-0", LATER)
    [eviction] = verdict(objects, "pod/p")["evictions"]
    assert eviction == {
        "pod": "p",
        "second": 300.0,
        "taint": {"key": "xid", "value": "79", "effect": "NoExecute"},
        "device": {"driver": "gpu.example.com", "pool": "a", "device": "gpu-0"},
        "claim": "p-gpu-x7k2p",
    }
    assert text(objects, "pod/p")[:3] == [
        "pod/default/p: already bound to a.",
        "  Request r of claim p-gpu-x7k2p has gpu.example.com/a/gpu-0.",
        EVICTED,
    ]


def delayed(seconds: int, **metadata: str) -> list[Plain]:
    """A pod that tolerates the taint of its device for some time after 2026-11-10."""
    tolerated = {**FOR_300, "tolerationSeconds": seconds}
    of_taint = {**GONE, "timeAdded": "2026-11-10T00:00:00Z"}
    objects = tainted([*gpus("a"), template("one"), *serving("p", "gpu-0", tolerated)], "gpu-0", of_taint)
    return [*objects, node("b"), {**pod("late"), "metadata": {"name": "late", "namespace": "default", **metadata}}]


def test_a_late_eviction_has_a_date() -> None:
    said = "on 2026-11-25 00:00 UTC, 15 days after the newest object of the input: taint xid=79:NoExecute"
    assert said in str(explain(delayed(15 * 86400), "pod/p"))
    assert "after 3,599 s: taint" in str(explain(delayed(3599), "pod/p"))
    assert "on 2026-11-10 01:05 UTC, 1 h 5 min after" in str(explain(delayed(3900), "pod/p"))


def test_any_pod_can_be_the_newest_object() -> None:
    objects = delayed(15 * 86400, creationTimestamp="2026-11-10T03:35:00Z")
    [eviction] = verdict(objects, "pod/p")["evictions"]
    assert (eviction["second"], eviction["time"]) == (15 * 86400 - 3.0 * 3600 - 35 * 60, "2026-11-25T00:00:00Z")
    assert "on 2026-11-25 00:00 UTC, 14 days 20 h after the newest object of the input" in str(
        explain(objects, "pod/p")
    )


def test_pools_and_schedule_give_the_same_time() -> None:
    objects = delayed(15 * 86400, creationTimestamp="2026-11-10T03:35:00Z")
    when = "on 2026-11-25 00:00 UTC, 14 days 20 h after the newest object of the input"
    assert f"default/p {when}" in str(gather_pools(objects))
    settled = schedule(objects, settle=True).to_dict()["settled"]
    assert [(one["name"], one["time"]) for one in settled["later"]] == [("p", "2026-11-25T00:00:00Z")]


def test_a_pod_that_stays_is_not_said_to_go() -> None:
    one = [*gpus("a"), template("one"), *serving("p", "gpu-0")]
    for objects in (one, tainted(one, "gpu-1", LATER), tainted(one, "gpu-0", taint("xid"))):
        assert "evictions" not in verdict(objects, "pod/p")


def test_a_rule_is_named() -> None:
    rule = taint_rule("broken", GONE, pool="a", device="gpu-0")
    objects = [*gpus("a"), template("one"), *serving("p", "gpu-0"), rule]
    said = str(explain(objects, "pod/p", feature_gates={"DRADeviceTaintRules": True}))
    assert "at once: taint xid=79:NoExecute of device gpu.example.com/a/gpu-0" in said
    assert "set by DeviceTaintRule broken." in said


def test_a_taint_of_its_node() -> None:
    away = node("b", spec={"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]})
    objects = [away, pod("p", nodeName="b", status={"phase": "Running"})]
    assert "  It is going to be evicted after 300 s: taint node.kubernetes.io/not-ready:NoExecute of node b." in text(
        objects, "pod/p"
    )


def test_the_pods_of_a_workload_are_told_the_earliest_first() -> None:
    held = {0: [FOR_300]}
    made = [each for n in range(5) for each in serving(f"w-{n}", f"gpu-{n}", *held.get(n, ()))]
    pods = [owned_by(each, "StatefulSet", "w") if each["kind"] == "Pod" else each for each in made]
    shape = pod(templates={"gpu": "one"})
    objects = [*gpus("a", each=5), template("one"), *pods, workload("StatefulSet", "w", shape, replicas=5)]
    for device in range(5):
        objects = tainted(objects, f"gpu-{device}", LATER)
    told = [line for line in text(objects, "sts/w") if "evicted" in line]
    assert [line.split(" is ")[0] for line in told[:3]] == ["  Pod w-1", "  Pod w-2", "  Pod w-3"]
    assert told[3] == "  2 more pods of it are going to be evicted."
    assert text(objects, "sts/w")[0] == "statefulset/default/w: all its pods already have nodes."
    assert [each["second"] for each in verdict(objects, "sts/w")["evictions"]] == [0.0, 0.0, 0.0, 0.0, 300.0]
