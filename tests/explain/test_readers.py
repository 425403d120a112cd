"""Situations in which a reader who had not seen the tool got a wrong impression; each is asked about as they did."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster, explain
from dra_plan.near import the_nearest
from tests.build import (
    HOST,
    ZONE,
    Object,
    allocated,
    bare_pod,
    claim,
    deployment,
    device,
    device_class,
    gpus,
    manifest,
    match,
    mounts,
    node,
    owned_by,
    placed,
    pod,
    priority_class,
    request,
    running,
    slice_,
    storage_class,
    taint,
    template,
    volume,
    volume_claim,
    workload,
)

CONTROL_PLANE = taint("node-role.kubernetes.io/control-plane")


def asks(**resources: str) -> list[Object]:
    return [{"name": "app", "resources": {"requests": resources}}]


def text(objects: list[Object], *owners: str, **options: Any) -> str:
    return str(Cluster.of(objects).explain(*owners, **options))


# -- volumes -----------------------------------------------------------------------------------------------------------


def test_without_claims_on_volumes_nothing_is_known() -> None:
    """A dump that forgot them: the scheduler of the cluster never said that the claim does not exist."""
    objects = [node("a"), bare_pod("p", volumes=mounts("data"))]
    told = Cluster.of(objects).explain("pod/p")
    [verdict] = told.document.verdicts
    assert (verdict.verdict, verdict.missing) == (
        "Unknown",
        ["persistentvolumeclaims", "persistentvolumes", "storageclasses"],
    )
    assert "The scheduler says" not in str(told)
    assert "volumes-missing" in {one.code for one in told.document.warnings}
    assert "persistentvolumeclaims,persistentvolumes,storageclasses -A" in str(told)
    others = [*objects, volume_claim("other"), storage_class()]
    assert Cluster.of(others).explain("pod/p").document.verdicts[0].verdict == "Unschedulable"


def test_a_misspelt_storage_class_is_named() -> None:
    objects = [node("a"), storage_class("gp3-fast"), volume_claim("data", of="gp3-fats")]
    said = text([*objects, bare_pod("p", volumes=mounts("data"))], "pod/p")
    assert (
        "  PersistentVolumeClaim data: StorageClass gp3-fats does not exist. Did you mean gp3-fast? The class" in said
    )


def test_where_a_class_makes_volumes_is_said() -> None:
    zone = {"topology.kubernetes.io/zone": ["d"]}
    objects = [node("a"), storage_class("only-d", "csi.example.com", "WaitForFirstConsumer", zone)]
    said = text([*objects, volume_claim("data", of="only-d"), bare_pod("p", volumes=mounts("data"))], "pod/p")
    makes = "StorageClass only-d makes it only on nodes with topology.kubernetes.io/zone=d"
    assert f"a: claim data cannot get a volume there: {makes}\n" in said
    assert said.count("only-d") == 1
    bound = [volume("pv", phase="Bound", on="old"), volume_claim("data", bound="pv"), node("old", cpu="0")]
    said = text([node("a"), *bound, pod("p", volumes=mounts("data"))], "pod/p")
    assert f"a: the volume of claim data cannot be used there: volume pv is only for nodes with {HOST}=old\n" in said
    assert said.count("volume pv") == 1


# -- what the API server rejects ---------------------------------------------------------------------------------------


def failing(replicas: int = 2) -> Object:
    made = deployment("runner", bare_pod("x"), replicas)
    condition = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": 'pods "runner-1-" is forbidden: serviceaccount "runner" not found',
    }
    return {**made, "status": {"conditions": [condition]}}


def test_pods_that_the_cluster_could_not_make_are_no_yes() -> None:
    told = Cluster.of([node("a"), failing()]).explain("deploy/runner")
    assert told.document.verdicts[0].verdict == "Refused"
    assert 'The cluster last said: pods "runner-1-" is forbidden' in str(told)
    without = {key: value for key, value in failing().items() if key != "status"}
    assert Cluster.of([node("a"), without]).explain("deploy/runner").document.verdicts[0].verdict == "WouldBind"


def admin(stored: bool, **labels: str) -> list[Object]:
    made = template("t", request(adminAccess=True))
    if stored:
        made["metadata"].update({"uid": "u-t", "resourceVersion": "7"})
    namespace = manifest("Namespace", "default", metadata={"labels": labels})
    return [*gpus("a"), namespace, made, pod("p", templates={"gpu": "t"})]


def test_claims_that_are_still_to_be_made_from_a_template_are_checked() -> None:
    """The template was let in once; its namespace has no label for admin access now, so no claim comes of it."""
    for stored in (True, False):
        told = Cluster.of(admin(stored)).explain("pod/p").document
        assert [one.code for one in told.verdicts[0].findings] == ["DRA205"], stored
        labelled = Cluster.of(admin(stored, **{"resource.kubernetes.io/admin-access": "true"})).explain("pod/p")
        assert labelled.document.verdicts[0].verdict == "WouldBind"


# -- controllers and preemption ----------------------------------------------------------------------------------------


def kafka(ready: str) -> list[Object]:
    made = workload("StatefulSet", "kafka", bare_pod("x"), replicas=3)
    first = owned_by(placed("kafka-0", "a"), "StatefulSet", "kafka")
    first["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
    return [node("a"), made, first]


def test_an_ordered_set_says_for_whom_it_waits() -> None:
    said = text(kafka("False"), "sts/kafka")
    assert "1 of its 3 pods exists; its controller creates the next one when kafka-0 is ready.\n" in said
    assert "  Pod default/kafka-0 on a is not ready.\n" in said
    objects = kafka("False")
    last = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
    objects[-1]["status"]["containerStatuses"] = [{"name": "c", "state": waiting, "lastState": last}]
    assert "  Pod default/kafka-0 on a is not ready (CrashLoopBackOff: " in text(objects, "sts/kafka")


def test_a_pod_whose_victims_are_leaving_waits_for_them() -> None:
    victim = bare_pod("low", nodeName="a", containers=asks(cpu="8"))
    victim["metadata"].update({"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30})
    victim["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    urgent = bare_pod("urgent", containers=asks(cpu="8"), priorityClassName="high", priority=1000)
    urgent["status"] = {"phase": "Pending", "nominatedNodeName": "a"}
    objects = [node("a", cpu="8"), priority_class("high", 1000), victim, urgent]
    told = Cluster.of(objects).explain("pod/urgent")
    assert (told.document.verdicts[0].verdict, told.document.verdicts[0].held_by) == ("Held", "Preemption")
    without = {**urgent, "status": {"phase": "Pending"}}
    assert Cluster.of([*objects[:-1], without]).explain("pod/urgent").document.verdicts[0].verdict != "Held"


# -- suggestions, names, order -----------------------------------------------------------------------------------------


def test_no_suggestion_has_a_needless_half_and_none_opens_the_control_plane() -> None:
    objects = [
        node("a", cpu="5"),
        node("cp", spec={"taints": [CONTROL_PLANE]}, cpu="4"),
        bare_pod("p", containers=asks(cpu="6")),
    ]
    [verdict] = Cluster.of(objects).explain("pod/p").document.verdicts
    assert [[change.code for change in one.changes] for one in verdict.suggestions] == [["lower-request"]]
    assert [group.nodes for group in verdict.nodes] == [["a"], ["cp"]], "what is kept for the control plane comes last"


def test_near_values_are_named_only_if_one_is_nearest() -> None:
    assert the_nearest("sdd", ["hdd", "ssd"]) is None
    assert the_nearest("ssdd", ["hdd", "ssd"]) == "ssd"
    assert the_nearest("eu-west-1d", ["eu-west-1a", "eu-west-1b"]) is None


def test_an_idle_claim_out_of_reach_does_not_contradict_the_verdict() -> None:
    """kube-scheduler deallocates it and binds at the second attempt."""
    mine = allocated("mine", "a/gpu-0", on="a")
    objects = [*gpus("a", "b"), mine, pod("p", claims={"gpu": "mine"})]
    cordoned = [node("a", spec={"unschedulable": True}) if one["metadata"]["name"] == "a" else one for one in objects]
    told = Cluster.of(cordoned).explain("pod/p")
    assert told.document.verdicts[0].verdict == "WouldBind"
    assert "does not fit" not in str(told)
    assert "kube-scheduler frees them first" in str(told)


def test_where_classes_or_slices_are_missing_nothing_is_said_of_devices() -> None:
    for objects in ([node("a"), device_class()], [node("a"), slice_("a", device("gpu-0"))]):
        said = str(explain([*objects, claim("c"), pod("p", claims={"gpu": "c"})]))
        assert "unknown whether a node can take it" in said
        assert "does not exist" not in said
        assert "No resource slice offers" not in said


def test_a_pod_that_its_kubelet_has_not_started() -> None:
    """kubectl calls it Pending, and the scheduler has nothing to do with it any more."""
    waits = {"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off\npulling"}}}
    status = {"phase": "Pending", "containerStatuses": [waits, {"name": "d", "state": {"running": {}}}]}
    objects = [node("a"), running("p", "a") | {"status": status}]
    [owner] = explain(objects, "pod/p").to_dict()["unplanned"]
    assert [each["reason"] for each in owner["waiting"]] == ["ImagePullBackOff"]
    assert "has not started container c: ImagePullBackOff (Back-off pulling)." in str(explain(objects, "pod/p"))
    objects[1]["status"]["phase"] = "Running"
    assert "has not started container c: ImagePullBackOff (Back-off pulling)." in str(explain(objects, "pod/p"))


def test_what_is_being_deleted_says_which_finalizers_keep_it() -> None:
    gone = running("p", "a")
    gone["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x.io/one", "x.io/two"]}
    assert "It exists until its finalizers are removed: x.io/one and x.io/two." in str(
        explain([node("a"), gone], "pod/p")
    )


def test_a_suggestion_names_the_template_that_has_to_be_edited() -> None:
    objects = [*gpus("a", each=1), template("two", request("r", count=2)), pod("p", templates={"g": "two"})]
    assert "ask for 1 instead of 2 in request r of template two" in str(explain(objects, "pod/p"))
    made = [*gpus("a", each=1), claim("p-g", request("r", count=2)), pod("p", claims={"g": "p-g"})]
    assert "in request r of claim p-g" in str(explain(made, "pod/p"))


def test_devices_do_not_fit_where_the_claim_is_an_error() -> None:
    """More devices than a claim may have: the scheduler meets the error only on nodes that have other room."""
    full = [node("a", pods="0"), *gpus("a", each=1)[2:], device_class()]
    text = str(explain([*full, claim("c", request("r", count=64)), pod("p", claims={"c": "c"})], "pod/p"))
    assert "exceeds the claim limit of 32" in text
    assert "devices fit" not in text


def test_what_differs_between_nodes_is_not_told_of_all() -> None:
    """Each node's port is taken by another pod, each has its own keeper away, each zone its own number."""
    port = {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
    apart = [node(name, labels={ZONE: f"z{name}"}) for name in ("a", "b")]
    held = [placed(f"p{name}", name, **port) for name in ("a", "b")]
    text = str(explain([*apart, *held, pod("new", **port)], "pod/new"))
    assert "2 nodes (a, b): host port 80/TCP is taken by pods default/pa and default/pb" in text
    one = str(explain([apart[0], held[0], pod("new", **port)], "pod/new"))
    assert "host port 80/TCP is taken by pod default/pa" in one
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": HOST}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    labels = {"app": "x"}
    held = [placed(f"p{name}", name, labels=labels) for name in ("a", "b")]
    text = str(explain([*apart, *held, pod("new", labels=labels, affinity=anti)], "pod/new"))
    assert "pod anti-affinity: each already has a pod with app=x (a: default/pa)" in text


def test_the_emptiest_domain_is_named() -> None:
    zones = [node(name, labels={ZONE: f"z{name}"}, spec={"unschedulable": name == "c"}) for name in "abc"]
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}},
            "nodeTaintsPolicy": "Ignore",
        }
    ]
    held = [placed(f"p{name}", name, labels={"app": "x"}) for name in "ab"]
    text = str(explain([*zones, *held, pod("new", labels={"app": "x"}, topologySpreadConstraints=spread)], "pod/new"))
    assert f"too many pods with app=x in their {ZONE} (za has 1), zc has only 0, and maxSkew is 1" in text


def test_what_is_in_the_way_besides_what_holds_it() -> None:
    gate = {"schedulingGates": [{"name": "x.io/gate"}]}
    [verdict] = explain([node("a"), pod("p", cpu="99", **gate)], "pod/p").to_dict()["verdicts"]
    assert verdict["verdict"] == "Held"
    freed = verdict["freed"]
    assert (freed["verdict"], freed["nodes"][0]["nodes"], verdict.get("nodes", [])) == ("Unschedulable", ["a"], [])
    text = str(explain([node("a"), pod("p", cpu="99", **gate)], "pod/p"))
    assert "Without the gate, no node could take it (0 of 1):\n  a: cpu: needs 99, 8 of 8 free" in text
    assert "Without the gate, it would be bound to a now." in str(explain([node("a"), pod("p", **gate)], "pod/p"))
    other = [node("a"), pod("p", schedulerName="volcano")]
    assert "If kube-scheduler scheduled it, it would be bound to a now." in str(explain(other, "pod/p"))
    lacking = [*gpus("a"), pod("p", cpu="99", claims={"g": "none"})]
    assert "Besides, no node could take it (0 of 1):\n  a: cpu: needs 99" in str(explain(lacking, "pod/p"))
    assert "Besides" not in str(explain([*gpus("a"), pod("p", claims={"g": "none"})], "pod/p"))


def test_what_is_in_the_way_besides_volumes_that_refuse_all_nodes() -> None:
    """The reasons that add up to the message stay apart from those that are found without the volumes."""
    at_once = [storage_class("gp3", mode="Immediate"), volume_claim("data", of="gp3")]
    world = [node("a"), node("b"), *at_once]
    wants = {"labels": {"app": "x"}, "volumes": mounts("data"), "nodeSelector": {"pool": "h100"}}
    objects = [*world, pod("p", cpu="99", **wants)]
    [verdict] = explain(objects, "pod/p").to_dict()["verdicts"]
    assert verdict["message"].startswith("0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
    assert [reason["plugin"] for reason in verdict["nodes"][0]["reasons"]] == ["VolumeBinding"]
    [group] = verdict["freed"]["nodes"]
    assert [reason["plugin"] for reason in group["reasons"]] == ["NodeAffinity", "NodeResourcesFit"]
    unbound = "  PersistentVolumeClaim data has no volume yet: provisioner csi.example.com has to create it"
    assert text(objects, "pod/p").splitlines()[:6] == [
        "pod/default/p is Pending: no node can take it (0 of 2).",
        "  The scheduler says: pod has unbound immediate PersistentVolumeClaims",
        f"{unbound} (StorageClass gp3). Its messages: kubectl describe pvc data -n default",
        "  Without its volumes, no node could take it (0 of 2):",
        "  2 nodes (a, b): wants pool=h100, has no label pool; cpu: needs 99, 8 of 8 free",
        "  Waiting will not help: it requests 99 cpu, and no node has more than 8.",
    ]
    told = text([*world, pod("p", volumes=mounts("data"))], "pod/p").splitlines()
    assert "  Without its volumes, it would be bound to a now." in told
    ephemeral = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    told = text([*world, pod("p", cpu="9", volumes=ephemeral)], "pod/p").splitlines()
    assert "  Without its volumes, no node could take it (0 of 2):" in told


def test_volumes_of_which_nothing_is_known_decide_only_where_nothing_else_does() -> None:
    objects = [node("a"), pod("p", cpu="99", volumes=mounts("data"))]
    [found] = explain(objects, "pod/p").document.verdicts
    assert (found.verdict, found.scheduled, found.missing[0]) == (*["Unschedulable"] * 2, "persistentvolumeclaims")
    assert found.freed is not None
    [found] = explain([node("a"), pod("p", volumes=mounts("data"))], "pod/p").document.verdicts
    assert (found.verdict, found.freed) == ("Unknown", None)


def test_a_generated_claim_is_changed_in_its_template() -> None:
    """A claim can't be edited: the patches change its template, and the claim as it is made anew."""
    asks = template("two", request("r", count=2))
    made = claim("p-g-x1y2z", request("r", count=2))
    made["metadata"] |= {
        "annotations": {"resource.kubernetes.io/pod-claim-name": "g"},
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": "p",
                "uid": "u-p",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    waiting = pod("p", templates={"g": "two"})
    waiting["status"] = {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": "p-g-x1y2z"}]}
    answer = explain([*gpus("a", each=1), asks, made, waiting], "pod/p")
    [first] = answer.to_dict()["claimSets"][0]["suggestions"][:1]
    assert first["changes"][0]["claim"]["template"] == "two"
    assert [each["object"]["kind"] for each in first["patches"]] == ["ResourceClaim", "ResourceClaimTemplate"]
    assert "in request r of template two" in str(answer)
    assert (
        "Delete and recreate the template, then delete the pod (and create it again if it has no controller)."
        in str(answer)
    )


def test_extended_resources_have_their_names() -> None:
    """Not those of the requests that the scheduler makes of them; only a class of the same vendor may serve them."""
    [of_class, *rest] = gpus("a", each=1)
    of_class["spec"]["extendedResourceName"] = "example.com/gpu"
    asking = pod("p", requests={"example.com/gpu": "2"})
    text = str(explain([of_class, *rest, asking], "pod/p"))
    assert "example.com/gpu needs 2" in text
    assert "container-0" not in text
    del of_class["spec"]["extendedResourceName"]
    one = pod("p", requests={"example.com/gpu": "1"})
    answer = explain([of_class, *rest, one], "pod/p")
    assert "have class gpu.example.com serve example.com/gpu (its extendedResourceName)" in str(answer)
    assert "have class" not in str(explain([of_class, *rest, pod("p", requests={"x.io/gpu": "1"})], "pod/p"))
    [_, suggestion] = answer.to_dict()["verdicts"][0]["suggestions"]
    assert suggestion["patches"][0]["patch"] == [
        {"op": "add", "path": "/spec/extendedResourceName", "value": "example.com/gpu"}
    ]


def test_a_misspelt_affinity_is_mended_and_no_provider_label_set() -> None:
    wants = {"key": "cloud.google.com/gke-nodepool", "operator": "In", "values": ["high-mem-pool"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wants]}]}
    near = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    objects = [node("a", labels={wants["key"]: "highmem-pool"}), pod("p", affinity=near)]
    [suggestion] = explain(objects, "pod/p").to_dict()["verdicts"][0]["suggestions"]
    assert suggestion["changes"] == [
        {"code": "change-node-selector", "label": wants["key"], "from": "high-mem-pool", "to": "highmem-pool"}
    ]
    wants["values"] = ["other"]
    assert "label node" not in str(explain(objects, "pod/p"))


def test_amounts_are_compared_in_one_unit() -> None:
    text = str(explain([node("a", memory="8121672Ki"), pod("p", memory="12Gi")], "pod/p"))
    assert "memory: needs 12Gi, 7.7Gi of 7.7Gi free" in text
    assert "ask for 7931Mi instead of 12Gi memory" in text


def test_only_the_claim_is_refused() -> None:
    """The pod is there; what the API server rejects is the claim that is to be made for it."""
    asks = template("admin", request("r", adminAccess=True))
    objects = [*gpus("a"), manifest("Namespace", "default"), asks, pod("p", templates={"g": "admin"})]
    assert str(explain(objects, "pod/p")).startswith("pod/default/p: the API server rejects its claim.")


def test_a_cause_with_a_holder_stands_apart_from_one_without() -> None:
    """On one node the matching pair is in use, on the other there is none: no release helps there."""
    root = "gpu.example.com/root"
    pair = [
        request("one", 'device.attributes["gpu.example.com"].kind == "gpu"'),
        request("two", 'device.attributes["gpu.example.com"].kind == "nic"'),
    ]

    def on(name: str, *roots: str) -> Object:
        kinds = ("gpu", "nic", "gpu", "nic")
        made = [
            device(f"d{number}", kind=kind, root=of) for number, (kind, of) in enumerate(zip(kinds, roots, strict=True))
        ]
        return slice_(name, *made)

    objects = [
        device_class(),
        node("a"),
        node("b"),
        on("a", "1", "1", "2", "3"),
        on("b", "1", "2", "3", "4"),
        allocated("held", "a/d0"),
        claim("c", *pair, constraints=[match(root)]),
    ]
    stories = explain(objects).to_dict()["claimSets"][0]["stories"]
    assert [each["nodes"] for each in stories] == [["a"], ["b"]]
