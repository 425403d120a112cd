"""How many more gangs there is room for: whole, as the scheduler starts them, and as many as `place` says exist."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import gpus, manifest, member, node, pod, pod_group, request, template

GATES = {"GenericWorkload": True, "GangScheduling": True, "TopologyAwareWorkloadScheduling": True}
Objects = list[dict[str, Any]]


def job(name: str, pods: int, group: str, claims: str = "two", **options: Any) -> dict[str, Any]:
    spec = pod("x", templates={"gpu": claims}, schedulingGroup={"podGroupName": group}, **options)["spec"]
    made = {"parallelism": pods, "completions": pods, "template": {"spec": {**spec, "restartPolicy": "Never"}}}
    return manifest("Job", name, api="batch/v1", namespace="default", spec=made)


TEMPLATES = [template("one"), template("two", request(count=2))]
NODES = [*gpus("a", "b", "c", "d", each=4), *TEMPLATES]
GANG = [pod_group("train", 3), job("train", 3, "train")]


def counted(objects: Objects, *owners: str, gates: dict[str, bool] = GATES, **options: Any) -> list[Any]:
    return list(Cluster.of(objects, feature_gates=gates).capacity(*owners, **options))


def told(objects: Objects, **options: Any) -> str:
    return str(Cluster.of(objects, feature_gates=GATES).capacity(**options))


def test_a_workload_that_is_a_gang_is_copied_whole() -> None:
    [item] = counted([*NODES, *GANG])
    assert (item.owner.kind, item.scheduled.copies, item.scheduled.ended) == ("Job", 2, "Unschedulable")
    assert sum(each.copies for each in item.scheduled.nodes) == 6
    assert (item.gang.pod_group, item.gang.pods, item.gang.min_count, item.gang.fitting) == ("train", 3, 3, 2)
    assert (item.possible.copies, item.possible.at_most, len(item.possible.placement)) == (2, 2, 6)
    found = told([*NODES, *GANG])
    assert "job/default/train, a gang of 3 pods: 2 pods each on 2 nodes, 1 pod each on 2 nodes.\n" in found
    assert "  2 gangs fit: its own 3 pending pods and 1 more.\n" in found
    assert (
        "  Of one more gang, 2 of 3 pods find a node; the next one does not:\n  What prevents one more copy:\n    "
        in found
    )
    assert "A gang is copied with all its pods." in found


def test_without_the_gates_each_pod_is_a_copy() -> None:
    [item] = counted([*NODES, *GANG], gates={})
    assert (item.scheduled.copies, item.gang) == (8, None)


def test_a_group_of_pods_or_of_several_workloads_is_the_owner() -> None:
    pods = [member("a", templates={"gpu": "two"}), member("b", templates={"gpu": "one"})]
    for objects in ([*pods], [pods[0], job("rest", 1, "g", "one")], [job("x", 1, "g"), job("y", 1, "g", "one")]):
        [item] = counted([*NODES, pod_group("g", 2), *objects])
        assert (item.owner.kind, item.owner.name, item.gang.pods) == ("PodGroup", "g", 2)
        assert (item.possible.copies, item.possible.at_most) == (5, 5)
        assert item.scheduled.copies in (4, 5), "small pods that are tried first take what large ones need"
    [item] = counted([*NODES, pod_group("g", 2), *pods], "pod/b")
    assert item.owner.kind == "PodGroup"


def test_a_gang_of_too_few_pods_never_starts() -> None:
    objects = [*NODES, pod_group("train", 4), job("train", 3, "train")]
    [item] = counted(objects)
    assert (item.scheduled.copies, item.scheduled.ended, item.possible.at_most) == (0, "Gated", 0)
    assert item.scheduled.message == "waiting for minCount pods from a gang to appear in scheduling queue"
    assert "  It never starts: minCount of pod group train is 4.\n" in told(objects)


def test_a_gang_whose_pods_fit_in_no_domain_says_so() -> None:
    """Two devices are left in each rack, which three pods can't share."""
    objects = [*in_racks([*NODES]), zoned(pod_group("train", 3), "rack"), job("train", 3, "train", "one")]
    [item] = counted(objects)
    assert (item.scheduled.copies, item.possible.copies, item.possible.at_most) == (4, 4, 4)
    assert item.next_copy is None
    assert "finds no rack with room for all 3 pods of one more gang.\n" in told(objects)


def test_what_helps_one_pod_is_told_only_where_it_helps_the_gang() -> None:
    """Five devices are left over by one gang: with one a pod instead of two there is a second."""
    objects = [*gpus("a", each=9), *TEMPLATES, pod_group("train", 2), job("train", 2, "train")]
    [item] = counted([*objects])
    assert item.scheduled.copies == 2
    for tried in item.next_copy.suggestions:
        assert [change.code for change in tried.changes] == ["lower-count"]
    objects = [*gpus("a", each=5), *TEMPLATES, pod_group("train", 2), job("train", 2, "train", cpu="3")]
    objects = [each for each in objects if each["kind"] != "Node"] + [node("a", cpu="8")]
    [item] = counted([*objects])
    assert (item.scheduled.copies, item.next_copy.suggestions) == (1, []), "cpu is short for another gang in any case"


def test_a_quota_ends_the_count_of_gangs() -> None:
    quota = manifest("ResourceQuota", "few", namespace="default", spec={"hard": {"pods": "5"}})
    [item] = counted([*NODES, *GANG, quota])
    assert (item.scheduled.copies, item.scheduled.ended) == (1, "Refused")


def test_with_other_owners_a_gang_is_one_of_a_set() -> None:
    lone = pod("lone", templates={"gpu": "two"})
    plan = Cluster.of([*NODES, *GANG, lone], feature_gates=GATES).capacity(mix=True, possible=True)
    assert [(share.owner.name, share.copies) for share in plan.mix.shares] == [("lone", 1), ("train", 1)]
    assert (plan.mix.sets, plan.mix.possible.copies, plan.mix.possible.at_most) == (2, 2, 2)


def in_racks(objects: Objects) -> Objects:
    made = copy.deepcopy(objects)
    for number, each in enumerate(each for each in made if each["kind"] == "Node"):
        each["metadata"].setdefault("labels", {})["rack"] = f"r{number // 2}"
    return made


def zoned(group: dict[str, Any], key: str) -> dict[str, Any]:
    group["spec"]["schedulingConstraints"] = {"topology": [{"key": key}]}
    return group


def random_gang(seed: int) -> tuple[Objects, Objects, int]:
    """A cluster, the pods of a gang that waits in it, and how many of them it needs."""
    r = random.Random(seed)
    objects: Objects = [*TEMPLATES]
    for name in "abcd"[: r.randint(2, 4)]:
        made = gpus(name, each=r.randint(1, 5))
        for each in made:
            if each["kind"] == "Node":
                each["metadata"].setdefault("labels", {})["rack"] = r.choice(["x", "y"])
                each["status"]["allocatable"]["cpu"] = str(r.randint(3, 9))
        objects += [each for each in made if each not in objects]
    kinds = [(r.choice(["one", "two"]), r.choice(["1", "2"])) for _ in range(r.choice([1, 1, 2]))]
    size = r.randint(1, 4)
    pods = [
        member(f"m{at}", templates={"gpu": kinds[at % len(kinds)][0]}, cpu=kinds[at % len(kinds)][1])
        for at in range(size)
    ]
    group = pod_group("g", size)
    return [*objects, zoned(group, "rack") if r.random() < 0.4 else group], pods, size


def with_gangs(objects: Objects, pods: Objects, number: int) -> Objects:
    """So many gangs in place of the one."""
    made = [each for each in objects if each["kind"] != "PodGroup"]
    [group] = [each for each in objects if each["kind"] == "PodGroup"]
    for at in range(number):
        one, members = copy.deepcopy(group), copy.deepcopy(pods)
        one["metadata"] |= {"name": f"g{at}", "uid": f"u{at}"}
        for each in members:
            each["metadata"]["name"] += f"-{at}"
            each["spec"]["schedulingGroup"] = {"podGroupName": f"g{at}"}
        made += [one, *members]
    return made


def check(seeds: range) -> dict[str, int]:
    """The scheduler starts so many of as many gangs and one more; and so many exist, by `place`, and no more."""
    seen = {"more than scheduled": 0, "none": 0, "several": 0}
    for seed in seeds:
        objects, pods, size = random_gang(seed)
        plan = Cluster.of([*objects, *pods], feature_gates=GATES).capacity(possible=True)
        assert "-alone" not in str(plan), f"seed {seed}: names what does not exist"
        [item] = plan
        more, best = item.scheduled.copies, item.possible
        cluster = Cluster.of(with_gangs(objects, pods, more + 1), feature_gates=GATES)
        bound = sum(record.outcome == "Bound" for record in cluster.schedule().document.pods)
        assert bound == more * size, f"seed {seed}: {more} are told"
        assert best.copies >= more, f"seed {seed}"
        assert best.copies == best.at_most, f"seed {seed}: {best.copies} to {best.at_most}"
        for number, outcome in ((best.copies, "Placed"), (best.copies + 1, "Impossible")):
            placed = Cluster.of(with_gangs(objects, pods, number), feature_gates=GATES).place() if number else None
            assert placed is None or placed.document.outcome == outcome, f"seed {seed}: {number} are {outcome}"
        seen["more than scheduled"] += best.copies > more
        seen["none"] += not more
        seen["several"] += more > 1
    return seen


def test_as_many_gangs_as_the_scheduler_starts_and_as_exist() -> None:
    seen = check(range(25))
    assert min(seen["none"], seen["several"]) >= 3, seen


@pytest.mark.long
def test_as_many_gangs_as_exist_in_many_cases() -> None:
    seen = check(range(1_000, 1_250))
    assert min(seen.values()) >= 5, seen
