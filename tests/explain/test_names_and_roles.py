"""Suggestions about names and roles: classes that extended resources name, nodes of the control plane, claims."""

from __future__ import annotations

from tests.build import (
    Object,
    allocated,
    bare_pod,
    device,
    device_class,
    node,
    placed,
    request,
    running,
    slice_,
    taint,
    template,
)
from tests.explain.test_more_readers import suggested, text

ROLE = "node-role.kubernetes.io/control-plane"
IMPLICIT = "deviceclass.resource.kubernetes.io/"


def asking(resource: str, **spec: object) -> Object:
    container = {"name": "main", "resources": {"requests": {resource: "1"}, "limits": {resource: "1"}}}
    return bare_pod("p", containers=[container], **spec)


def test_claims_that_must_all_be_released_are_not_a_choice() -> None:
    held = [allocated(f"c{at}", f"a/gpu-{2 * at}", f"a/gpu-{2 * at + 1}", pod=f"r{at}") for at in (0, 1)]
    users = [running(f"r{at}", "a", claims={"gpu": f"c{at}"}) for at in (0, 1)]
    devices = slice_("a", *(device(f"gpu-{at}") for at in range(4)))
    asked = [template("four", request(count=4)), bare_pod("p", templates={"gpu": "four"})]
    said = " ".join(text([node("a"), devices, device_class(), *held, *users, *asked]).split())
    assert (
        "release both claims: default/c0 (pod r0) and default/c1 (pod r1) (the pod then fits on a; nothing recreates"
        in said
    )
    assert "recreates these pods: they have no controller)" in said
    assert "any one of these" not in said


def test_a_class_that_an_extended_resource_names_and_that_does_not_exist() -> None:
    objects = [node("a"), device_class("gpu.example.com"), device_class("nic.other.com")]
    objects += [slice_("a", "gpu-0"), asking(f"{IMPLICIT}example-gpu")]
    said = " ".join(text(objects).split())
    assert "There is no DeviceClass example-gpu." in said
    assert f"ask for {IMPLICIT}gpu.example.com instead of {IMPLICIT}example-gpu (the pod then fits on a)" in said
    assert suggested(objects) == [["rename-resource"]]  # the API server refuses such a name in a class
    assert "instead" not in text([*objects[:1], *objects[2:]])  # no class has a word of the name


def test_a_pod_for_the_control_plane_gets_its_toleration_and_no_worker_gets_the_role() -> None:
    reserved = node("cp", spec={"taints": [taint(ROLE)]}, labels={ROLE: ""})
    old = {"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"}
    backup = bare_pod("p", nodeSelector={ROLE: ""}, tolerations=[old])
    said = " ".join(text([reserved, node("worker"), backup]).split())
    assert f"taint {ROLE}:NoSchedule (the pod tolerates node-role.kubernetes.io/master:NoSchedule)" in said
    assert suggested([reserved, node("worker"), backup])[0] == ["tolerate-node-taint"]
    assert "label node worker" not in said
    elsewhere = bare_pod("p", nodeSelector={"disk": "ssd"})  # such nodes are not for it
    assert "toleration" not in text([node("cp", spec={"taints": [taint(ROLE)]}, labels={"disk": "ssd"}), elsewhere])


def test_every_taint_that_keeps_the_pod_away_is_named() -> None:
    spot, gpu, down = taint("spot"), taint("gpu", "here"), "node.kubernetes.io/not-ready"
    ill = [taint(down), taint(down, effect="NoExecute")]
    objects = [node("a", spec={"taints": [gpu, spot]}), node("b", spec={"taints": ill}), bare_pod("p")]
    said = text(objects)
    assert "a: taints gpu=here:NoSchedule and spot:NoSchedule\n" in said
    assert f"b: taint {down}:NoSchedule (the node is not ready)\n" in said
    tolerating = bare_pod("p", tolerations=[{"key": "spot", "operator": "Exists"}])
    assert "a: taint gpu=here:NoSchedule\n" in text([*objects[:2], tolerating])


def test_a_host_name_without_its_domain() -> None:
    host = "kubernetes.io/hostname"
    labels = [{host: name} for name in ("db-1.corp", "cp-1.corp", "db-2.corp")]
    reserved = {"taints": [taint("dedicated")]}
    nodes = [node(each[host], labels=each, spec=reserved if each[host] == "db-1.corp" else None) for each in labels]
    objects = [*nodes, bare_pod("p", nodeSelector={host: "db-1"})]
    assert "wants kubernetes.io/hostname=db-1 (did you mean db-1.corp?)" in text(objects)
    assert sorted(suggested(objects)[0]) == ["change-node-selector", "tolerate-node-taint"]


def test_a_claim_that_is_not_created_yet_is_awaited() -> None:
    known = {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    wanting = bare_pod("p", templates={"gpu": "one"})
    wanting["metadata"] |= known
    made = template("one", request())
    objects = [node("a"), slice_("a", "gpu-0"), device_class(), made, wanting]
    assert "would be bound to a now" in text(objects)  # the claims may be missing from the input
    made["metadata"] |= known
    said = " ".join(text(objects).split())
    assert "pod/default/p would be bound to a once its claim is created. kube-controller-manager creates it" in said
    assert "If that takes more than a few seconds" in said
    manager = placed("kcm-1", "b", namespace="kube-system", labels={"component": "kube-controller-manager"})
    crashing = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    unready = {"conditions": [{"type": "Ready", "status": "False"}]}
    container = {"name": "kcm", "ready": False, "state": crashing, "lastState": {"terminated": {"exitCode": 1}}}
    manager["status"] |= {**unready, "containerStatuses": [container]}
    said = " ".join(text([*objects, manager]).split())
    assert "creates it from template one. Container kcm of its pod kube-system/kcm-1 crashes (" in said
    assert "kubectl logs -n kube-system kcm-1 -c kcm --previous" in said
    leader = placed("kcm-2", "b", namespace="kube-system", labels={"component": "kube-controller-manager"})
    leader["status"]["startTime"] = "2026-01-01T00:00:59Z"
    assert "If that takes more than a few seconds" in text([*objects, manager, leader])
    leader["status"]["startTime"] = "2026-01-01T00:01:00Z"
    said = text([*objects, manager, leader])
    assert "The claim should have been created seconds after the pod." in said
    assert "kubectl get events -n default --field-selector reason=FailedResourceClaimCreation" in said
    del wanting["metadata"]["uid"]
    assert "would be bound to a now" in text(objects)
