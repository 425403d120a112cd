"""`impact`: who ends and when, who gets a place, what is lost although nobody ends."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from dra_plan import Cluster
from dra_plan.errors import UsageError
from dra_plan.questions.impact.gate import JUDGE
from dra_plan.text.gate import Gate, Verdict
from tests.build import (
    GPU,
    deployment,
    device,
    device_class,
    generated,
    gpus,
    manifest,
    owned,
    pod,
    request,
    running,
    slice_,
    taint,
    taint_rule,
    template,
    workload,
)
from tests.cli.running import in_process

Plain = dict[str, Any]
FIXTURE = "examples/impact/cluster.yaml"
CHANGES = Path("examples/impact/changes")
FLEET = [*gpus("a", "b", each=1), template("one", request())]
EVICTS = taint("bad", effect="NoExecute")


def runs(name: str, where: str, **metadata: Any) -> list[Plain]:
    made = running(
        name, where, f"{name}-gpu-x7k2p", templates={"gpu": "one"}, metadata={"uid": f"u-{name}", **metadata}
    )
    return [made, generated(name, "gpu", where, "gpu-0")]


def of(objects: list[Plain], *change: Plain, **gates: bool) -> Any:
    return Cluster.of(objects, feature_gates=gates or None).impact(Cluster.of(list(change)))


def fails(found: Any) -> bool:
    return Verdict.FAILED in JUDGE.all_verdicts(Gate(), found.document)


def effects(found: Any) -> dict[str, str]:
    return {each.name: each.effect for each in found}


def tainted(where: str) -> Plain:
    return slice_(where, device("gpu-0", taints=[EVICTS]))


def test_a_bare_pod_ends_for_good_and_a_controlled_one_is_placed_again() -> None:
    assert effects(of([*FLEET, *runs("bare", "a")], tainted("a"))) == {"bare": "Gone"}
    serves = runs("serve", "a", **owned("ReplicaSet", "serve"))
    assert effects(of([*FLEET, *serves], tainted("a"))) == {"serve": "Moves"}
    assert effects(of([*FLEET, *serves, *runs("other", "b")], tainted("a"))) == {"serve": "WithoutPlace"}


def test_a_pod_that_gets_other_devices_of_its_node_stays_there() -> None:
    objects = [*gpus("a", each=2), template("one", request()), *runs("serve", "a", **owned("ReplicaSet", "serve"))]
    rule = taint_rule("recall", EVICTS, pool="a", device="gpu-0")
    found = of(objects, rule)
    assert effects(found) == {"serve": "Restarts"}


@pytest.mark.parametrize(
    ("cluster", "written", "is_served"),
    [("1.35", "v1alpha3", True), ("1.35", "v1beta2", False), ("1.36", "v1beta2", True), ("1.37", "v1", True)],
)
def test_objects_are_written_to_the_cluster_s_release(cluster: str, written: str, is_served: bool) -> None:
    objects = [*FLEET, *runs("serve", "a", **owned("ReplicaSet", "serve"))]
    rule = taint_rule("recall", EVICTS, pool="a") | {"apiVersion": f"resource.k8s.io/{written}"}
    asked = Cluster.of(objects, kubernetes_version=cluster).serving({})
    found = asked.impact(Cluster.of([rule])).document
    assert [each.effect for each in found.pods] == (["Moves"] if is_served else [])
    assert (found.refusals is UNSET) is is_served
    codes = {each.code for each in found.warnings}
    assert ("taint-rules-taken-as-on" in codes) is (is_served and cluster != "1.37")


def test_a_toleration_says_when() -> None:
    tolerant = request(tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}])
    objects = [*FLEET[:-1], template("one", tolerant), *runs("slow", "a")]
    objects[-1]["spec"]["devices"]["requests"] = [tolerant]
    objects[-1]["status"]["allocation"]["devices"]["results"][0]["tolerations"] = tolerant["exactly"]["tolerations"]
    [found] = of(objects, tainted("a"))
    assert found.after.ended.second == 300


def test_a_rule_says_that_rules_are_served() -> None:
    rule = taint_rule("recall", EVICTS, pool="a")
    assert effects(of([*FLEET, *runs("bare", "a")], rule)) == {"bare": "Gone"}
    assert effects(of([*FLEET, *runs("bare", "a")], rule, DRADeviceTaintRules=False)) == {}


def test_what_waits_may_start_or_no_longer_do_so() -> None:
    waits = pod("waits", templates={"gpu": "one"})
    full = [*FLEET, *runs("one", "a"), *runs("two", "b"), waits]
    assert effects(of(full, slice_("b", "gpu-0", "gpu-1"))) == {"waits": "Starts"}
    assert effects(of([*FLEET, *runs("one", "a"), waits], slice_("b"))) == {"waits": "NoLongerStarts"}


def test_a_new_pod_that_gets_no_node_fails() -> None:
    full = [*FLEET, *runs("one", "a"), *runs("two", "b")]
    found = of(full, pod("late", templates={"gpu": "one"}))
    assert effects(found) == {"late": "Waits"}
    assert str(found).startswith("1 new pod: 1 without a node.")
    assert fails(found)


def test_a_quota_that_is_less_than_what_is_used() -> None:
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": "1", "count/pods": "5"}})
    found = of([*FLEET, *runs("one", "a"), *runs("two", "b")], quota)
    assert [(each.resource, each.used, each.hard) for each in found.quotas] == [
        ("pods", "2", "1"),
        ("count/pods", "2", "5"),
    ]
    assert [each.exceeded for each in found.quotas] == [True, False]
    assert "Usage exceeds quota default/q: running pods are not terminated, but no new pod is admitted." in str(found)
    assert fails(found)
    assert not list(found)


def test_a_class_that_is_edited_ends_nobody_and_is_a_loss() -> None:
    found = of([*FLEET, *runs("one", "a")], device_class(GPU, "false"))
    assert not list(found)
    assert [each.lost for each in found.document.selectors] == [True]


def test_nothing() -> None:
    assert str(of(FLEET, FLEET[0])).startswith("Nothing changes for any pod, claim or selector.")


# The command


def ran(change: str, *more: str) -> Any:
    return in_process("impact", "-f", str(CHANGES / f"{change}.yaml"), FIXTURE, *more)


@pytest.mark.parametrize("form", ["table", "wide", "markdown", "name", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    golden(Path(__file__).parent / "golden" / f"recall.{form}", ran("recall", "-o", form).out)


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("change", ["driver-2", "quota", "recall"])
def test_tables_of_changes(change: str, columns: str, golden: Any) -> None:
    found = in_process("impact", "-f", str(CHANGES / f"{change}.yaml"), FIXTURE, COLUMNS=columns)
    assert found.status == 1
    golden(Path(__file__).parent / "golden" / f"{change}-{columns}.table", found.out)


def test_what_is_wrong_is_a_usage_error() -> None:
    assert in_process("impact", FIXTURE).err.startswith("error: give the objects to apply with -f FILE")
    assert in_process("impact", "-f", str(CHANGES / "recall.yaml")).status == 2
    assert in_process("impact", "-f", "nowhere.yaml", FIXTURE).status == 2


def test_only_the_pods_that_are_named_are_told() -> None:
    told = json.loads(ran("recall", "pod/notebook", "-o", "json").out)
    assert [each["name"] for each in told["pods"]] == ["notebook"]


def test_what_changes_nothing_is_no_failure() -> None:
    found = in_process("impact", "-f", FIXTURE, FIXTURE)
    assert (found.status, found.out.splitlines()[0]) == (0, "Nothing changes for any pod, claim or selector.")


def test_there_is_a_page(tmp_path: Path) -> None:
    page = tmp_path / "impact.html"
    assert ran("recall", "--report", f"html={page}").status == 1
    assert "2 running pods are terminated" in page.read_text()


UPGRADE = "fixtures/upgrade"


def test_an_upgrade_is_a_change_too() -> None:
    found = Cluster.load(UPGRADE).impact(to_kubernetes_version="1.37")
    assert effects(found) == {"train": "NoLongerStarts"}
    assert (found.document.upgraded_from.release, found.document.target.release) == ("1.36.3", "1.37.0")
    assert "Before: Kubernetes 1.36.3. After: Kubernetes 1.37.0" in str(found)
    same = Cluster.load(UPGRADE).impact(to_kubernetes_version="1.36.3")
    assert (len(same), "upgradedFrom" in same.to_dict()) == (0, False)


def test_an_upgrade_evicts_what_a_rule_did_not_before() -> None:
    rule = taint_rule("recall", EVICTS, pool="a")
    cluster = Cluster.of([*FLEET, *runs("bare", "a"), rule], kubernetes_version="1.36")
    assert effects(cluster.impact(to_kubernetes_version="1.37")) == {"bare": "Gone"}
    assert effects(cluster.impact(Cluster.of([rule]), to_kubernetes_version="1.37")) == {"bare": "Gone"}
    assert effects(cluster.impact(Cluster.of([rule]))) == {}


def test_what_changes_is_objects_or_a_release() -> None:
    with pytest.raises(UsageError, match="nothing would change"):
        Cluster.load(UPGRADE).impact()
    assert in_process("impact", UPGRADE).status == 2
    assert in_process("impact", UPGRADE, "--to-kubernetes-version", "1.37").status == 1
    assert in_process("impact", UPGRADE, "--to-kubernetes-version", "newest").status == 2


@pytest.mark.parametrize("form", ["table", "markdown", "name"])
def test_what_it_prints_of_an_upgrade(form: str, golden: Any) -> None:
    ran = in_process("impact", UPGRADE, "--to-kubernetes-version", "1.37", "-o", form)
    golden(Path(__file__).parent / "golden" / f"upgrade.{form}", ran.out)


# What is not known


def test_without_the_class_nothing_is_said_to_be_lost() -> None:
    waits = pod("waits", templates={"gpu": "one"})
    whole = [*FLEET, *runs("one", "a"), waits]
    lacking = [each for each in whole if each["kind"] != "DeviceClass"]
    found = of(lacking, slice_("b", "gpu-0", "gpu-1"))
    assert effects(found) == {"waits": "Undecided"}
    assert "Undecided: the input lacks the objects needed to decide this." in str(found)
    between = Cluster.of(whole).diff(Cluster.of(lacking))
    assert {one.change for one in between.claim_sets} == {"Undecided"}
    assert "changes there are unknown: the input lacks the objects needed to decide this." in str(between)
    drains = Cluster.of(lacking).drain_each()
    assert all(lost.undecided for each in drains for lost in each.lost)


# What changes for devices, and what the API server does not take


def test_a_selector_that_stops_with_an_error_fails_though_it_matches_as_much() -> None:
    """One device lacks an attribute that the class reads: a pod that asks for the class gets no node anywhere."""
    reads = device_class(GPU, f'device.attributes["{GPU}"].model == "A"')
    bare = [each for each in FLEET if each["kind"] not in ("DeviceClass", "ResourceSlice")]
    named = [slice_(name, device("gpu-0", model="A")) for name in ("a", "b")]
    change = slice_("b", device("gpu-0", model="A"), device("gpu-1", size="1"))
    found = of([reads, *bare, *named, pod("waits", templates={"gpu": "one"})], change)
    [selector] = found.document.selectors
    assert (selector.before, selector.after, selector.erring, selector.stops) == (2, 2, 1, True)
    assert "fails with an error on 1 device of b (no such key: model)" in str(found)
    assert fails(found)
    unused = of([reads, *bare, *named], change)
    assert not any(each.stops for each in unused.document.selectors)


def test_a_pool_with_more_slices_than_it_says_offers_nothing() -> None:
    found = of(FLEET, slice_("b", "gpu-0", name="b-again"))
    assert [(each.pool, each.slices, each.stated) for each in found.document.broken_pools] == [("b", 2, [1])]
    assert "Pool gpu.example.com/b has 2 slices, and they say that it has 1: none of its devices" in str(found)
    assert fails(found)


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ({"driver": "gpu.exmaple.com"}, "no driver is called gpu.exmaple.com (did you mean gpu.example.com?)"),
        ({"pool": "nowhere"}, "no pool is called nowhere"),
        ({"pool": "a", "device": "gpu-7"}, "no device is called gpu-7 (did you mean gpu-0?)"),
    ],
)
def test_a_rule_that_reaches_no_device_is_warned_of(selector: dict[str, str], said: str) -> None:
    found = of([*FLEET, *runs("one", "a")], taint_rule("r", EVICTS, **selector))
    [told] = [each.message for each in found.document.warnings if each.code == "rule-taints-nothing"]
    assert told == f"taints no device: {said}"
    assert str(found).startswith("Nothing changes")
    assert f"\nRule r taints no device: {said}.\n" in str(found)


def test_how_many_devices_a_rule_taints_is_told_where_nobody_ends() -> None:
    found = of([*FLEET, *runs("one", "a")], taint_rule("r", taint("k", effect="NoSchedule"), driver=GPU))
    [told] = found.document.taints
    assert (told.devices, told.in_use) == (2, 1)
    assert "Rule r taints 2 devices (1 in use, 1 free) with k:NoSchedule: running pods keep" in str(found)
    assert not fails(found)


def test_what_the_api_server_refuses_is_not_applied() -> None:
    """A rule with an effect that there is not, and a class that does not compile: the cluster stays as it is."""
    rule = taint_rule("r", taint("k", effect="NoExec"), driver=GPU)
    waits = pod("waits", templates={"gpu": "one"})
    found = of([*FLEET, *runs("one", "a"), waits], rule, device_class(GPU, "device.driver =="))
    assert {each.owners[0].name for each in found.document.refusals} == {"r", GPU}
    assert (list(found), found.document.applied, found.document.selectors) == ([], [], [])
    assert fails(found)


def test_a_stateful_set_makes_its_pods_again_one_after_the_other() -> None:
    """The second pod is not made before the first is ready, which gets no device; it does not end for good."""
    objects = [*FLEET, workload("StatefulSet", "s", pod(templates={"gpu": "one"}), replicas=2)]
    for name, where in (("s-0", "a"), ("s-1", "b")):
        objects += runs(name, where, **owned("StatefulSet", "s"))
    found = of(objects, taint_rule("r", EVICTS, driver=GPU))
    assert effects(found) == {"s-0": "WithoutPlace", "s-1": "WithoutPlace"}
    assert "StatefulSet s creates it once the pods before it are ready" in str(found)


def limited(hard: int) -> Plain:
    name = f"{GPU}.deviceclass.resource.k8s.io/devices"
    return manifest("ResourceQuota", "q", namespace="default", spec={"hard": {name: str(hard)}})


def test_pods_that_a_quota_stops_share_a_row_and_name_it() -> None:
    shape = pod(templates={"gpu": "one"}, metadata={"labels": {"app": "d"}})
    fleet = [*gpus("b", "a", each=2), template("one", request()), limited(2), deployment("d", shape, 0)]
    found = of(fleet, deployment("d", shape, 4))
    [quota] = found.quotas
    assert (quota.used, quota.used_after, quota.hard, quota.exceeded, quota.pods) == ("0", "2", "2", False, 2)
    text = str(found)
    assert text.startswith("4 new pods: 2 get a node, 2 without a node (quota default/q).")
    used = "2 will be used by 2 pods of deployment/d and 1 more is requested"
    said = f"Waits for its claim: quota default/q allows 2 {GPU} devices: {used}"
    assert text.count(said) == 1
    assert text.count("default/d (2 new pods)") == 2
    assert "d-0" not in text
    assert all(each.foreseen for each in found)
    assert fails(found)
    assert "Usage exceeds" not in text


def test_a_quota_that_loses_a_user_has_both_amounts() -> None:
    """The pod that ends gives its device back; its replacement gets none."""
    objects = [*FLEET, *runs("one", "a", **owned("ReplicaSet", "r")), *runs("two", "b")]
    found = of(objects, taint_rule("r", EVICTS, pool="a"), limited(1))
    [quota] = found.quotas
    assert (quota.used, quota.used_after, quota.hard, quota.exceeded, quota.pods) == ("2", "1", "1", False, 1)
    assert effects(found) == {"one": "WithoutPlace"}


def test_nodes_and_devices_of_a_row_are_in_the_same_order() -> None:
    objects = [*gpus("z", "m", each=1), template("one", request())]
    for name, where in (("p-0", "z"), ("p-1", "m")):
        objects += runs(name, where, **owned("ReplicaSet", "p"))
    text = str(of(objects, taint_rule("r", EVICTS, driver=GPU)))
    assert f"on m and z with {GPU}/m: gpu-0; {GPU}/z: gpu-0" in text


def test_nodes_after_have_the_order_of_the_pods() -> None:
    """The pods get nodes in another order than that of the nodes' names; where nodes repeat, they have numbers."""
    objects = [*gpus("z", "m", each=1), *gpus("b", "c", each=1), template("one", request())]
    for name, where in (("p-0", "z"), ("p-1", "m")):
        objects += runs(name, where, **owned("ReplicaSet", "p"))
    rules = [taint_rule(name, EVICTS, driver=GPU, pool=name) for name in ("z", "m")]
    found = of(objects, *rules)
    nodes = {each.name: each.after.node_name for each in found}
    row = str(found).splitlines()[3]
    assert "default/p-1 and default/p-0" in row
    assert f"get {nodes['p-1']} and {nodes['p-0']} with {GPU}/{nodes['p-1']}: gpu-0; {GPU}/{nodes['p-0']}: gpu-0" in row


def test_nodes_that_repeat_in_a_row_have_the_number_of_their_pods() -> None:
    objects = [*gpus("a", each=3), *gpus("b", each=2), *gpus("c", each=1), template("one", request())]
    for number in range(3):
        objects += runs(f"p-{number}", "a", **owned("ReplicaSet", "p"))
        objects[-1]["status"]["allocation"]["devices"]["results"][0]["device"] = f"gpu-{number}"
    found = of(objects, taint_rule("r", EVICTS, driver=GPU, pool="a"))
    assert sorted(each.after.node_name for each in found) == ["b", "b", "c"]
    assert "get b (2 pods) and c (1 pod) with" in str(found)


def test_a_pod_that_is_evicted_endlessly_is_named_with_the_reason() -> None:
    """Its toleration for some seconds lets it back on the device, and these are over; a bare pod ends just once."""
    tolerant = request(tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}])
    objects = [*gpus("a", each=2), template("one", tolerant)]
    for name, at, metadata in (("back", "gpu-0", owned("ReplicaSet", "back")), ("bare", "gpu-1", {})):
        objects += runs(name, "a", **metadata)
        result = objects[-1]["status"]["allocation"]["devices"]["results"][0]
        objects[-1]["spec"]["devices"]["requests"] = [tolerant]
        result.update(device=at, tolerations=tolerant["exactly"]["tolerations"])
    found = of(objects, taint_rule("r", EVICTS, driver=GPU))
    assert effects(found) == {"back": "EvictedAgain", "bare": "Gone"}
    text = str(found)
    assert text.startswith("2 running pods are terminated: 1 evicted repeatedly, 1 not recreated.")
    assert "pods are evicted and recreated endlessly (default/back)." in text
    assert "A pod that tolerates a taint for some seconds" in text
    assert fails(found)


@pytest.mark.parametrize("resource", ["pods", "count/pods", "requests.cpu"])
def test_pods_that_a_quota_keeps_from_being_created(resource: str) -> None:
    """The controller creates what the quota lets it, and the API server refuses the rest of the scale-up."""
    shape = pod(templates={"gpu": "one"}, cpu="1", metadata={"labels": {"app": "d"}})
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {resource: "2"}})
    fleet = [*gpus("b", "a", each=2), template("one", request()), quota, deployment("d", shape, 0)]
    found = of(fleet, deployment("d", shape, 4))
    assert sorted(effects(found).values()) == ["Refused", "Refused", "Starts", "Starts"]
    [over] = found.quotas
    amounts = (over.resource, over.used, over.used_after, over.hard, over.exceeded, over.pods)
    assert amounts == (resource, "0", "2", "2", False, 2)
    text = str(found)
    assert text.startswith("4 new pods: 2 get a node, 2 rejected (quota default/q).")
    used = "2 will be used by 2 pods of deployment/d and 1 more is requested"
    said = f"Refused: quota default/q allows 2 {resource}: {used}"
    assert text.count(said) == 1
    assert "pending" not in text
    assert fails(found)
    assert effects(of(fleet, deployment("d", shape, 2))) == {"d-0": "Starts", "d-1": "Starts"}


def test_a_quota_that_stops_a_scale_up_on_its_way() -> None:
    """Before, the controller would have created the pods that are missing; the written quota lets it no more."""
    shape = pod(templates={"gpu": "one"}, metadata={"labels": {"app": "d"}})
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": "1"}})
    found = of([*gpus("b", "a", each=2), template("one", request()), deployment("d", shape, 3)], quota)
    assert sorted(effects(found).values()) == ["Refused", "Refused"]
    assert str(found).startswith("2 pending pods would be rejected (quota default/q).")


def test_pods_without_a_name_yet_are_named_after_their_owner(tmp_path: Path) -> None:
    shape = pod(templates={"gpu": "one"}, metadata={"labels": {"app": "d"}})
    fleet = [*gpus("b", "a", each=2), template("one", request()), limited(2), deployment("d", shape, 0)]
    cluster, change, page = (tmp_path / name for name in ("cluster.json", "change.json", "page.html"))
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": fleet}))
    change.write_text(json.dumps(deployment("d", shape, 4)))
    ran = in_process("impact", "-f", str(change), str(cluster), "-o", "name", "--report", f"html={page}")
    assert ran.out.splitlines() == [
        "deployment/default/d Starts",
        "deployment/default/d Waits",
        "resourcequota/default/q Exceeded",
    ]
    assert "default/d (2 new pods)" in page.read_text()
    assert "default/d-0" not in re.sub(r"<script.*?</script>", "", page.read_text(), flags=re.DOTALL)
    wide = in_process("impact", "-f", str(change), str(cluster), "-o", "wide").out
    assert wide.count("default/d (1 new pod)") == 4


def test_selectors_that_are_lost_have_a_line_of_their_name() -> None:
    ran = in_process("impact", "-f", str(CHANGES / "driver-2.yaml"), FIXTURE, "-o", "name")
    assert (ran.status, ran.out) == (1, "deviceclass/gpu Lost\n")


# Whoever is asked about, all pods compete


def crowded() -> list[Plain]:
    """Two workloads of two namespaces on a node that is recalled, and room for one of them elsewhere."""
    objects = [*gpus("a", each=2), *gpus("b", each=1)[1:], template("one", request())]
    objects.append({**template("one", request()), "metadata": {"name": "one", "namespace": "late"}})
    objects += runs("first", "a", **owned("ReplicaSet", "first"), creationTimestamp="2026-01-01T00:00:00Z")
    last = runs("last", "a", **owned("ReplicaSet", "last"), creationTimestamp="2026-01-02T00:00:00Z")
    for obj in last:
        obj["metadata"]["namespace"] = "late"
    last[0]["metadata"]["labels"] = {"app": "last"}
    last[1]["status"]["allocation"]["devices"]["results"][0]["device"] = "gpu-1"
    return [*objects, *last]


@pytest.mark.parametrize("chosen", [{"namespace": "late"}, {"selector": "app=last"}])
def test_a_namespace_or_a_label_chooses_what_is_told_and_not_who_competes(chosen: dict[str, str]) -> None:
    rule = taint_rule("r", EVICTS, pool="a")
    whole = Cluster.of(crowded()).impact(Cluster.of([rule]))
    assert effects(whole) == {"first": "Moves", "last": "WithoutPlace"}
    found = Cluster.of(crowded()).impact(Cluster.of([rule]), **chosen)
    assert effects(found) == {"last": "WithoutPlace"}
    assert fails(found)
    plan = Cluster.of([*crowded(), rule]).schedule(settle=True, **chosen)
    assert [(each.name, each.node_name) for each in plan] == [("last-0", None)]
    settled = plan.document.settled
    assert [each.name for each in settled.evicted] == ["last"]
    assert [each.name for each in settled.pods] == ["last-0"]


def test_a_written_quota_of_another_namespace_is_not_told() -> None:
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": "0"}})
    found = Cluster.of(crowded()).impact(Cluster.of([quota]), namespace="late")
    assert (found.quotas, fails(found)) == ((), False)
    assert fails(Cluster.of(crowded()).impact(Cluster.of([quota]), namespace="default"))


def test_a_rule_that_the_cluster_ignores_taints_nothing() -> None:
    found = of([*FLEET, *runs("bare", "a")], taint_rule("r", EVICTS, pool="a"), DRADeviceTaintRules=False)
    [told] = found.document.taints
    assert (told.devices, told.in_use) == (0, 0)
    assert str(found).startswith("Nothing changes")
    assert "Rule r taints no device: DRADeviceTaintRules is off." in str(found)


def test_a_note_about_a_pod_without_a_name_yet_is_about_the_pod_that_it_replaces() -> None:
    shape = pod(templates={"gpu": "one"}, metadata={"labels": {"app": "d"}})
    objects = [*gpus("a", "b", "c", each=1), template("one", request()), deployment("d", shape, 1)]
    labels = {"app": "d", "pod-template-hash": "7d4f"}
    objects += runs("d-7d4f-x", "a", labels=labels, **owned("ReplicaSet", "d-7d4f"))
    found = of(objects, taint_rule("r", EVICTS, pool="a"))
    assert effects(found) == {"d-7d4f-x": "Moves"}
    objects = {each.object for each in found.document.warnings if each.code == "several-best-nodes"}
    assert objects == {"Pod default/d-7d4f-x"}


# Quotas and pods that are created again


def quota_of(**hard: str) -> Plain:
    named = {name.replace("_", "."): amount for name, amount in hard.items()}
    return manifest("ResourceQuota", "q", namespace="default", spec={"hard": named})


def ordered_set() -> list[Plain]:
    objects = [*gpus("a", "b", "c", each=1), template("one", request())]
    objects.append(workload("StatefulSet", "s", pod(templates={"gpu": "one"}, cpu="1"), replicas=2))
    for name, where in (("s-0", "a"), ("s-1", "b")):
        objects += runs(name, where, **owned("StatefulSet", "s"))
        objects[-2]["spec"]["containers"] = pod(cpu="1")["spec"]["containers"]
    return objects


def test_the_next_pod_of_a_stateful_set_may_be_refused() -> None:
    """The pod before it is ready all the time: what holds it back is the quota, which is met without it."""
    found = of(ordered_set(), taint_rule("r", EVICTS, pool="b"), quota_of(requests_cpu="1500m"))
    [told] = found
    assert (told.effect, told.after.outcome) == ("WithoutPlace", "Refused")
    [quota] = found.quotas
    assert (quota.used, quota.used_after, quota.hard, quota.exceeded, quota.pods) == ("2", "1", "1500m", False, 1)
    text = str(found)
    assert "Refused: quota default/q allows 1500m requests.cpu: 1 is used and 1 more is requested" in text
    assert "once the pods before it are ready" not in text
    assert "Usage exceeds" not in text


def replicas(number: int) -> list[Plain]:
    shape = pod(templates={"gpu": "one"}, metadata={"labels": {"app": "d"}})
    objects = [*gpus("a", "b", each=number), template("one", request()), deployment("d", shape, number)]
    for index in range(number):
        labels = {"app": "d", "pod-template-hash": "7d4f"}
        objects += runs(f"d-7d4f-{index}x", "a", labels=labels, **owned("ReplicaSet", "d-7d4f"))
        objects[-1]["status"]["allocation"]["devices"]["results"][0]["device"] = f"gpu-{index}"
    return objects


def test_evicted_pods_that_a_quota_refuses_are_counted_once() -> None:
    found = of(replicas(2), taint_rule("r", EVICTS, pool="a"), quota_of(limits_memory="1Gi"))
    assert effects(found) == {"d-7d4f-0x": "WithoutPlace", "d-7d4f-1x": "WithoutPlace"}
    text = str(found)
    assert text.startswith("2 running pods are terminated: 2 not created again.")
    assert text.count("Refused: failed quota: q: must specify limits.memory for: ") == 1


def test_restarted_pods_are_subject_to_quotas() -> None:
    """Both to amounts and to requests that they do not state; a pod that is there counts before those that are not."""
    cluster = Cluster.of(replicas(3))
    for quota, lost in ((quota_of(pods="2"), 1), (quota_of(limits_memory="1Gi"), 3)):
        after = cluster.applied(Cluster.of([quota])).restarted()
        changes = [each.change for each in cluster.diff(after).pods]
        assert changes.count("Lost") == lost
        refused = [each.after.outcome for each in cluster.diff(after).pods if each.change == "Lost"]
        assert refused == ["Refused"] * lost
    assert {each.change for each in cluster.diff(cluster.drain("a")).pods} == {"OtherNode"}
    limited_now = Cluster.of([*replicas(3), quota_of(pods="3")])
    assert {each.change for each in limited_now.diff(limited_now.drain("a")).pods} == {"OtherNode"}


@pytest.mark.parametrize(
    ("hard", "said"),
    [
        ({f"{GPU}.deviceclass.resource.k8s.io/devices": "1"}, f"no new claim for {GPU} devices is admitted"),
        ({"count/resourceclaims.resource.k8s.io": "1"}, "no new claim is admitted"),
        ({"pods": "1", "count/pods": "1"}, "no new pod is admitted"),
        (
            {
                f"{GPU}.deviceclass.resource.k8s.io/devices": "1",
                "count/resourceclaims.resource.k8s.io": "1",
                "pods": "1",
                "requests.cpu": "1",
            },
            "no new claim or pod is admitted",
        ),
    ],
)
def test_what_an_exceeded_quota_refuses(hard: dict[str, str], said: str) -> None:
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": hard})
    objects = [*FLEET, *runs("one", "a"), *runs("two", "b")]
    assert f"Usage exceeds quota default/q: running pods are not terminated, but {said}." in str(of(objects, quota))
    full = dict.fromkeys(hard, "2")
    found = of(objects, manifest("ResourceQuota", "q", namespace="default", spec={"hard": full}))
    assert f"Quota default/q is used up: {said}." in str(found)
    assert str(found).startswith("Nothing changes")
    assert not fails(found)


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ("gpuu.example.com.deviceclass.resource.k8s.io/devices", "no DeviceClass is called gpuu.example.com (did you"),
        ("requests.deviceclass.resource.kubernetes.io/other", "no DeviceClass is called other."),
        (f"{GPU}.deviceclass.resource.k8s.io/device", "no resource has this name (did you mean gpu.example.com.dev"),
    ],
)
def test_a_quota_that_counts_nothing_is_warned_of(resource: str, said: str) -> None:
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {resource: "4"}})
    found = of([*FLEET, *runs("one", "a")], quota)
    assert f"Quota default/q counts nothing as {resource}: {said}" in str(found)
    assert [each.code for each in found.document.warnings if each.object.startswith("ResourceQuota")] == [
        "quota-counts-nothing"
    ]


def test_running_pods_that_a_quota_will_refuse_are_counted() -> None:
    """They lack a limit that the quota requires; a bare pod is created by nobody, and a default would help."""
    objects = [*replicas(2), *runs("bare", "b")]
    found = of(objects, quota_of(limits_memory="1Gi"))
    assert "2 running pods do not set limits.memory: quota default/q rejects them when recreated." in str(found)
    assert fails(found)
    default = manifest(
        "LimitRange",
        "l",
        namespace="default",
        spec={"limits": [{"type": "Container", "default": {"memory": "1Gi"}}]},
    )
    assert not fails(of(objects, quota_of(limits_memory="1Gi"), default))


# What is lost although nobody ends


def test_devices_in_use_that_no_longer_match_are_counted() -> None:
    """Two of the class are in use; it keeps one. With two it would keep all that are wanted."""
    objects = [*gpus("a", "b", each=1), *gpus("c", each=1)[1:], template("one", request())]
    objects += [*runs("one", "a"), *runs("two", "b")]
    names = [f'device.driver == "{GPU}" && device.attributes["{GPU}"].number == {at}' for at in (1, 2)]
    numbered = [
        slice_(at, device("gpu-0", attributes={"number": {"int": of}})) for at, of in zip("abc", (1, 2, 2), strict=True)
    ]
    objects = [obj for obj in objects if obj["kind"] != "ResourceSlice"] + numbered
    found = of(objects, device_class(GPU, names[0]))
    said = f"Pods have 2 devices of deviceclass/{GPU}, and 1 would match: running pods keep their devices, but"
    assert said in str(found)
    assert "would match: running pods" not in str(of(objects, device_class(GPU, names[1])))


def test_a_device_that_is_gone_is_named_with_the_pod_that_has_it() -> None:
    text = str(of([*gpus("a", "b", each=2), template("one", request()), *runs("one", "a")], slice_("a", "gpu-1")))
    gone = (
        f"of default/one has {GPU}/a/gpu-0, which no driver publishes any more; "
        "no running pod is terminated because of this."
    )
    assert gone in text
    assert "1 device gone: gpu-0" in text


def test_an_attribute_that_is_renamed_is_told() -> None:
    objects = [*FLEET, slice_("a", device("gpu-0", attributes={"model": {"string": "A"}}))]
    text = str(of(objects, slice_("a", device("gpu-0", attributes={"name": {"string": "A"}}))))
    assert "attributes.model of 1 device: A -> none; attributes.name of 1 device: none -> A" in text


@pytest.mark.parametrize(("count", "said"), [(1, "settles only by chance"), (2, "never settles")])
def test_where_ties_decide_a_pod_is_not_evicted_for_ever(count: int, said: str) -> None:
    """Its own node is the first of two with the same score; the other one is clean, or is tainted as well."""
    tolerant = request(tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}])
    objects = [*gpus("a", "b", each=1), template("one", tolerant), *runs("back", "a", **owned("ReplicaSet", "back"))]
    objects[-1]["spec"]["devices"]["requests"] = [tolerant]
    result = objects[-1]["status"]["allocation"]["devices"]["results"][0]
    result["tolerations"] = tolerant["exactly"]["tolerations"]
    rules = [taint_rule(f"r-{name}", EVICTS, driver=GPU, pool=name) for name in ("a", "b")[:count]]
    found = of(objects, *rules)
    assert effects(found) == {"back": "EvictedAgain"}
    assert f"Afterwards the cluster {said}: pods are evicted and recreated" in str(found)
    assert ("picks b, with the same score and no tainted devices (default/back)" in str(found)) == (count == 1)
    assert ("chooses one at random" in str(found)) == (count == 1)
    assert fails(found)


def test_a_quota_whose_scope_counts_no_pod_says_so() -> None:
    """The pods request cpu, so they are not BestEffort; with the opposite scope they count."""
    for scope, said in (("BestEffort", True), ("NotBestEffort", False)):
        quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": "5"}, "scopes": [scope]})
        found = of(ordered_set(), quota)
        sentence = "Quota default/q counts none of the 2 pods in its namespace (scope BestEffort)."
        assert (sentence in str(found)) == said
        assert not fails(found)
    expression = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    spec = {"hard": {"pods": "5"}, "scopeSelector": {"matchExpressions": [expression]}}
    found = of(ordered_set(), manifest("ResourceQuota", "q", namespace="default", spec=spec))
    assert "(scope PriorityClass In high)" in str(found)


def test_an_error_on_some_nodes_is_told_once() -> None:
    """Pods of one owner find the same nodes in another order."""
    reads = device_class(GPU, f'device.attributes["{GPU}"].model == "A"')
    bare = [each for each in gpus("a", "b", "c", "d") if each["kind"] not in ("DeviceClass", "ResourceSlice")]
    named = [slice_(name, device("gpu-0", model="A"), device("gpu-1", model="A")) for name in ("a", "b", "c")]
    objects = [reads, *bare, *named, slice_("d", device("gpu-0", kind="A")), template("one", request())]
    shape = pod(templates={"gpu": "one"}, metadata={"labels": {"app": "d"}})
    found = of(objects, deployment("d", shape, 3))
    told = [each.message for each in found.document.warnings if each.code == "error-on-some-nodes"]
    assert told == ["an error on d ends the attempt; without it a, b, c would fit"]


def test_pods_of_a_stateful_set_that_are_not_created_yet_are_named() -> None:
    """Three nodes have room for three of six pods; the fourth holds back the others, unless all are created at once."""
    change = workload("StatefulSet", "s", pod(templates={"gpu": "one"}, cpu="1"), replicas=6)
    found = of(ordered_set(), change)
    assert effects(found) == {"s-2": "Starts", "s-3": "Waits"}
    assert "StatefulSet default/s does not create s-4 and s-5 until s-3 is ready." in str(found)
    at_once = {**change, "spec": {**change["spec"], "podManagementPolicy": "Parallel"}}
    assert of(ordered_set(), at_once).document.later_pods == []
    small = workload("StatefulSet", "s", pod(templates={"gpu": "one"}, cpu="1"), replicas=3)
    assert of(ordered_set(), small).document.later_pods == []


def test_an_option_for_another_cluster_alone_is_a_question_for_diff() -> None:
    ran = in_process("impact", FIXTURE, "--without", "node/gpu-1", "--cordon", "gpu-2")
    assert ran.status == 2
    assert "for the effect of --cordon and --without alone, run `dra-plan diff` with the same options" in ran.err
    assert "diff" not in in_process("impact", FIXTURE).err
