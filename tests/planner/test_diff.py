"""What two states answer differently: as recorded between releases, and the laws that differences keep."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dra_plan import Cluster
from dra_plan.questions.diff import answer as switches
from dra_plan.questions.diff import others
from dra_plan.text import preemption
from tests.build import GPU, claim, generated, gpus, node, owned, pod, request, running, slice_, template
from tests.cli.running import in_process
from tests.conformance.recorded import cases, gates, version
from tests.whatif.clusters import mid_life

QUICKSTART = "fixtures/quickstart"
Plain = dict[str, Any]

# Releases, as recorded


def recorded(release: str) -> dict[str, Plain]:
    names = ("cases", "quirks") if release == "1.36.2" else (f"cases-{release}",)
    return {case["id"]: case for name in names for case in cases(name)}


def answers(case: Plain) -> list[Plain]:
    """What was recorded for each node; which of several allocations upstream takes is left out."""
    kept = ("node", "fits", "error", "allocations", "anyAllocation")
    return [{key: value for key, value in one.items() if key in kept} for one in case["expected"]["nodes"]]


def pairs(before: str, after: str) -> list[tuple[Plain, Plain]]:
    """Cases that were recorded for both, with certain answers."""
    old, new = recorded(before), recorded(after)
    both = [(old[name], new[name]) for name in old if name in new and old[name]["objects"] == new[name]["objects"]]
    return [pair for pair in both if "anyAllocation" not in json.dumps([answers(case) for case in pair])]


def is_told(before: Plain, after: Plain) -> bool:
    cluster = Cluster.of(before["objects"], kubernetes_version=version(before), feature_gates=gates(before))
    return len(cluster.diff(cluster.at(version(after), gates(after)), together=True)) > 0


STEPS = [("1.36.2", "1.36.3"), ("1.36.3", "1.37"), ("1.35", "1.36.2"), ("1.34", "1.35")]
UNCERTAIN = {"all-0033", "first-0015", "taint-0000", "binding-0016"}
"""Recorded for 1.34 with one of several possible orders of pools, which the recording does not tell."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("before", "after"), STEPS)
def test_what_changed_between_releases_is_what_was_recorded(before: str, after: str) -> None:
    differing = [pair for pair in pairs(before, after) if answers(pair[0]) != answers(pair[1])]
    assert differing
    for old, new in differing[:25]:
        assert old["id"] in UNCERTAIN or is_told(old, new), old["id"]


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), STEPS)
def test_exactly_the_recorded_cases_differ(before: str, after: str) -> None:
    for old, new in pairs(before, after):
        if old["id"] not in UNCERTAIN:
            assert is_told(old, new) is (answers(old) != answers(new)), old["id"]


def test_a_defect_that_ended_is_the_reason() -> None:
    [case] = [old for old, new in pairs("1.36.2", "1.36.3") if answers(old) != answers(new)][:1]
    cluster = Cluster.of(case["objects"], kubernetes_version="1.36.2", feature_gates=gates(case))
    [changed] = cluster.diff(cluster.at("1.36.3"), together=True).claim_sets
    assert [reason.code for reason in changed.reasons] == ["defect-ended"]
    back = cluster.at("1.36.3").diff(cluster, together=True).claim_sets[0]
    assert [reason.code for reason in back.reasons] == ["defect-began"]


UPGRADE = Path(__file__).parents[2] / "fixtures" / "upgrade"


def why(before: Cluster, after: Cluster) -> dict[str, list[tuple[str, str]]]:
    """Code and gate or defect of the reasons, by claim set."""
    return {
        one.owner.name if one.owner else one.claims[0].name: [(r.code, r.gate or r.defect) for r in one.reasons]
        for one in before.diff(after).claim_sets
    }


def test_the_gate_that_made_an_answer_another_one_is_named() -> None:
    """Found by switching each that differs, one at a time: 1.37 has 11 other defaults and gates."""
    cluster = Cluster.load([UPGRADE])
    told = {
        "train": [("gate-on", "DRADeviceTaintRules")],
        "three-switches": [("defect-ended", "Q2")],
        "quarter": [("gate-on", "DRAFractionalCapacityRange")],
    }
    assert why(cluster, cluster.at("1.37")) == told
    on = cluster.at("1.36.3", {"DRADeviceTaintRules": True})
    assert why(cluster, on) == {"train": [("gate-on", "DRADeviceTaintRules")]}
    assert why(on, cluster) == {"train": [("gate-off", "DRADeviceTaintRules")]}
    assert "pod/default/train: the feature gate DRADeviceTaintRules is off, and was on before." in str(on.diff(cluster))


def test_each_of_two_gates_that_are_needed_together_is_named() -> None:
    gates = {"DRADeviceTaints": True, "DRADeviceTaintRules": True}
    cluster = Cluster.load([UPGRADE]).at("1.36.3", dict.fromkeys(gates, False))
    assert why(cluster, cluster.at("1.36.3", gates))["train"] == [("gate-on", gate) for gate in sorted(gates)]


def test_no_gate_is_named_for_what_an_edit_changed() -> None:
    cluster = Cluster.load([UPGRADE])
    assert why(cluster, cluster.cordon("gpu-a", "gpu-b").at("1.37"))["train"] == []


def test_so_many_gates_are_tried_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "MOST_SWITCHES", 0)
    cluster = Cluster.load([UPGRADE])
    assert why(cluster, cluster.at("1.37"))["train"] == []


def check_named(before: str, after: str) -> int:
    """Each gate that is named is one without which nothing changes for the set; how many were named."""
    named = 0
    for old, new in pairs(before, after):
        if answers(old) == answers(new):
            continue
        cluster = Cluster.of(old["objects"], kubernetes_version=version(old), feature_gates=gates(old))
        later = cluster.at(version(new), gates(new))
        for changed in cluster.diff(later, together=True).claim_sets:
            for reason in (each for each in changed.reasons if each.gate):
                named += 1
                back = cluster.at(version(new), {**later.target.gates, reason.gate: reason.code == "gate-off"})
                assert not cluster.diff(back, together=True).claim_sets, old["id"]
    return named


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), STEPS)
def test_without_a_gate_that_is_named_nothing_changes(before: str, after: str) -> None:
    named = check_named(before, after)
    assert named or after != "1.37", "elsewhere all gates are set in what was recorded"


# Claim sets and pods


def changes(before: Cluster, after: Cluster) -> dict[str, str]:
    found = before.diff(after)
    sets = {one.owner.name if one.owner else one.claims[0].name: one.change for one in found.claim_sets}
    held = {f"{one.holder.name} {one.device}": one.change for one in found.held_devices}
    return sets | {f"pod {one.name}": one.change for one in found.pods} | held


WANTS = pod("wants", templates={"gpu": "one"})
BASE = [*gpus("a", "b"), template("one"), WANTS]


def test_each_kind_of_change() -> None:
    cluster = Cluster.of(BASE)
    assert changes(cluster, cluster.cordon("a")) == {"wants": "FewerNodes", "pod wants": "OtherNode"}
    assert changes(cluster, cluster.cordon("a", "b")) == {"wants": "Lost", "pod wants": "Lost"}
    assert changes(cluster.cordon("a", "b"), cluster) == {"wants": "Gained", "pod wants": "Gained"}
    assert changes(cluster, cluster.add_nodes(1, like="a")) == {"wants": "MoreNodes"}
    assert changes(cluster, cluster.without("pod/wants")) == {"wants": "Gone", "pod wants": "Gone"}
    moved = cluster.cordon("a").add_nodes(1, like="b")
    assert changes(cluster, moved)["wants"] == "OtherNodes"
    taken = Cluster.of([*BASE, claim("own", status={"allocation": {"devices": {"results": [_result("a", "gpu-0")]}}})])
    assert changes(cluster, taken) == {"wants": "OtherDevices", "pod wants": "OtherDevices"}


def _result(pool: str, device: str) -> Plain:
    return {"request": "r", "driver": GPU, "pool": pool, "device": device}


def test_a_pod_that_lost_its_place_to_another_is_said_to_fit_alone() -> None:
    first = pod("a-first", templates={"gpu": "two"})
    both = [*gpus("a"), template("one"), template("two", request(count=2)), WANTS]
    before, after = Cluster.of(both), Cluster.of([*both[:-1], first, WANTS])
    [lost] = [one for one in before.diff(after).pods if one.change == "Lost"]
    assert (lost.name, lost.fits_alone) == ("wants", True)
    [gone] = [one for one in before.diff(before.cordon("a")).pods if one.change == "Lost"]
    assert not gone.fits_alone


def test_the_pod_that_took_a_device_is_named() -> None:
    before = Cluster.of([*gpus("a"), node("b"), template("one"), WANTS])
    first = pod("a-first", templates={"gpu": "one"}, metadata={"creationTimestamp": "2020-01-01T00:00:00Z"})
    after = Cluster.of([*gpus("a"), node("b"), template("one"), WANTS, first])
    found = before.diff(after)
    [changed] = [one for one in found.pods if one.name == "wants"]
    assert (changed.change, [one.name for one in changed.taken_by]) == ("OtherDevices", ["a-first"])
    assert "(only because default/a-first took its devices)" in str(found)
    [back] = [one for one in after.diff(before).pods if one.name == "wants"]
    assert (back.taken_by, [one.name for one in back.freed_by]) == ([], ["a-first"])
    assert "(only because default/a-first no longer takes them)" in str(after.diff(before))


def test_a_pod_that_gained_because_another_no_longer_takes_devices_says_so() -> None:
    first = pod("a-first", templates={"gpu": "one"}, metadata={"creationTimestamp": "2020-01-01T00:00:00Z"})
    objects = [*gpus("a", each=1), template("one"), WANTS, first]
    [gained] = [one for one in Cluster.of(objects).diff(Cluster.of(objects[:-1])).pods if one.name == "wants"]
    assert (gained.change, [one.name for one in gained.freed_by]) == ("Gained", ["a-first"])
    room = Cluster.of(objects).diff(Cluster.of(objects).add_nodes(1, like="a"))
    assert [(one.change, one.freed_by) for one in room.pods] == [("Gained", [])]


def test_a_device_that_another_has_now_is_no_reason_where_the_pod_could_not_have_it_anyway() -> None:
    spare = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    first = pod("a-first", templates={"gpu": "one"}, tolerations=[spare], nodeSelector={"kubernetes.io/hostname": "a"})
    objects = [*gpus("a", each=1), *gpus("b", each=1)[1:], template("one"), WANTS]
    moved = Cluster.of([*objects, first]).cordon("a")
    [changed] = [one for one in Cluster.of(objects).diff(moved).pods if one.name == "wants"]
    assert (changed.change, changed.taken_by) == ("OtherNode", [])


def test_a_cordoned_node_that_would_give_other_devices_is_no_difference() -> None:
    """What was in use on a node that is drained is free then, and of no use."""
    runs = [running("runs", "a", "runs-gpu-x7k2p", templates={"gpu": "one"}, metadata=owned("ReplicaSet", "rs"))]
    cluster = Cluster.of([*BASE, *runs, generated("runs", "gpu", "a", "gpu-0")]).cordon("a")
    found = cluster.diff(cluster.drain("a"))
    assert [one.change for one in found.claim_sets] == [], "the pod that left, and waits, is told as a pod"
    assert [one.change for one in found.pods] == ["OtherNode"]


def cells(before: Cluster, after: Cluster) -> list[str]:
    row = next(line for line in str(before.diff(after)).splitlines() if line.startswith("pod/default/wants"))
    return re.split(r"   +", row)[1:]


def test_the_cells_of_a_claim_set_that_fits_on_the_same_nodes_say_what_differs() -> None:
    held = claim("own", status={"allocation": {"devices": {"results": [_result("a", "gpu-0")]}}})
    told = cells(Cluster.of(BASE), Cluster.of([*BASE, held]))
    assert told == ["Other devices", f"on a: {GPU}/a/gpu-0", f"on a: {GPU}/a/gpu-1"]
    held["status"]["allocation"]["devices"]["results"].append(_result("b", "gpu-0"))
    told = cells(Cluster.of(BASE), Cluster.of([*BASE, held]))
    assert told[1] == f"on a: {GPU}/a/gpu-0 (and 1 other node)"


def test_the_cells_of_another_allocation_of_the_same_devices_say_what_of_it() -> None:
    """The configuration that comes with the device is another one."""
    before, after = [configured(BASE, value) for value in ("slow", "fast")]
    other, was, now = cells(before, after)
    assert other == "Other allocation"
    assert (
        was.endswith("opaque parameters mode: slow) (and 1 other node)"),
        now.endswith("opaque parameters mode: fast) (and 1 other node)"),
    ) == (
        True,
        True,
    )


def configured(objects: list[Plain], mode: str) -> Cluster:
    made = copy.deepcopy(objects)
    for each in made:
        if each["kind"] == "DeviceClass":
            each["spec"]["config"] = [{"opaque": {"driver": GPU, "parameters": {"mode": mode}}}]
    return Cluster.of(made)


def test_an_error_that_ends_the_attempt_is_said_beside_the_nodes_that_would_do() -> None:
    wanted = [{"cel": {"expression": f'device.attributes["{GPU}"].model == "A"'}}]
    chosen = template("one", request(selectors=wanted))
    objects = [chosen if each["kind"] == "ResourceClaimTemplate" else each for each in upgraded(model={"string": "A"})]
    broken = copy.deepcopy(objects)
    [piece] = [each for each in broken if each["kind"] == "ResourceSlice" and each["spec"]["nodeName"] == "b"]
    for device in piece["spec"]["devices"]:
        device["attributes"] = {}
    change, was, now = cells(Cluster.of(objects), Cluster.of(broken))
    assert (change, was) == ("Lost", "fits on 2 nodes: a, b")
    assert now.startswith("the scheduler stops with an error: claim default/wants-gpu: selector #0: CEL runtime error")
    assert now.endswith("; its devices would fit on a")


def test_a_pod_that_would_go_elsewhere_alone_is_asked_about_without_those_that_had_its_devices() -> None:
    """Alone `wants` goes to the first node; `b-second` has that one in any case."""
    times = [{"creationTimestamp": f"2020-01-0{day}T00:00:00Z"} for day in (1, 2)]
    at_a, at_b = ({"kubernetes.io/hostname": name} for name in "ab")
    first = pod("b-second", templates={"gpu": "one"}, metadata=times[0], nodeSelector=at_a)
    second = pod("a-first", templates={"gpu": "one"}, metadata=times[1], nodeSelector=at_b)
    objects = [*gpus("a", "b", each=1), template("one"), WANTS, first]
    [gained] = [one for one in Cluster.of([*objects, second]).diff(Cluster.of(objects)).pods if one.name == "wants"]
    assert (gained.change, [one.name for one in gained.freed_by]) == ("Gained", ["a-first"])


def test_pods_that_run_are_told_from_those_that_would_be_bound() -> None:
    runs = running("runs", "a", "runs-gpu-x7k2p", templates={"gpu": "one"}, metadata=owned("ReplicaSet", "rs"))
    cluster = Cluster.of([*gpus("a", "b", each=1), template("one"), runs, generated("runs", "gpu", "a", "gpu-0")])
    found = cluster.diff(cluster.drain("a"))
    [moved] = found.pods
    assert moved.before
    assert moved.after
    assert (moved.before.running, moved.after.running) == (True, False)
    assert f"runs on a with {GPU}/a: gpu-0   gets b with {GPU}/b: gpu-0" in str(found)


def test_pods_with_another_message_are_told_in_a_line_and_wide_in_rows(tmp_path: Path) -> None:
    (tmp_path / "full.json").write_text(json.dumps({"kind": "List", "items": [*BASE[:-1], pod("wants", cpu="900")]}))
    command = ("diff", str(tmp_path / "full.json"), "--cordon", "a")
    told = in_process(*command).out
    assert "default/wants has no node in either state, but its message differs (see -o wide)." in told
    assert "Insufficient" not in told
    whole = in_process(*command, "-o", "wide").out
    assert "default/wants   Other reason   Unschedulable: 0/2 nodes are available: 2 Insufficient cpu." in whole
    assert "Preemption is not helpful" in whole
    assert "a different message" not in whole


def test_what_the_scheduler_says_of_preemption_is_left_out_only_where_it_is_no_help() -> None:
    no_help = "0/3 nodes are available: 3 x. still not schedulable, preemption: 0/3 nodes are available: 3 Preemption"
    assert preemption.without(f"{no_help} is not helpful for scheduling.") == "0/3 nodes are available: 3 x."
    some = (
        "0/3 nodes are available: 3 x. preemption: 0/3 nodes are available: 1 No preemption victims found, 2 Preemption"
    )
    for message in (f"{some} is not helpful for scheduling.", f"{no_help} is not helpful for scheduling. More", ""):
        assert preemption.without(message) == message


def test_what_was_not_decided_is_a_change_of_its_own() -> None:
    before = Cluster.of([*gpus("a", each=2), template("two", request(count=2)), pod("p", templates={"gpu": "two"})])
    after = Cluster.of([*gpus("a", each=1), template("two", request(count=2)), pod("p", templates={"gpu": "two"})])
    seen = []
    for steps in range(1, 12):
        found = before.diff(after, max_steps=steps)
        changed = {one.change for one in (*found.claim_sets, *found.pods)}
        assert changed in ({"Undecided"}, {"Lost"})
        assert all(not one.reasons for one in found.claim_sets if one.change == "Undecided")
        seen += [changed.pop()]
    assert (seen[0], seen[-1]) == ("Undecided", "Lost")
    assert seen == sorted(seen, reverse=True)
    assert {one.change for one in before.diff(before, max_steps=1).pods} == {"Undecided"}
    assert len(before.diff(before)) == 0


def test_a_gate_passes_on_nothing_that_was_not_decided(tmp_path: Path) -> None:
    paths = []
    for name, each in (("old", 2), ("new", 1)):
        objects = [*gpus("a", each=each), template("two", request(count=2)), pod("p", templates={"gpu": "two"})]
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
    told = [in_process("diff", *map(str, paths), "--max-steps", str(steps)) for steps in (1, 100)]
    assert [ran.status for ran in told] == [3, 1]
    assert "Undecided: changes there are unknown" in told[0].out
    assert "Other reason" not in told[0].out
    back = in_process("diff", *map(str, reversed(paths)), "--max-steps", "1")
    assert back.status == 3


# Pools and selectors


def upgraded(**attributes: Plain) -> list[Plain]:
    new = copy.deepcopy(BASE)
    for piece in new:
        if piece["kind"] == "ResourceSlice":
            for device in piece["spec"]["devices"]:
                device["attributes"] = attributes
    return new


def test_values_that_drivers_publish_otherwise_are_told() -> None:
    before = Cluster.of(upgraded(model={"string": "A"}, old={"int": 1}))
    after = Cluster.of(upgraded(model={"string": "B"}, new={"bool": True}))
    pools = before.diff(after).to_dict()["pools"]
    assert [(pool["pool"], pool["change"]) for pool in pools] == [("a", "Changed"), ("b", "Changed")]
    assert pools[0]["values"] == [
        {"field": "attributes.model", "devices": 2, "before": "A", "after": "B"},
        {"field": "attributes.old", "devices": 2, "before": "1", "after": None},
        {"field": "attributes.new", "devices": 2, "before": None, "after": "true"},
    ]


def test_devices_and_pools_that_come_and_go_are_told() -> None:
    before = Cluster.of([*BASE, slice_("c", "x", driver="net.example.com"), node("c")])
    after = Cluster.of([*gpus("a", "b", each=3), template("one"), WANTS, slice_("d", "x"), node("d")])
    pools = {(pool["driver"], pool["pool"]): pool for pool in before.diff(after).to_dict()["pools"]}
    assert pools["net.example.com", "c"]["change"] == "Gone"
    assert pools[GPU, "d"]["change"] == "New"
    assert pools[GPU, "a"]["devicesNew"] == ["gpu-2"]
    assert "a and b   Changed   each: 1 device new: gpu-2" in str(before.diff(after))


def holding(*devices: str) -> list[Plain]:
    """A node whose driver publishes these devices; a pod that runs there has been given the second one."""
    runs = running("runs", "a", "runs-gpu-x7k2p", templates={"gpu": "one"}, metadata=owned("ReplicaSet", "rs"))
    return [
        *gpus("z")[:2],
        node("a"),
        slice_("a", *devices),
        template("one"),
        runs,
        generated("runs", "gpu", "a", "gpu-1"),
    ]


def test_a_claim_whose_device_is_gone_has_lost_it() -> None:
    before, after = Cluster.of(holding("gpu-0", "gpu-1")), Cluster.of(holding("gpu-0"))
    [lost] = before.diff(after).held_devices
    assert (lost.change, lost.driver, lost.pool, lost.device) == ("Lost", GPU, "a", "gpu-1")
    assert (lost.holder.name, lost.holder.pods) == ("runs-gpu-x7k2p", ["runs"])
    [back] = after.diff(before).held_devices
    assert back == structs.replace(lost, change="Gained")
    assert list(after.diff(after)) == []
    told = str(before.diff(after))
    assert f"default/runs-gpu-x7k2p   Lost     default/runs   {GPU}/a: gpu-1, no longer published" in told
    assert re.search("SELECTOR +OF +DEVICES BEFORE +AFTER", told)
    assert "Allocated claims: Lost (1)." in told


def test_devices_of_a_pool_that_is_gone_are_lost_to_their_claims() -> None:
    before = Cluster.of(holding("gpu-0", "gpu-1"))
    without = before.without("resourceslice/a-gpu.example.com")
    assert [one.device for one in before.diff(without).held_devices] == ["gpu-1"]
    assert not before.diff(before.without("node/a")).held_devices, "the pod went with its claim"
    assert not before.diff(Cluster.of(holding("gpu-1"))).held_devices, "the device that went was nobody's"


@pytest.mark.parametrize(("owner", "lost"), [("runs", 1), ("resourceclaim/runs-gpu-x7k2p", 1), ("other", 0)])
def test_only_claims_that_are_asked_about_are_lost(owner: str, lost: int) -> None:
    before, after = (Cluster.of([*holding(*devices), pod("other")]) for devices in (("gpu-0", "gpu-1"), ("gpu-0",)))
    assert len(before.diff(after, owner).held_devices) == lost


def test_a_lost_device_is_a_loss(tmp_path: Path) -> None:
    for name, devices in (("before", ("gpu-0", "gpu-1")), ("after", ("gpu-0",))):
        (tmp_path / f"{name}.json").write_text(json.dumps({"kind": "List", "items": holding(*devices)}))
    names = [str(tmp_path / f"{name}.json") for name in ("before", "after")]
    ran = in_process("diff", *names, "-o", "name", "--report", f"html={tmp_path / 'page.html'}")
    assert (ran.status, ran.out) == (1, "resourceclaim/default/runs-gpu-x7k2p Lost\n")
    page = (tmp_path / "page.html").read_text()
    assert "1 claim loses devices" in page
    assert "gpu-1: has it, no longer published" in page
    back = in_process("diff", *reversed(names), "-o", "markdown")
    assert (back.status, "| Gained |" in back.out) == (0, True)


def test_an_attribute_that_a_selector_reads_and_a_driver_dropped_is_the_reason() -> None:
    expression = f'device.attributes["{GPU}"].model == "A"'
    chosen = template("one", request(selectors=[{"cel": {"expression": expression}}]))
    old = [chosen if obj["kind"] == "ResourceClaimTemplate" else obj for obj in upgraded(model={"string": "A"})]
    new = [chosen if obj["kind"] == "ResourceClaimTemplate" else obj for obj in upgraded(name={"string": "A"})]
    found = Cluster.of(old).diff(Cluster.of(new))
    [changed] = found.claim_sets
    assert [(reason.code, reason.attribute) for reason in changed.reasons] == [("attribute-gone", f"{GPU}/model")]
    [selector] = found.selectors
    assert (selector.before, selector.after, selector.reads_gone) == (4, 0, [f"{GPU}/model"])
    told = str(found)
    assert f"reads {GPU}/model, which no device has any more." in told


# Laws

STATES = [
    Cluster.of(BASE),
    Cluster.of(mid_life()),
    Cluster.of(mid_life()).drain("a").add_nodes(1, like="c"),
    Cluster.of([*mid_life(), running("more", "c", metadata=owned("Job", "j"))]).cordon("b"),
    Cluster.load(QUICKSTART),
    Cluster.load(QUICKSTART).at("1.34"),
    Cluster.of([slice_("b", "gpu-7") if each["kind"] == "ResourceSlice" else each for each in mid_life()]),
]
SWAPPED = {"Lost": "Gained", "FewerNodes": "MoreNodes", "New": "Gone"}
SWAPPED |= {value: key for key, value in SWAPPED.items()}


@pytest.mark.parametrize("cluster", STATES, ids=range(len(STATES)))
def test_a_state_does_not_differ_from_itself(cluster: Cluster) -> None:
    assert list(cluster.diff(cluster)) == []


@pytest.mark.parametrize("one", range(len(STATES)))
@pytest.mark.parametrize("other", range(len(STATES)))
def test_sides_that_are_swapped_swap_what_is_lost_and_gained(one: int, other: int) -> None:
    there, back = changes(STATES[one], STATES[other]), changes(STATES[other], STATES[one])
    assert {name: SWAPPED.get(change, change) for name, change in there.items()} == back


def test_neither_state_is_changed() -> None:
    cluster = Cluster.of(mid_life())
    before = copy.deepcopy(cluster.inventory)
    cluster.diff(cluster.drain("a"))
    assert cluster.inventory == before


# The command


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((QUICKSTART, QUICKSTART), 0),
        ((QUICKSTART, "--drain", "gpu-a"), 1),
        ((QUICKSTART, "--add-nodes", "1=gpu-a"), 0),
        ((QUICKSTART, "--to-kubernetes-version", "1.37"), 0),
        ((QUICKSTART, "--to-feature-gates", "DRAConsumableCapacity=false"), 0),
        ((QUICKSTART, "serve", "--cordon", "cpu-a"), 0),
        ((QUICKSTART, "train", "--drain", "gpu-a"), 1),
        ((QUICKSTART,), 2),
        ((QUICKSTART, QUICKSTART, QUICKSTART), 0),
        ((QUICKSTART, "--to-quirks", "some"), 2),
        ((QUICKSTART, "nowhere.yaml"), 2),
        ((), 2),
    ],
)
def test_exit_status(arguments: tuple[str, ...], status: int) -> None:
    ran = in_process("diff", *arguments)
    assert ran.status == status, ran.err


@pytest.mark.parametrize("form", ["table", "wide", "markdown", "name", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    ran = in_process("diff", QUICKSTART, "--without", "node/gpu-a", "--add-nodes", "2=gpu-b", "-o", form)
    golden(Path(__file__).parent / "golden" / f"diff.{form}", ran.out)


def test_pods_that_are_alike_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pod moves up by one: however many do, each of the two states is asked a few times at most."""
    asked: list[str] = []
    alone = others.AskedState._asked

    def counted(state: others.AskedState, key: tuple[str, str], *rest: Any) -> Any:
        asked.append(key[1])
        return alone(state, key, *rest)

    monkeypatch.setattr(others.AskedState, "_asked", counted)
    pods = [pod(f"p{number}", templates={"gpu": "one"}) for number in range(6)]
    cluster = Cluster.of([*gpus("a", "b", "c", "d", each=2), template("one"), *pods])
    found = cluster.diff(cluster.without("node/a"))
    assert len(found.pods) >= 5
    assert len(asked) <= 4, asked
