"""What placement exists: against brute force, for pod groups, by priority, and what is left to filters outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dra_plan import Cluster, PlacementPlan
from dra_plan.questions.place import text as placement
from tests.build import GPU, gpus, node, placed, pod, pod_group, request, template
from tests.cli.running import in_process
from tests.conformance.recorded import cases
from tests.placement.fleets import Brute, TooManyError, objects_of, random_fleet

Plain = dict[str, Any]
GROUP_GATES = {"GenericWorkload": True, "GangScheduling": True}


def check_proofs(seeds: Iterable[int]) -> Counter[str]:
    """The verdict is that of brute force; a proof can't be placed, and can be without any one of its pods."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        fleet = random_fleet(seed)
        gates = {"DRAListTypeAttributes": True} if fleet.lists else None
        plan = Cluster.of(objects_of(fleet), quirks="fixed", feature_gates=gates).place()
        brute = Brute(fleet)
        try:
            most = brute.most()
            assert plan.outcome == ("Placed" if most == len(fleet.pods) else "Impossible"), f"seed {seed}"
            if plan.document.proof is not None:
                names = [each.name for each in plan.document.proof.pods]
                pods = [each for each in fleet.pods if each.name in names]
                assert brute.most(pods) == plan.document.proof.together < len(pods), f"seed {seed}"
                for one in pods:
                    others = [each for each in pods if each is not one]
                    assert brute.most(others) == len(others), f"seed {seed}: without {one.name}"
                seen[f"proof of {len(pods)}"] += 1
        except TooManyError:
            continue
        seen[plan.outcome] += 1
    return seen


def test_verdicts_and_proofs_are_those_of_brute_force() -> None:
    seen = check_proofs(range(24))
    assert min(seen[name] for name in ("Placed", "Impossible", "proof of 1", "proof of 2")) >= 2, seen


@pytest.mark.long
def test_verdicts_and_proofs_are_those_of_brute_force_in_many_cases() -> None:
    seen = check_proofs(range(10_000, 11_500))
    assert min(seen[name] for name in ("Placed", "Impossible", "proof of 1", "proof of 2", "proof of 3")) >= 15, seen


def small_and_large() -> list[Plain]:
    """Two nodes of two devices; a pod of one device may go beside a pod of one, but not where two are wanted."""
    objects = [*gpus("a", "b", each=2), template("one"), template("two", request(count=2))]
    objects += [pod("s1", templates={"g": "one"}), pod("s2", templates={"g": "one"})]
    return [*objects, pod("large", templates={"g": "two"})]


def test_a_placement_that_the_scheduler_misses() -> None:
    """It spreads the small pods over both nodes, and has no room left for the large one."""
    cluster = Cluster.of(small_and_large())
    assert [each.outcome for each in cluster.schedule()] == ["Bound", "Bound", "Unschedulable"]
    plan = cluster.place()
    assert plan.outcome == "Placed"
    nodes = {each.name: each.node for each in plan}
    assert nodes["s1"] == nodes["s2"] != nodes["large"]
    told = cluster.place(most=True).document.scheduler
    assert told is not None
    assert (told.bound, told.is_best) == (2, False)


def test_every_claim_has_its_allocation() -> None:
    entries = {each.name: each for each in Cluster.of(small_and_large()).place()}
    [claim] = entries["large"].claims
    results = claim.allocation.devices.results
    assert [(each.driver, each.pool) for each in results] == [(GPU, entries["large"].node)] * 2


def test_high_priority_comes_first_even_where_that_places_fewer() -> None:
    objects = [*gpus("a", each=2), template("one"), template("two", request(count=2))]
    objects += [pod("low1", templates={"g": "one"}), pod("low2", templates={"g": "one"})]
    objects += [pod("high", templates={"g": "two"}, priority=10)]
    plan = Cluster.of(objects).place(most=True)
    assert [each.name for each in plan] == ["high"]
    levels = [(each.priority, each.placed, each.at_most) for each in plan.document.priorities]
    assert levels == [(10, 1, 1), (0, 0, 0)]


def test_cpu_is_told_as_what_is_in_the_way() -> None:
    objects = [node("a", cpu="3"), *(pod(f"p{number}", cpu="2") for number in range(2))]
    plan = Cluster.of(objects).place()
    assert plan.outcome == "Impossible"
    assert plan.document.proof is not None
    assert plan.document.proof.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert "cpu on 1 node: 2 needed, at most 1 left" in str(plan)


def test_filters_outside_the_program_are_named() -> None:
    """Both pods would fit on one node; anti-affinity, which the program leaves out, keeps them apart."""
    objects = [node("a"), *(pod(name, labels={"app": "x"}, affinity=_apart("x")) for name in ("p", "q"))]
    document = Cluster.of(objects).place().document
    assert (document.outcome, document.at_least, document.at_most) == ("Undecided", 1, 2)
    assert [each.plugin for each in document.refused_afterwards] == ["InterPodAffinity"]


def _apart(app: str, key: str = "kubernetes.io/hostname") -> Plain:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_pods_that_filters_refuse_are_tried_on_other_nodes() -> None:
    """The program fills node a; what anti-affinity rejects there has a place on b, and on c, one at a time."""
    alike = {"labels": {"app": "x"}, "affinity": _apart("x"), "templates": {"gpu": "one"}}
    objects = [*gpus("a", "b", "c", each=3), template("one"), *(pod(name, **alike) for name in "pqrs")]
    plan = Cluster.of(objects).place(most=True)
    assert (plan.outcome, plan.document.at_least) == ("Undecided", 3)
    assert {entry.node for entry in plan.document.placed} == {"a", "b", "c"}
    assert plan.document.scheduler is not None
    assert plan.document.scheduler.bound == 3
    assert len(plan.document.refused_afterwards) == 1
    three = Cluster.of(objects[:-1]).place()
    assert three.outcome == "Placed"
    assert three.document.refused_afterwards == []


def test_who_is_tried_elsewhere_counts_once() -> None:
    """A node has cpu for one such pod: that it is let in there takes nothing of what it asks for itself."""
    fussy = {"labels": {"app": "x"}, "affinity": _apart("x"), "cpu": "2"}
    objects = [node("a", cpu="4"), node("b", cpu="2"), pod("p", **fussy), pod("q", **fussy)]
    assert {each.node for each in Cluster.of(objects).place()} == {"a", "b"}


def test_who_wants_company_is_tried_again() -> None:
    """`second` has to be in the zone of `first`, which is rejected where the program puts it and goes to b."""
    together = {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "first"}}, "topologyKey": "zone"}
            ]
        }
    }
    objects = [
        node("a", cpu="9", labels={"zone": "1"}),
        node("b", cpu="9", labels={"zone": "2"}),
        placed("there", "a", labels={"app": "old"}, cpu="1"),
        pod("second", affinity=together, cpu="1"),
        pod("first", labels={"app": "first"}, affinity=_apart("old"), cpu="1"),
    ]
    assert {(each.name, each.node) for each in Cluster.of(objects).place()} == {("first", "b"), ("second", "b")}


def test_a_claim_that_pods_share_keeps_them_on_one_node() -> None:
    from tests.build import claim

    objects = [*gpus("a", "b", each=1), claim("both", request())]
    pods = [pod(name, cpu="5", claims={"g": "both"}) for name in ("p", "q")]
    assert Cluster.of([*objects, *pods]).place().outcome == "Impossible"
    pods = [pod(name, cpu="4", claims={"g": "both"}) for name in ("p", "q")]
    plan = Cluster.of([*objects, *pods]).place()
    assert len({each.node for each in plan}) == 1
    assert [len(each.claims) for each in plan] == [1, 0]


# Pod groups


def members(number: int, **options: Any) -> list[Plain]:
    group = {"podGroupName": "train"}
    return [pod(f"m{each}", schedulingGroup=group, templates={"g": "one"}, **options) for each in range(number)]


@pytest.mark.parametrize(("least", "outcome"), [(3, "Placed"), (4, "Impossible")])
def test_a_group_needs_as_many_as_its_min_count(least: int, outcome: str) -> None:
    objects = [*gpus("a", each=3), template("one"), pod_group("train", least), *members(4)]
    plan = Cluster.of(objects, feature_gates=GROUP_GATES).place("podgroup/train")
    [group] = plan.document.groups
    assert (plan.outcome, group.needed) == (outcome, least)
    assert group.placed == (3 if outcome == "Placed" else 0)


TOPOLOGY_GATES = {**GROUP_GATES, "TopologyAwareWorkloadScheduling": True}


def zoned(least: int, *, devices: int = 2) -> list[Plain]:
    """Two zones of two nodes with some devices each, and a group that has to stay in one zone."""
    objects = [*gpus("a", "b", "c", "d", each=devices), template("one")]
    for made in objects:
        if made["kind"] == "Node":
            made["metadata"]["labels"]["zone"] = "east" if made["metadata"]["name"] in "ab" else "west"
    constrained = pod_group("train", least)
    constrained["spec"]["schedulingConstraints"] = {"topology": [{"key": "zone"}]}
    return [*objects, constrained]


@pytest.mark.parametrize(("gates", "nodes"), [(TOPOLOGY_GATES, 2), (GROUP_GATES, 3)])
def test_a_group_with_a_topology_key_stays_in_one_domain(gates: dict[str, bool], nodes: int) -> None:
    """Without the gate the key counts for nothing, and the group may use what is free in both zones."""
    objects = zoned(4)
    blocked = [pod(f"x-{where}", nodeName=where, cpu="8", status={"phase": "Running"}) for where in ("b",)]
    plan = Cluster.of([*objects, *blocked, *members(4, cpu="1")], feature_gates=gates).place("podgroup/train")
    zones = {"a": "east", "b": "east", "c": "west", "d": "west"}
    assert plan.outcome == "Placed"
    if gates is TOPOLOGY_GATES:
        assert {zones[each.node] for each in plan} == {"west"}
    assert len({each.node for each in plan}) <= nodes


def test_no_domain_has_room_for_the_whole_group() -> None:
    """Four devices are free in either zone, eight in both: a gang of five has no zone."""
    cluster = Cluster.of([*zoned(5), *members(5)], feature_gates=TOPOLOGY_GATES)
    plan = cluster.place("podgroup/train")
    assert (plan.outcome, plan.document.at_most) == ("Impossible", 0)
    assert plan.document.proof is not None
    assert (plan.document.proof.together, len(plan.document.proof.pods), plan.document.proof.minimal) == (4, 5, True)
    assert Cluster.of([*zoned(5), *members(5)], feature_gates=GROUP_GATES).place("podgroup/train").outcome == "Placed"


def test_pods_that_run_choose_the_domain() -> None:
    group = {"podGroupName": "train"}
    there = pod("m9", schedulingGroup=group, nodeName="a", status={"phase": "Running"})
    plan = Cluster.of([*zoned(4), there, *members(3)], feature_gates=TOPOLOGY_GATES).place("podgroup/train")
    assert plan.outcome == "Placed"
    assert {each.node for each in plan} <= {"a", "b"}
    assert [each.needed for each in plan.document.groups] == [3]


def test_two_groups_may_need_a_domain_each() -> None:
    """Each zone has room for one of them."""
    other = zoned(3)[-1]
    other["metadata"] = {"name": "serve", "namespace": "default"}
    more = [pod(f"s{n}", schedulingGroup={"podGroupName": "serve"}, templates={"g": "one"}) for n in range(3)]
    objects = [*zoned(3), *members(3), other, *more]
    plan = Cluster.of(objects, feature_gates=TOPOLOGY_GATES).place("podgroup/train", "podgroup/serve")
    assert plan.outcome == "Placed"
    zones = {
        each.name[0]: {"east" if e.node in "ab" else "west" for e in plan if e.name[0] == each.name[0]} for each in plan
    }
    assert all(len(found) == 1 for found in zones.values())
    assert zones["m"] != zones["s"]


def asked_groups() -> Iterable[tuple[str, bool, PlacementPlan]]:
    """Of recorded cases: each gang that asks for a start, whether the scheduler started it, and what is said here."""
    for case in cases("gang"):
        if "expected" not in case:
            continue
        nodes = {entry["pod"]: entry.get("node") for entry in case["expected"]["pods"]}
        cluster = Cluster.of(case["objects"], kubernetes_version="1.36.2", feature_gates=case["featureGates"])
        for group in cluster.inventory.pod_groups:
            key = (group.metadata.namespace, group.metadata.name)
            own = [
                each
                for each in cluster.inventory.pods
                if each.spec.scheduling_group is not None
                and (each.metadata.namespace, each.spec.scheduling_group.pod_group_name) == key
            ]
            bound = sum(nodes.get(each.key) is not None for each in own if not each.spec.node_name)
            there = sum(bool(each.spec.node_name) for each in own)
            if group.min_count and own:
                plan = cluster.place(f"podgroup/{key[0]}/{key[1]}")
                yield case["id"], bool(bound) and bound + there >= group.min_count, plan


PREEMPTING = {"gangpreempt-0013", "gangpreempt-0074"}
"""Recorded cases in which the group starts because running pods were evicted: beside them there is no placement."""


MISSED = {
    *("gangbasic-0041", "gangbasic-0056", "gangbasic-0067"),
    *("ganghetero-0001", "ganghetero-0012", "ganghetero-0024", "ganghetero-0025", "ganghetero-0031", "ganghetero-0036"),
    *("ganghetero-0042", "ganghetero-0056", "ganghetero-0058", "ganghetero-0059", "ganghetero-0064"),
    *("gangmixed-0010", "gangmixed-0015", "gangmixed-0037", "gangmixed-0052", "gangmixed-0061", "gangshared-0053"),
}
"""Recorded cases with a group that does not start and has a placement beside what runs."""


@pytest.mark.long
def test_what_the_scheduler_starts_can_be_placed() -> None:
    seen: Counter[tuple[bool, str]] = Counter()
    missed = set()
    for case, started, plan in asked_groups():
        assert not started or plan.outcome == "Placed" or case in PREEMPTING, case
        if plan.wanted:
            seen[started, plan.outcome] += 1
            if not started and plan.outcome == "Placed":
                missed.add(case)
    assert seen[True, "Placed"] > 100
    assert missed == MISSED


def test_a_gang_is_there_whole_or_not_at_all() -> None:
    """Six devices: of gangs of four, four and two pods two start, and no part of the third."""
    objects = [*gpus("a", "b", each=3), template("one")]
    for name, number in (("x", 4), ("y", 4), ("z", 2)):
        objects.append(pod_group(name, number))
        group = {"podGroupName": name}
        objects += [pod(f"{name}{n}", schedulingGroup=group, templates={"g": "one"}) for n in range(number)]
    document = Cluster.of(objects, feature_gates=GROUP_GATES).place(most=True).document
    assert [(each.name, each.needed, each.placed) for each in document.groups] == [
        ("x", 4, 0),
        ("y", 4, 4),
        ("z", 2, 2),
    ]
    [level] = document.priorities
    assert (level.groups, level.started, level.at_most_started, level.placed, level.at_most) == (3, 2, 2, 6, 6)
    assert document.scheduler is not None
    assert (document.scheduler.bound, document.scheduler.started, document.scheduler.is_best) == (6, 2, True)


def test_a_gang_of_which_too_few_pods_are_there() -> None:
    objects = [*gpus("a", each=4), template("one"), pod_group("train", 4), *members(3)]
    plan = Cluster.of(objects, feature_gates=GROUP_GATES).place()
    assert (plan.outcome, plan.document.at_most) == ("Impossible", 0)
    proof = plan.document.proof
    assert proof is not None
    assert proof.group is not None
    assert (proof.group.name, len(proof.pods), proof.minimal) == ("train", 3, False)
    assert "Too few pods of podgroup default/train were selected" in str(plan)
    assert "waiting for minCount pods from a gang to appear in scheduling queue" in str(plan)


def test_what_is_known_when_the_time_is_over() -> None:
    for given in ({"timeout": 0.0}, {"stopped": lambda: True}):
        document = Cluster.of(small_and_large()).place(**given).document
        assert (document.outcome, document.cut_short, document.proof) == ("Undecided", True, None)
        assert document.at_most == 3
    document = Cluster.of(small_and_large()).place(stopped=lambda: False).document
    assert (document.outcome, document.cut_short) == ("Placed", False)


def test_who_listens_hears_of_every_kind_of_node() -> None:
    heard: list[tuple[int, int]] = []
    Cluster.of(small_and_large()).place(progress=lambda done, total: heard.append((done, total)))
    assert heard
    assert all(done < total for done, total in heard)


# The command


@pytest.mark.parametrize("options", [(), ("--most",)])
def test_nothing_to_place(options: tuple[str, ...]) -> None:
    ran = in_process("place", "fixtures/network-attached", *options)
    assert (ran.status, ran.out) == (2, "")
    assert "no pod is pending" in ran.err
    assert in_process("place", "fixtures/network-attached", "--allow-empty", *options).status == 0


@pytest.mark.golden
@pytest.mark.parametrize("form", ["table", "wide", "name", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    ran = in_process("place", "fixtures/quickstart", "--most", "-o", form)
    assert ran.status == 1
    golden(Path(__file__).parent / "golden" / f"place.{form}", ran.out)


@pytest.mark.parametrize(
    ("given", "status"),
    [("fixtures/tpu-slice", 0), ("fixtures/quickstart", 1), ("fixtures/network-attached", 2)],
)
def test_exit_status(given: str, status: int) -> None:
    assert in_process("place", given).status == status


def test_what_is_known_where_nothing_was_decided() -> None:
    one = [*gpus("a"), template("one"), pod("p0", templates={"gpu": "one"})]
    [first] = str(Cluster.of(one).place(max_steps=1)).splitlines()[:1]
    assert first == "Undecided: whether the pending pod can run is unknown."
    [first] = str(Cluster.of([*one, pod("p1", templates={"gpu": "one"})]).place(max_steps=1)).splitlines()[:1]
    assert first == "Undecided: whether all 2 pods can run at the same time is unknown."


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (2, 4, "of 5 pods at least 2 and at most 4 can run at the same time"),
        (0, 4, "of 5 pods at most 4 can run at the same time"),
        (3, 5, "whether all 5 pods can run at the same time is unknown; at least 3 can"),
    ],
)
def test_the_bounds_of_what_is_undecided(least: int, most: int, said: str) -> None:
    found = Cluster.of([*gpus("a"), template("one"), *(pod(f"p{n}", templates={"gpu": "one"}) for n in range(5))])
    document = structs.replace(
        found.place().document, outcome="Undecided", at_least=least, at_most=most, placed=[], proof=None
    )
    assert str(placement.table(document, None)[0]) == f"Undecided: {said}."


def test_a_proof_about_pods_that_are_alike_names_all_of_them() -> None:
    """Which of them are in the set is arbitrary."""
    pods = [pod(f"rank-{number}", templates={"gpu": "two"}) for number in range(3)]
    plan = Cluster.of([*gpus("a"), template("two", request(count=2)), *pods]).place()
    assert plan.document.proof is not None
    assert (len(plan.document.proof.pods), len(plan.document.proof.alike)) == (2, 1)
    named = "default/rank-0, default/rank-1 and default/rank-2"
    assert f"No more than 1 of these 3 pods can run at the same time: {named}.\n" in str(plan)
    alone = Cluster.of([*gpus("a", each=1), template("two", request(count=2)), *pods]).place()
    assert f"None of these 3 pods fits, even alone: {named}.\n" in str(alone)
