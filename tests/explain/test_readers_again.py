"""More situations in which a reader got a wrong impression, or no next step; each is asked about as they did."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
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
    generated,
    gpus,
    manifest,
    mounts,
    node,
    owned_by,
    pod,
    priority_class,
    request,
    running,
    slice_,
    storage_class,
    taint,
    template,
    volume_claim,
    workload,
)

CONTROL_PLANE = {"taints": [taint("node-role.kubernetes.io/control-plane")]}


def text(objects: list[Object], owner: str = "pod/p", **options: Any) -> str:
    return str(Cluster.of(objects).explain(owner, **options))


def verdict(objects: list[Object], owner: str = "pod/p") -> Object:
    [found] = Cluster.of(objects).explain(owner).to_dict()["verdicts"]
    return found


def container(name: str = "c", **requests: str) -> Object:
    return {"name": name, "image": "x", "resources": {"requests": requests}}


def plugin(number: int, name: str = "nvidia.com/gpu") -> list[Object]:
    return [{**container(), "resources": {"requests": {name: str(number)}, "limits": {name: str(number)}}}]


# -- what the API server rejects of pods that are still to be made -----------------------------------------------------


@pytest.mark.parametrize(("there", "word"), [(0, "Refused"), (1, "Bound")])
def test_a_workload_of_a_cluster_whose_new_pods_are_refused(there: int, word: str) -> None:
    """Pods that are there already were taken, whatever has gone since."""
    objects = [node("a"), priority_class("golden", 5), deployment("w", pod("x", priorityClassName="gold"))]
    objects += [running("w-1", "a", metadata=owned_by(pod(), "Deployment", "w")["metadata"])] if there else []
    if there:
        objects[-1]["metadata"]["name"] = "w-1"
    assert verdict(objects, "deployment/w")["verdict"] == word
    if not there:
        assert text(objects, "deployment/w").startswith("deployment/default/w: the API server rejects its pods.\n")


STORAGE: Object = {"accessModes": ["ReadWriteOnce"], "storageClassName": "wait"}
STORAGE["resources"] = {"requests": {"storage": "5Gi"}}


def quota(**hard: str) -> Object:
    limits = {name.replace("_", "."): amount for name, amount in hard.items()}
    return manifest("ResourceQuota", "q", namespace="default", spec={"hard": limits}, status={"hard": limits})


def stateful(replicas: int = 1) -> Object:
    data = {"metadata": {"name": "data"}, "spec": STORAGE}
    return workload("StatefulSet", "db", pod("x"), replicas=replicas, volumeClaimTemplates=[data])


@pytest.mark.parametrize("hard", [{"persistentvolumeclaims": "1"}, {"requests_storage": "9Gi"}])
def test_a_quota_of_claims_on_volumes(hard: dict[str, str]) -> None:
    ground = [node("a"), storage_class(), volume_claim("old"), quota(**hard)]
    ephemeral = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": STORAGE}}}
    waiting = owned_by(pod("db-0", volumes=mounts("data-db-0")), "StatefulSet", "db")
    for objects, owner, name in (
        ([pod("p", volumes=[ephemeral])], "pod/p", "p-scratch"),
        ([stateful(2)], "statefulset/db", "data-db-0"),
        ([stateful(), waiting], "pod/db-0", "data-db-0"),
    ):
        found = verdict([*ground, *objects], owner)
        assert (found["verdict"], found["forbiddenClaim"]) == ("Refused", name)
        assert f'"{name}" is forbidden: exceeded quota: q' in found["message"]
    there = volume_claim("data-db-0")
    assert (
        verdict([node("a"), storage_class(), there, quota(**hard), stateful()], "statefulset/db")["verdict"]
        != "Refused"
    )


# -- nodes by reason ---------------------------------------------------------------------------------------------------


def test_domains_that_are_not_there_count_as_empty() -> None:
    spread = [{"maxSkew": 1, "topologyKey": ZONE, "minDomains": 3, "whenUnsatisfiable": "DoNotSchedule"}]
    spread[0]["labelSelector"] = {"matchLabels": {"app": "w"}}
    own: Object = {"labels": {"app": "w"}, "topologySpreadConstraints": spread}
    objects = [node(name, labels={ZONE: name}) for name in "ab"]
    objects += [*(running(f"w-{name}", name, **own) for name in "ab"), pod("p", **own)]
    assert "minDomains is 3 and there are only 2, so the emptiest counts as 0, and maxSkew is 1" in text(objects)


def affinity(kind: str, key: str, **labels: str) -> Object:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": key}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_terms_of_affinity_say_which_pods_they_mean() -> None:
    nodes = [node("a-1", labels={ZONE: "a"}), node("a-2", labels={ZONE: "a"})]
    one = running("k-0", "a-1", labels={"app": "k"})
    away = pod("p", affinity=affinity("podAntiAffinity", ZONE, app="k"))
    assert f"2 nodes (a-1, a-2): pod anti-affinity: pod default/k-0 (app=k) is in {ZONE}=a\n" in text(
        [*nodes, one, away]
    )
    near = pod("p", affinity=affinity("podAffinity", HOST, app="cache"))
    other = running("c", "a-1", labels={"app": "cache"}, namespace="data")
    said = text([*nodes, other, near])
    assert "no pod with app=cache on the same node; namespace data has such pods\n" in said
    guard = running("g", "a-1", affinity=affinity("podAntiAffinity", ZONE, app="p"))
    said = text([*nodes, guard, pod("p", labels={"app": "p"})])
    assert f"pod default/g keeps pods with app=p such as this one away from {ZONE}=a (its anti-affinity)\n" in said


def test_who_has_an_extended_resource_and_whose_plugin_is_down() -> None:
    down = node("b", **{"nvidia.com/gpu": "0"})
    down["status"]["capacity"] = {"nvidia.com/gpu": "4"}
    held = running("held", "a", containers=plugin(1))
    objects = [node("a", **{"nvidia.com/gpu": "2"}), down, held, bare_pod("p", containers=plugin(2))]
    said = text(objects)
    assert "  a: nvidia.com/gpu: needs 2, 1 of 2 free (default/held has the rest)\n" in said
    assert "  b: nvidia.com/gpu: needs 2, the device plugin offers 0 of 4 (it is down, or they are)\n" in said


def test_devices_of_extended_resources_say_who_has_them_and_which_have_taints() -> None:
    broken = device("gpu-2", taints=[taint("broken")])
    held = [allocated("held", "a/gpu-0", pod="r", on="a"), running("r", "a", claims={"x": "held"})]
    objects = [node("a"), device_class(extendedResourceName="x.com/gpu"), *held]
    objects += [slice_("a", device("gpu-0"), device("gpu-1"), broken), bare_pod("p", containers=plugin(2, "x.com/gpu"))]
    said = text(objects)
    assert (
        "  a: devices: x.com/gpu needs 2, 1 available (1 in use, by claim default/held (pod r); 1 device: taint broken"
        in said
    )


def test_devices_that_do_not_match_are_not_said_to_be_taken() -> None:
    asked = template("t", request("gpu", 'device.attributes["gpu.example.com"].model == "H100"'))
    made = slice_("a", *(device(f"gpu-{index}", model="A100") for index in range(4)))
    said = text([node("a"), device_class(), asked, made, pod("p", templates={"gpu": "t"})])
    assert "class gpu.example.com; none of the 4 devices matches.\n" in said


def test_the_control_plane_is_told_in_a_word_and_hides_no_story() -> None:
    objects = [node("cp", cpu="1", spec=CONTROL_PLANE), *gpus("a", each=1), template("t", request("gpu", count=2))]
    said = text([*objects, pod("p", cpu="2", templates={"gpu": "t"})])
    assert "  cp: taint node-role.kubernetes.io/control-plane:NoSchedule\n" in said
    assert "  a: devices: gpu needs 2, only 1 on it matches\n" in said
    alone = text([node("cp", cpu="1", spec=CONTROL_PLANE), pod("p", cpu="2")])
    assert "control-plane:NoSchedule; cpu: needs 2, 1 of 1 free\n" in alone


# -- init containers ---------------------------------------------------------------------------------------------------


SIDECAR = {**container("proxy", cpu="1"), "restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("init", "runs", "who", "lowered"),
    [
        ([container("warm", cpu="8")], "1", "8 (init container warm 8)", "6 instead of 8 cpu in container warm"),
        (
            [SIDECAR, container("warm", cpu="7")],
            "1",
            "8 (init container warm 7, sidecar proxy 1)",
            "5 instead of 7 cpu in container warm",
        ),
        ([SIDECAR], "7", "8 (container c 7, sidecar proxy 1)", "5 instead of 7 cpu in container c"),
        ([container("warm", cpu="2")], "8", "8", "6 instead of 8 cpu in container c"),
    ],
)
def test_who_asks_for_it(init: list[Object], runs: str, who: str, lowered: str) -> None:
    waiting = bare_pod("p", initContainers=init, containers=[container(cpu=runs)])
    said = text([node("a"), running("r", "a", cpu="2"), waiting])
    assert f"  a: cpu: needs {who}, 6 of 8 free (default/r requests 2)\n" in said
    assert f"1. ask for {lowered} (the pod then fits on a)\n" in said


# -- what is certain although the input lacks something ----------------------------------------------------------------


def test_a_class_that_does_not_exist_and_cpu_are_told_without_slices() -> None:
    asked = template("t", request("gpu", of="gpu.exmple.com"))
    objects = [node("a", cpu="1"), device_class(), asked, pod("p", cpu="2", templates={"gpu": "t"})]
    found = verdict(objects)
    assert (found["verdict"], found["missing"]) == ("Unschedulable", ["resourceslices"])
    said = text(objects).splitlines()[:8]
    assert any("gpu.exmple.com does not exist. Did you mean gpu.example.com?" in line for line in said)
    assert "  a: cpu: needs 2, 1 of 1 free" in said


def test_nodes_that_refuse_it_for_something_else_are_certain() -> None:
    asked = [device_class(), template("t", request("gpu"))]
    cordoned = node("a", spec={"unschedulable": True})
    with_devices = pod("p", templates={"gpu": "t"})
    assert verdict([cordoned, *asked, with_devices])["verdict"] == "Unschedulable"
    assert "  a: cordoned\n" in text([cordoned, *asked, with_devices])
    assert verdict([cordoned, node("b"), *asked, with_devices])["verdict"] == "Unknown"
    with_volume = pod("p", volumes=mounts("data"))
    assert verdict([cordoned, with_volume])["verdict"] == "Unschedulable"
    said = text([cordoned, with_volume])
    assert "  Whatever its volumes need, no node could take it (0 of 1):\n  a: cordoned\n" in said
    assert "not found" not in said
    assert verdict([cordoned, node("b"), with_volume])["verdict"] == "Unknown"


def test_a_node_that_preemption_may_free_is_not_certain() -> None:
    asked = [device_class(), template("t", request("gpu"))]
    full = [node("a"), bare_pod("r", containers=[container(cpu="8")], nodeName="a", priority=0)]
    waiting = pod("p", templates={"gpu": "t"}, priority=9)
    assert verdict([*full, *asked, waiting])["verdict"] == "Unknown"
    polite = pod("p", templates={"gpu": "t"}, priority=9, preemptionPolicy="Never")
    assert verdict([*full, *asked, polite])["verdict"] == "Unschedulable"
    tainted = node("a", spec={"taints": [{"key": "x", "effect": "NoSchedule"}]})
    assert verdict([tainted, full[1], *asked, waiting])["verdict"] == "Unschedulable"


def test_what_is_missing_is_said_once_with_a_command_that_fits() -> None:
    objects = [node("a"), template("t", request("gpu")), slice_("a", device("gpu-0")), pod("p", templates={"gpu": "t"})]
    found = Cluster.of(objects).explain("pod/p")
    assert str(found).count("kubectl get deviceclasses -o yaml") == 1
    volumes = [node("a", spec={"unschedulable": True}), pod("p", volumes=mounts("data"))]
    command = "kubectl get persistentvolumeclaims,persistentvolumes,storageclasses -A -o yaml"
    assert f"  Add the output of: {command}\n" in text(volumes)


def test_the_order_of_pools_matters_only_where_there_are_pools() -> None:
    def codes(objects: list[Object]) -> set[str]:
        warnings = Cluster.of(objects, kubernetes_version="1.34").explain("pod/p").to_dict()["warnings"]
        return {one["code"] for one in warnings}

    assert "order-random-upstream" not in codes([node("a"), pod("p")])
    devices = [*gpus("a"), template("t", request("gpu")), pod("p", templates={"gpu": "t"})]
    assert "order-random-upstream" not in codes(devices)
    assert "order-random-upstream" in codes([*devices, slice_("a", "nic-0", driver="nic.example.com")])


def test_a_request_that_a_limit_range_makes_is_named() -> None:
    limit = {"type": "Container", "defaultRequest": {"cpu": "3", "memory": "1Gi"}}
    defaults = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": {"limits": [limit]},
    }
    makes = workload("ReplicaSet", "w", bare_pod("x", containers=[{"name": "c", "image": "x"}]))
    said = text([node("a"), quota(**{"requests.cpu": "1"}), defaults, makes], "replicaset/w")
    assert "\n  exceeded quota: " in said
    assert "does not request cpu: LimitRange small sets 3.\n" in said
    assert "memory: LimitRange" not in said
    assert "  Request less, raise the quota, or delete objects that it counts.\n" in said
    assert "\n  Raise the quota, or delete" in text([node("a"), quota(pods="0"), makes], "replicaset/w")


# -- suggestions -------------------------------------------------------------------------------------------------------


def test_an_attribute_that_is_a_capacity_is_looked_for_there() -> None:
    domain = '["gpu.example.com"]'
    asked = request("gpu", f'device.attributes{domain}.memory.compareTo(quantity("40Gi")) >= 0')
    objects = [*gpus("a", each=0), claim("c", asked)]
    objects[2] = slice_("a", device("gpu-0", capacity={"memory": {"value": "80Gi"}}))
    said = text(objects, "resourceclaim/c")
    assert f'to device.capacity{domain}.memory.compareTo(quantity("40Gi")) >= 0 (the claim then fits on a)' in said


def test_a_device_with_a_taint_that_evicts_is_no_first_choice() -> None:
    broken = device("gpu-1", taints=[taint("xid", "79", effect="NoExecute")])
    objects = [node("a"), device_class(), slice_("a", device("gpu-0"), broken), template("t", request("gpu", count=2))]
    [first, second] = verdict([*objects, pod("p", templates={"gpu": "t"})])["suggestions"]
    assert [first["changes"][0]["code"], second["changes"][0]["code"]] == ["lower-count", "tolerate-taint"]


def test_another_value_is_taken_before_a_claim_is_released() -> None:
    asked = template("t", request("gpu", 'device.attributes["gpu.example.com"].model == "big"'))
    held = [allocated("held", "a/gpu-0", pod="r", on="a"), running("r", "a", claims={"x": "held"})]
    made = slice_("a", device("gpu-0", model="big"), device("gpu-1", model="small"))
    said = text([node("a"), device_class(), asked, made, *held, pod("p", templates={"gpu": "t"})])
    assert "\n  1. change the selector of request gpu" in said
    assert "\n  3. release claim default/held" in said


def test_a_shared_claim_says_which_devices_it_has() -> None:
    held = [allocated("held", "a/gpu-0", pod="r", on="a"), running("r", "a", claims={"x": "held"})]
    objects = [node("a", spec={"unschedulable": True}), node("b"), device_class(), slice_("a", device("gpu-0")), *held]
    said = text([*objects, pod("p", claims={"x": "held"})])
    assert "Claim default/held (pod r) already has gpu.example.com/a/gpu-0; this node cannot use this device.\n" in said


def test_a_label_is_suggested_with_the_name_of_the_node() -> None:
    term = {"matchExpressions": [{"key": "fabric", "operator": "In", "values": ["blue"]}]}
    made = slice_("blue", device("gpu-0"), nodeSelector={"nodeSelectorTerms": [term]})
    objects = [node("a"), device_class(), template("t", request("gpu")), made, pod("p", templates={"gpu": "t"})]
    assert "label node a fabric=blue (the pod then fits on a)\n" in text(objects)


def test_a_node_is_not_given_a_label_for_which_the_pod_then_refuses_it() -> None:
    devices = slice_("a", device("gpu-0"))
    del devices["spec"]["nodeName"]
    devices["spec"]["nodeSelector"] = {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]}]
    }
    objects = [node("a", labels={"rack": "r1"}), node("b", labels={"rack": "r2"}), device_class(), devices]
    objects += [template("t", request("gpu")), pod("p", nodeSelector={"rack": "r2"}, templates={"gpu": "t"})]
    assert "label-node" not in str(verdict(objects).get("suggestions"))


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tolerated", "said"),
    [
        (
            {"operator": "Equal", "value": "mll", "effect": "NoSchedule"},
            " (the pod tolerates dedicated=mll:NoSchedule)",
        ),
        ({"operator": "Exists", "effect": "NoExecute"}, " (the pod tolerates dedicated:NoExecute)"),
        (None, ""),
    ],
)
def test_what_the_pod_tolerates_instead(tolerated: Object | None, said: str) -> None:
    waiting = pod("p", tolerations=[{"key": "dedicated", **tolerated}] if tolerated else [])
    tainted = node("a", spec={"taints": [taint("dedicated", "ml")]})
    assert f"  a: taint dedicated=ml:NoSchedule{said}\n" in text([tainted, waiting])


def test_a_claim_on_a_volume_that_does_not_exist() -> None:
    objects = [node("a"), storage_class(), volume_claim("data"), pod("p", volumes=mounts("dta"))]
    assert "  PersistentVolumeClaim dta does not exist. Did you mean data?\n" in text(objects)


def test_a_claim_of_another_namespace() -> None:
    shared = claim("shared", request("gpu"), namespace="team-b")
    said = text([*gpus("a"), shared, pod("p", claims={"gpu": "shared"})])
    assert "not in the input. There are: team-b/shared, of another namespace.\n" in said
    own = [claim(name, request("gpu")) for name in ("other", "sharde")]
    said = text([*gpus("a"), *own, shared, pod("p", claims={"gpu": "shared"})])
    assert "There are: sharde, other and team-b/shared, of another namespace.\n" in said  # the most similar first


# -- a class that does not exist, of a generated claim -----------------------------------------------------------------


def misspelt(asked: Object, of: str) -> list[Object]:
    """A waiting pod with a claim generated from a template, both with this class."""
    made = generated("p", "gpu", "a", "gpu-0")
    wrong = claim(made["metadata"]["name"], request("gpu", of=of), metadata=made["metadata"])
    return [*gpus("a"), template("t", request("gpu", of=of)), wrong, asked]


def test_a_misspelt_class_is_corrected_in_the_template_of_a_generated_claim() -> None:
    said = text(misspelt(pod("p", templates={"gpu": "t"}), "gpu.exmple.com"))
    assert ", generated from template t, request gpu: device class gpu.exmple.com does not exist." in said
    assert "Correct the class in the template, and recreate template and pod.\n" in said
    assert "  1. ask for class gpu.example.com in request gpu of template t (the pod then fits on a)\n" in said
    assert "  Templates and claims cannot be edited. Delete and recreate the template," in said


def test_a_correction_that_does_not_help_is_not_suggested() -> None:
    said = text(misspelt(pod("p", cpu="900", templates={"gpu": "t"}), "gpu.exmple.com"))
    assert "Did you mean gpu.example.com?" in said
    assert "ask for class" not in said


def test_a_misspelt_class_of_a_claim_is_corrected_in_the_claim() -> None:
    asked = [claim("c", request("gpu", of="gpu.exmple.com")), pod("p", claims={"gpu": "c"})]
    said = text([*gpus("a"), *asked])
    assert "  1. ask for class gpu.example.com in request gpu of claim c (the pod then fits on a)\n" in said
    assert "template" not in said.partition("Changes that would")[0]


# -- nodes of one kind, each held by other claims ----------------------------------------------------------------------


def test_any_holder_on_any_node_of_a_group_may_be_released_and_those_with_fewer_devices_come_first() -> None:
    held = [
        allocated("big", "a/gpu-0", "a/gpu-1", on="a"),
        *(allocated(f"s{at}", f"b/gpu-{at}", on="b") for at in (0, 1)),
    ]
    asked = [template("t", request("gpu")), pod("p", templates={"gpu": "t"})]
    said = text([*gpus("a", "b"), *held, *asked])
    assert "1. release any one of these 3 claims, which no pod uses: " in said
    order = said.partition("which no pod uses: ")[2].splitlines()[0]
    assert order.index("s0") < order.index("s1") < order.index("big")


def test_the_example_of_nodes_that_fit_is_the_node_that_the_scheduler_chooses() -> None:
    """The devices that are shown are those that the pod gets."""
    busy = running("busy", "a", cpu="5")
    wants = pod("wants", templates={"gpu": "one"})
    cluster = Cluster.of([*gpus("a", "b", "c"), template("one", request()), busy, wants])
    found = cluster.explain("pod/wants")
    [verdict] = found.verdicts
    assert verdict.node_name != "a"
    [told] = [story for story in found.document.claim_sets[0].stories if story.outcome.value == "Fits"]
    assert told.nodes[0] == verdict.node_name
    assert sorted(told.nodes) == ["a", "b", "c"]
    assert {choice.device.pool for choice in told.choices} == {verdict.node_name}
