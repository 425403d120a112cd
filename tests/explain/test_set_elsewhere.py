"""What an admission plugin or a webhook added to a pod: where it comes from, and that edits of the pod do not help."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, manifest, node, owned_by, pod, running, taint, workload

VPA = {"vpaUpdates": "Pod resources updated by w-vpa: container 0: cpu request, memory request"}
SET, CHANGED = "set by VerticalPodAutoscaler w-vpa; ", "probably changed by a webhook"


def owned_pod(made: Object, template: Object, *, of: str = "ReplicaSet", **options: Any) -> list[Object]:
    """The pod, and a controller that has this template: a Deployment with its ReplicaSet, or one of another kind."""
    made = owned_by(made, of, "w-x" if of == "ReplicaSet" else "w")
    if of != "ReplicaSet":
        return [made, {**workload(of, "w", template, replicas=1), **options}]
    return [
        made,
        owned_by(workload("ReplicaSet", "w-x", template, replicas=1), "Deployment", "w"),
        workload("Deployment", "w", template, replicas=1),
    ]


def explained(*objects: Object, of: str = "pod/p") -> tuple[str, list[str]]:
    told = Cluster.of(objects).explain(of)
    suggested = told.to_dict()["verdicts"][0].get("suggestions", [])
    return " ".join(str(told).split()), [change["code"] for one in suggested for change in one["changes"]]


@pytest.mark.parametrize("of", ["pod/p", "deployment/w"])
@pytest.mark.parametrize(("annotations", "why"), [(VPA, SET), ({}, CHANGED), ({"vpaUpdates": "x"}, CHANGED)])
def test_a_request_that_the_controller_does_not_make(of: str, annotations: Object, why: str) -> None:
    raised = pod("p", cpu="6", metadata={"annotations": annotations})
    text, codes = explained(node("a", cpu="4"), *owned_pod(raised, pod(cpu="2")), of=of)
    assert "Deployment w asks for 2" in text
    assert why in text
    assert "lower-request" not in codes


def test_an_autoscaler_adds_no_other_resources() -> None:
    nic = {"x.com/nic": "1"}
    text, _ = explained(node("a", **nic), running("w-0", "a", requests=nic), *owned_pod(pod("p", requests=nic), pod()))
    assert "needs 1 (Deployment w asks for none: probably changed by a webhook), 0 of 1 free" in text


@pytest.mark.parametrize("of", ["ReplicaSet", "StatefulSet", "Job"])
def test_a_request_of_the_controller_is_lowered(of: str) -> None:
    text, codes = explained(node("a", cpu="4"), *owned_pod(pod("p", cpu="6"), pod(cpu="6"), of=of))
    assert "asks for" not in text
    assert codes == ["lower-request"]


@pytest.mark.parametrize("revision", ["new", "old"])
def test_a_pod_from_an_older_template_was_not_changed(revision: str) -> None:
    made = pod("p", cpu="6", labels={"controller-revision-hash": revision})
    owned = owned_pod(made, pod(cpu="2"), of="StatefulSet", status={"updateRevision": "new"})
    text, codes = explained(node("a", cpu="4"), *owned)
    assert ("StatefulSet w asks for 2: probably" in text) == (revision == "new")
    assert ("lower-request" in codes) == (revision == "old")


@pytest.mark.parametrize("known", ["range", "annotation"])
def test_what_a_limit_range_or_a_limit_adds_is_not_set_elsewhere(known: str) -> None:
    said = {"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c"}
    defaults = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "6"}}]}
    made = pod("p", cpu="6", memory="1Gi", metadata={"annotations": said if known == "annotation" else {}})
    template = pod(cpu=None, memory=None)
    template["spec"]["containers"][0]["resources"] = {"limits": {"memory": "1Gi"}}
    limit_range = [manifest("LimitRange", "r", namespace="default", spec=defaults)] if known == "range" else []
    text, _ = explained(node("a", cpu="4"), node("b", memory="0"), *limit_range, *owned_pod(made, template))
    assert "Deployment w asks for" not in text


ANNOTATIONS = ["openshift.io/node-selector", "scheduler.alpha.kubernetes.io/node-selector"]


@pytest.mark.parametrize("of", ["pod/p", "deployment/w"])
@pytest.mark.parametrize(
    ("annotation", "template", "why"),
    [
        *((one, {}, f"set by annotation {one} of namespace default") for one in ANNOTATIONS),
        (ANNOTATIONS[0], {"tenant": "hr"}, f"set by annotation {ANNOTATIONS[0]} of namespace default"),
        ("", {}, "Deployment w does not ask for it"),
        ("other", {}, "Deployment w does not ask for it"),
        ("", {"tenant": "hr"}, ""),
    ],
)
def test_a_node_selector_that_the_namespace_adds(of: str, annotation: str, template: Object, why: str) -> None:
    """Dropping it, or asking for the value of other nodes, has no effect: the next pod has it again."""
    wanted = pod("p", nodeSelector={"tenant": "hr"})
    namespace = manifest("Namespace", "default", metadata={"annotations": {annotation: "stage=x, tenant=hr"}})
    owned = owned_pod(wanted, pod("x", nodeSelector=template) if template else pod("x"))
    for labels, edit in (({"tenant": "it"}, "use-other-nodes"), ({}, "drop-node-requirement")):
        nodes = [node("a", labels=labels), node("full", cpu="0", labels={"tenant": "hr"})]
        text, codes = explained(*nodes, namespace, *owned, of=of)
        assert (f"wants tenant=hr ({why})" in text) == bool(why)
        assert (edit in codes) == (not why)
        assert ("label-node" in codes) == (not labels)


@pytest.mark.parametrize("of", ["pod/p", "deployment/w"])
@pytest.mark.parametrize(
    ("adds", "template", "why"),
    [
        ({"nvidia.com/x": "y"}, {}, "RuntimeClass nvidia adds it"),
        ({"nvidia.com/x": "y"}, {"nvidia.com/x": "y"}, "RuntimeClass nvidia adds it"),
        ({"nvidia.com/x": "other"}, {}, "Deployment w does not ask for it"),
        (None, {}, "probably RuntimeClass nvidia adds it: kubectl get runtimeclass nvidia -o yaml"),
        (None, {"nvidia.com/x": "y"}, ""),
    ],
)
def test_a_node_selector_that_the_runtime_class_adds(of: str, adds: Object | None, template: Object, why: str) -> None:
    """A label of a driver is not set by hand, unless the RuntimeClass is why it is required: then it is missing."""
    wanted = pod("p", nodeSelector={"nvidia.com/x": "y"}, runtimeClassName="nvidia")
    owned = owned_pod(wanted, pod("x", nodeSelector=template, runtimeClassName="nvidia"))
    known = [] if adds is None else [manifest("RuntimeClass", "nvidia", handler="n", scheduling={"nodeSelector": adds})]
    text, codes = explained(node("a"), node("full", cpu="0", labels={"nvidia.com/x": "y"}), *known, *owned, of=of)
    assert (f"{why}), has no label" in text) == bool(why)
    is_known = "RuntimeClass" in why
    assert codes == (["label-node"] if is_known else [])
    first = "1. find out why node a lacks label nvidia.com/x=y, and label it once its runtime is installed"
    assert (first in text) == is_known


def test_pods_that_are_not_created_yet_get_what_their_runtime_class_adds() -> None:
    """Stored pods have it already, and the API server rejects pods whose node selector contradicts it."""
    adds = {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]}
    kata = manifest("RuntimeClass", "kata", handler="k", scheduling=adds, overhead={"podFixed": {"cpu": "7"}})
    plain, tainted = node("a", cpu="16"), {"taints": [taint("kata")]}
    ready = node("b", cpu="16", labels={"kata": "yes"}, spec=tainted)
    wanting = pod("p", cpu="2", runtimeClassName="kata")
    created, new = workload("Deployment", "w", wanting, replicas=1), "deployment/w"
    text, _ = explained(plain, kata, created, of=new)
    assert "wants kata=yes (RuntimeClass kata adds it), has no label kata" in text
    assert "its pod would be bound now, to b" in explained(plain, ready, kata, created, of=new)[0]
    small = node("b", labels={"kata": "yes"}, spec=tainted)
    assert "needs 9 (container c 2, overhead of its RuntimeClass 7)" in explained(small, kata, created, of=new)[0]
    assert "would be bound to a now" in explained(plain, kata, wanting)[0]
    other = workload("Deployment", "w", pod("p", runtimeClassName="kata", nodeSelector={"kata": "no"}), replicas=1)
    said = "conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; pod.spec.nodeSelector[kata] = no"
    assert said in explained(plain, ready, kata, other, of=new)[0]


def test_a_bare_pod_may_have_asked_for_a_node_itself() -> None:
    text, codes = explained(node("a"), node("full", cpu="0", labels={"b": "c"}), pod("p", nodeSelector={"b": "c"}))
    assert "ask for it" not in text
    assert "label-node" in codes
