"""The first line of an explanation for each verdict, and what gates and nodes make of it."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import explain
from dra_plan.questions.explain.gate import JUDGE
from dra_plan.questions.explain.owners import Telling
from dra_plan.questions.explain.text import parse
from dra_plan.text.columns import wrapped
from dra_plan.text.gate import Gate, Verdict
from tests.build import (
    CSI,
    Object,
    claim,
    csi_node,
    device,
    device_class,
    manifest,
    member,
    mounts,
    node,
    on_csi,
    placed,
    pod,
    pod_group,
    priority_class,
    request,
    slice_,
    volume_claim,
)

from .situations import SITUATIONS


def world(*objects: Object, **rest: Any) -> Any:
    return explain([node("a", cpu="4", labels={"pool": "h100"}), node("b", cpu="8"), *objects], **rest)


def lines(answer: Any) -> list[str]:
    return str(answer).splitlines()


def verdict(answer: Any) -> dict[str, Any]:
    found: list[dict[str, Any]] = answer.to_dict()["verdicts"]
    assert len(found) == 1
    return found[0]


def gates(answer: Any) -> list[Verdict]:
    return JUDGE.all_verdicts(Gate(require_fit=True), answer.document)


def test_would_be_bound() -> None:
    answer = world(pod("train", cpu="2"))
    assert lines(answer)[0] == "pod/default/train would be bound to b now."
    assert gates(answer) == [Verdict.PASSED]


def test_no_node_with_a_line_for_each_kind_of_node() -> None:
    tainted = node("c", cpu="64", spec={"taints": [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}]})
    answer = world(tainted, pod("train", cpu="16", nodeSelector={"pool": "H100"}))
    wants = "wants pool=H100 (did you mean h100?)"
    assert lines(answer)[:4] == [
        "pod/default/train is Pending: no node can take it (0 of 3).",
        f"  2 nodes (a, b): {wants}, has pool=h100 on 1 and no label pool on 1; cpu: needs 16, 4 to 8 of 8 free",
        f"  c: taint dedicated=ml:NoSchedule; {wants}, has no label pool",
        "",
    ]
    assert verdict(answer)["refusedBy"] == ["NodeAffinity", "TaintToleration"]
    assert gates(answer) == [Verdict.FAILED]


def test_devices_fit_and_cpu_is_short() -> None:
    gpu = slice_("b", device("gpu-0"))
    owner = pod("train", cpu="16", claims={"gpu": "train"})
    answer = world(device_class(), gpu, claim("train", request("gpu")), owner)
    assert lines(answer)[1:3] == [
        "  b: devices fit; cpu: needs 16, 8 of 8 free",
        "  a: cpu: needs 16, 4 of 4 free; devices: no devices",
    ]


def test_only_by_preemption() -> None:
    running = pod("old", cpu="7", nodeName="b", priority=0)
    answer = world(running, priority_class("high", 1000), pod("train", cpu="7", priorityClassName="high"))
    assert lines(answer)[0] == "pod/default/train would be bound to b after evicting default/old (priority 0)."


def test_another_pod_comes_first() -> None:
    first = pod("first", cpu="7", priorityClassName="high")
    answer = world(priority_class("high", 1000), first, pod("train", cpu="7"))
    told = {one["name"]: one for one in answer.to_dict()["verdicts"]}
    assert told["train"]["alone"] == {"verdict": "WouldBind", "nodeName": "b"}
    said = "would fit on b, but default/first (priority 1000) comes first and takes the room."
    assert f"pod/default/train is Pending: it {said}" in lines(answer)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            {"schedulingGates": [{"name": "x.io/quota"}]},
            "is Pending: held by its scheduling gate x.io/quota, until the controller that set it removes it.",
        ),
        (
            {"schedulerName": "volcano"},
            "is Pending: its schedulerName is volcano; if no such scheduler is running, the pod stays Pending.",
        ),
        ({"nodeName": "gone"}, "is Pending: its nodeName is gone, which does not exist."),
    ],
)
def test_held(spec: Object, said: str) -> None:
    owner = pod("train", cpu="1")
    owner["spec"] |= spec
    answer = explain([node("a"), owner], "pod/train")
    assert lines(answer)[0].endswith(said)
    assert gates(answer) == [Verdict.FAILED]


def test_a_claim_template_that_is_missing() -> None:
    answer = world(pod("train", cpu="1", templates={"gpu": "one-gpu"}))
    assert lines(answer)[0].endswith("it is waiting for resourceclaimtemplate/default/one-gpu, which does not exist.")


def test_a_bound_pod_whose_claim_has_no_devices() -> None:
    objects = [device_class(), slice_("a", device("gpu-0")), claim("train", request("gpu"))]
    answer = world(*objects, pod("train", cpu="1", nodeName="a", claims={"gpu": "train"}))
    assert lines(answer)[0].startswith("pod/default/train is stuck on a: claim train has no devices")
    assert gates(answer) == [Verdict.FAILED]


def test_devices_alone_have_no_verdict() -> None:
    owner = pod("train", cpu="1000", claims={"gpu": "train"})
    objects = [device_class(), slice_("a", device("gpu-0")), claim("train", request("gpu")), owner]
    answer = world(*objects, devices_only=True)
    assert answer.verdicts is None
    assert "verdicts" not in answer.to_dict()
    assert lines(answer)[0] == "pod/default/train: fits on 1 of 2 nodes."
    assert gates(answer) == [Verdict.PASSED]


def test_an_owner_is_told_on_a_screen() -> None:
    answer = explain(SITUATIONS["many-different-stories"]())
    whole = parse("text", Telling(verbose=True))(answer.document, None)
    assert len(wrapped(lines(answer), 80)) <= 25
    assert "more kinds of nodes: -v shows them" in str(answer)
    assert len(whole.splitlines()) > 60
    assert "-v tells" not in whole


def test_many_owners_have_a_line_each() -> None:
    pods = [pod(f"p{at}", cpu=f"{at}00m", labels={"at": str(at)}, nodeSelector={"no": str(at)}) for at in range(1, 7)]
    answer = world(*pods)
    said = lines(answer)
    assert [line.partition(" ")[0] for line in said[:6]] == [f"pod/default/p{at}" for at in range(1, 7)]
    assert said[0].endswith("is Pending: no node can take it (0 of 2). 2 nodes (a, b): wants no=1, has no label no")
    assert "`explain NAME` shows the details of one" in said[6]
    assert "Changes that would make it fit" in parse("text", Telling(details=True))(answer.document, None)


def test_a_pod_group_that_is_too_small() -> None:
    gates = {"GenericWorkload": True, "GangScheduling": True}
    answer = world(pod_group("g", 3), member("p0"), member("p1"), feature_gates=gates)
    assert lines(answer)[0].endswith(
        "it is waiting for its pod group g: 2 of the 3 pods that it needs are in the input."
    )


def test_a_suspended_job() -> None:
    spec = {"suspend": True, "template": {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}}
    queued = manifest(
        "Job", "work", namespace="default", metadata={"labels": {"kueue.x-k8s.io/queue-name": "q"}}, spec=spec
    )
    answer = world(queued)
    assert (
        lines(answer)[0]
        == "job/default/work is suspended and has no pods now, because it is waiting in Kueue's queue q."
    )
    assert "starts:" not in str(answer)  # it asks for no devices
    assert gates(answer) == []


def test_what_the_cluster_said_last() -> None:
    said = "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
    same = world(pod("train", cpu="16", status={"conditions": [condition]}))
    assert lines(same)[1] == "  The cluster last said the same."
    other = world(pod("train", cpu="6", status={"conditions": [condition]}))
    assert lines(other)[1] == f"  The cluster last said: {said} It would fit now."


DISK = {"name": "d", "gcePersistentDisk": {"pdName": "d"}}


def storage(name: str, mode: str = "ReadWriteOnce") -> list[Object]:
    return [on_csi(name, accessModes=[mode]), volume_claim(name, bound=name, spec={"accessModes": [mode]})]


def using(name: str) -> Object:
    return pod("p", volumes=mounts(name))


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        (
            [csi_node("a", {CSI: 1}), *storage("v"), *storage("w"), placed("r", "a", volumes=mounts("v")), using("w")],
            "a: volumes of driver csi.example.com: needs 1 more, 0 of 1 free",
        ),
        (
            [*storage("v", "ReadWriteOncePod"), placed("r", "a", volumes=mounts("v")), using("v")],
            "a: volume claim v is in use by pod default/r, and only one pod may use it (ReadWriteOncePod)",
        ),
        (
            [placed("r", "a", volumes=[DISK]), pod("p", volumes=[DISK])],
            "a: a disk (gcePersistentDisk) is in use there by pod default/r",
        ),
    ],
)
def test_volumes_in_use_and_limits(objects: list[Object], said: str) -> None:
    assert f"  {said}" in str(explain([node("a"), *objects], "pod/p")).splitlines()
