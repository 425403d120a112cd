"""How many new nodes are needed: never one too many, never one too few, and what none of them helps."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from tests.build import gpus, node, placed, pod, request, slice_, template
from tests.cli.running import in_process
from tests.whatif.clusters import mid_life

QUICKSTART = "fixtures/quickstart"
Plain = dict[str, Any]


def many(count: int, name: str = "p", **options: Any) -> list[Plain]:
    return [pod(f"{name}{number}", **options) for number in range(count)]


def waiting(objects: list[Plain]) -> set[str]:
    return {obj["metadata"]["name"] for obj in objects if obj["kind"] == "Pod" and "nodeName" not in obj["spec"]}


def binds_all(cluster: Cluster, names: set[str]) -> bool:
    return names <= {pod.name for pod in cluster.schedule(settle=True) if pod.outcome == "Bound"}


# Against the scheduler, number by number


def small(seed: int) -> list[Plain]:
    """A cluster of one to three nodes, and pods that may find a place on nodes like `a`."""
    chance = random.Random(seed)
    on_each = chance.choice([1, 2, 2, 4])
    objects = [*gpus("a", *"bc"[: chance.randint(0, 2)], each=on_each)]
    objects += [template("one"), template("some", request(count=chance.randint(1, on_each)))]
    objects += [placed("old", "a", cpu=str(chance.randint(1, 7)))] if chance.random() < 0.5 else []
    apart = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    for number in range(chance.randint(1, 7)):
        spec: Plain = {"cpu": str(chance.choice([1, 1, 2, 3, 5]))}
        if chance.random() < 0.7:
            spec["templates"] = {"gpu": chance.choice(["one", "some"])}
        if chance.random() < 0.3:
            spec["labels"] = {"app": "x"}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
        if chance.random() < 0.2:
            spec["priority"] = chance.randint(0, 2)
        objects.append(pod(f"p{number}", **spec))
    return objects


def check_least(seed: int) -> None:
    objects = small(seed)
    cluster, names = Cluster.of(objects), waiting(objects)
    found = cluster.grow(like="a").document
    number = next(n for n in range(99) if binds_all(cluster.add_nodes(n, like="a") if n else cluster, names))
    assert found.kinds[0].count == number == found.at_least == found.at_most
    assert found.outcome == ("Found" if number else "NotNeeded")
    assert found.exact
    assert not found.beyond_help
    if number:
        [fewer] = found.not_enough
        left = {pod.name for pod in fewer.unbound}
        plan = (cluster.add_nodes(number - 1, like="a") if number > 1 else cluster).schedule(settle=True)
        assert left == {pod.name for pod in plan if pod.name in names and pod.outcome != "Bound"} != set()
        assert [node.name for node in found.nodes] == [f"a-new-{n + 1}" for n in range(number)]


@pytest.mark.parametrize("seed", range(8))
def test_the_number_is_the_least(seed: int) -> None:
    check_least(seed)


@pytest.mark.long
def test_the_number_is_the_least_of_300() -> None:
    for seed in range(300):
        check_least(seed)


def renamed(name: str, *others: Plain) -> list[Plain]:
    """A node with one device, called `name`, one with two called `b`, and pods that want one and two."""
    objects = [gpus()[0], node(name), slice_(name, "gpu-0"), node("b"), slice_("b", "gpu-0", "gpu-1"), template("one")]
    small, big = pod("small", templates={"gpu": "one"}), pod("big", templates={"gpu": "two"})
    return [*objects, template("two", request(count=2)), small, big, *others]


def test_that_ties_between_nodes_decided_is_said() -> None:
    numbers = set()
    for name in ("a", "c"):
        cluster = Cluster.of(renamed(name))
        found = cluster.grow(like="b").document
        assert found.tied
        numbers.add(found.kinds[0].count)
        told = [warning.object for warning in found.warnings if warning.code == "several-best-nodes"]
        count = found.kinds[0].count
        plan = (cluster.add_nodes(count, like="b") if count else cluster).schedule()
        assert told == [each.object for each in plan.document.warnings if each.code == "several-best-nodes"] != []
    assert numbers == {0, 1}


def test_the_answer_without_a_tie_hangs_on_one_with_fewer_nodes() -> None:
    """The new nodes are better than the others, and then nothing is left to choose."""
    better = {
        "requiredDuringSchedulingIgnoredDuringExecution": None,
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "preference": {"matchExpressions": [{"key": "new", "operator": "Exists"}]}}
        ],
    }
    objects = [*renamed("c"), node("x", labels={"new": "x"}), slice_("x", "gpu-0"), placed("full", "x", cpu="8")]
    for each in objects:
        if each["kind"] == "Pod" and each["metadata"]["name"] == "small":
            each["spec"]["affinity"] = {"nodeAffinity": better}
    found = Cluster.of(objects).grow(like="x").document
    assert (found.kinds[0].count, found.tied) == (1, True)
    assert [(each.code, each.object) for each in found.warnings if "several" in each.code] == [
        ("several-best-nodes", "")
    ]


def test_a_choice_among_new_nodes_that_are_empty_is_no_tie() -> None:
    objects = [*gpus("a"), placed("old", "a", cpu="8"), template("two", request(count=2))]
    objects += many(3, templates={"gpu": "two"}, cpu="5")
    found = Cluster.of(objects).grow(like="a").document
    assert (found.kinds[0].count, found.tied, found.warnings) == (3, False, [])
    first = [*objects, pod("first", cpu="1", priority=1, nodeName="")]
    assert Cluster.of([*first, node("b")]).grow(like="a").document.kinds[0].count == 3


def test_pods_of_higher_priority_come_first_to_nodes_that_are_empty_then() -> None:
    objects = [*gpus("a"), placed("old", "a", cpu="8", priority=2), template("two", request(count=2))]
    last = pod("last", cpu="2")
    objects += [last, *(pod(f"p{n}", cpu="5", priority=1, templates={"gpu": "two"}) for n in range(2))]
    found = Cluster.of(objects).grow(like="a").document
    assert [each.object for each in found.warnings if each.code == "several-best-nodes"] == ["Pod default/last"]


def test_that_a_pod_is_beyond_help_may_hang_on_a_tie() -> None:
    """The small pod takes the only node for the large one, and new nodes are too small for that."""
    numbers = {}
    for name in ("a", "c"):
        objects = [*renamed(name), pod("huge", templates={"gpu": "three"}), template("three", request(count=3))]
        numbers[name] = Cluster.of(objects).grow(like=name)
    told = {name: {pod.name: pod.fits_alone for pod in plan.document.beyond_help} for name, plan in numbers.items()}
    assert told == {"a": {"huge": False}, "c": {"big": True, "huge": False}}
    assert str(numbers["a"]).startswith("1 pod stays pending, no matter how many nodes like those below are added:")
    assert str(numbers["c"]).startswith(
        "If the first of equally good nodes is always chosen, 2 pods stay pending,"
        " no matter how many nodes like those below are added:"
    )
    assert numbers["c"].document.tied


def test_a_gate_on_warnings_does_not_count_ties(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": renamed("a")}))
    ran = in_process("grow", str(path), "--like", "b", "--fail-on", "warning")
    assert ran.status == 0
    assert "These pods need no new nodes if the first of equally good nodes is always chosen." in ran.out
    assert "so the number may differ" in ran.out


def test_commands_that_follow_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of each kind that have devices like those requested may be copied; one node fewer may be tried."""
    path = tmp_path / "a $b.json"
    alike = [node("c"), slice_("c", "gpu-0"), node("bare"), node("nic"), slice_("nic", "x", driver="nic.example.com")]
    objects = [*gpus("a", "b", each=1), *alike, template("one"), *many(5, templates={"gpu": "one"})]
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*objects, node("big", cpu="99")]}))
    ran = in_process("grow", str(path), "-n", "default", "-q")
    line = ran.err.removeprefix("error: give the nodes to add with --like NODE or --like FILE; a has devices like ")
    command = line.removeprefix("those requested: `").removesuffix("`\n")
    assert (ran.status, command) == (2, f"dra-plan grow '{path}' --namespace default --like a")
    hints: list[str] = []
    monkeypatch.setattr("dra_plan.cli.printing.print_hint", hints.append)
    assert in_process(*shlex.split(command)[1:]).status == 0
    assert hints == [f"To try one node fewer: dra-plan place '{path}' --namespace default --add-nodes 1=a"]
    assert in_process(*shlex.split(hints[0].partition("dra-plan ")[2])).status == 1
    assert in_process("grow", str(path), "p0", "p1", "p2", "p3", "--like", "a").status == 0
    assert len(hints) == 1


def check_cheapest(seed: int) -> None:
    chance = random.Random(seed)
    objects = [*small(seed), node("big", cpu="32"), slice_("big", *(f"gpu-{n}" for n in range(8)))]
    objects.append(pod("full", nodeName="big", cpu="32"))
    cluster, names = Cluster.of(objects), waiting(objects)
    costs = {"a": 1.5, "big": chance.choice([1, 2, 4.5, 9])}
    found = cluster.grow(like=["a", "big"], cost=costs).document

    def grown(a: int, big: int) -> Cluster:
        more = cluster.add_nodes(a, like="a") if a else cluster
        return more.add_nodes(big, like="big") if big else more

    enough = [(a, b) for a in range(8) for b in range(5) if binds_all(grown(a, b), names)]
    assert found.at_most == min(a * costs["a"] + b * costs["big"] for a, b in enough)
    assert tuple(kind.count for kind in found.kinds) in enough
    assert len(found.not_enough) == sum(kind.count != 0 for kind in found.kinds)


def test_of_several_kinds_the_cheapest() -> None:
    check_cheapest(1)


@pytest.mark.long
def test_of_several_kinds_the_cheapest_of_40() -> None:
    for seed in range(40):
        check_cheapest(seed)


# What it says


def test_kinds_that_different_pods_need() -> None:
    objects = [*gpus("a"), node("plain", cpu="2"), template("one"), template("two", request(count=2))]
    objects += [*many(3, "g", templates={"gpu": "two"}), *many(3, "c", cpu="2", nodeSelector={"disk": "ssd"})]
    objects[3]["metadata"]["labels"]["disk"] = "ssd"
    found = Cluster.of(objects).grow(like=["a", "plain"]).document
    assert [(kind.like, kind.count) for kind in found.kinds] == [("a", 2), ("plain", 2)]
    assert found.bound_before == 2
    [first, second] = found.not_enough
    assert ({pod.name[0] for pod in first.unbound}, {pod.name[0] for pod in second.unbound}) == ({"g"}, {"c"})
    assert {pod.name for node in found.nodes for pod in node.pods} <= {pod["metadata"]["name"] for pod in objects[6:]}


def test_what_no_number_of_nodes_helps_is_said_first() -> None:
    objects = [*gpus("a"), template("one"), template("three", request(count=3)), *many(4, templates={"gpu": "one"})]
    objects += [pod("large", templates={"gpu": "three"}), pod("gated", schedulingGates=[{"name": "wait"}])]
    plan = Cluster.of(objects).grow(like="a")
    assert [(pod.name, (pod.message or "")[:50]) for pod in plan.document.beyond_help] == [
        ("large", "0/5 nodes are available: 5 cannot allocate all cla"),
        ("gated", "waiting for scheduling gates: [wait]"),
    ]
    assert plan.document.kinds[0].count == 1
    assert str(plan).startswith("2 pods stay pending, no matter how many nodes like those below are added:\n")


def test_a_gang_needs_a_spare_node_for_each_of_its_pods() -> None:
    """Not even one of four is bound before all four can be."""
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "all", "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 4}}},
    }
    members = many(4, cpu="5", schedulingGroup={"podGroupName": "all"})
    gates = {"GenericWorkload": True, "GangScheduling": True}
    found = Cluster.of([node("a"), group, *members], feature_gates=gates).grow(like="a").document
    assert (found.kinds[0].count, found.bound_before, found.beyond_help) == (3, 0, [])


def test_nodes_of_a_file_and_a_cluster_without_nodes(tmp_path: Path) -> None:
    file = tmp_path / "big.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("big"), slice_("big", *"wxyz")]}))
    wants = [gpus()[0], template("one"), *many(5, templates={"gpu": "one"})]
    plan = Cluster.of(wants).grow(like=file)
    assert [(kind.like, kind.count) for kind in plan] == [(str(file), 2)]
    assert [node.name for node in plan.document.nodes] == ["big-new-1", "big-new-2"]
    assert plan.document.bound_before == 0


def test_names_choose_which_pods_are_scheduled() -> None:
    objects = [*gpus("a", each=1), template("one"), *many(5, templates={"gpu": "one"})]
    cluster = Cluster.of(objects)
    assert cluster.grow(like="a").document.kinds[0].count == 4
    assert cluster.grow("p1", "po/p2", like="a").document.kinds[0].count == 1
    assert cluster.grow("p1", like="a").document.outcome == "NotNeeded"


@pytest.mark.parametrize(
    ("fitting", "said"),
    [
        (3, "the scheduler binds 3 of 5 pending pods. New nodes like bare would not help the other 2."),
        (0, "the scheduler binds 0 of 2 pending pods. New nodes like bare would not help any of them."),
    ],
)
def test_nodes_that_do_not_help_the_others_are_said_not_to(fitting: int, said: str) -> None:
    """Cpu for new pods is there, and for two pods no device is: nodes without devices are no help."""
    wants = [pod(f"gpu-{number}", templates={"gpu": "one"}) for number in range(2)]
    plan = Cluster.of([gpus()[0], node("bare"), template("one"), *many(fitting), *wants]).grow(like="bare")
    assert plan.document.outcome == "NotNeeded"
    assert said in str(plan)
    assert "needed for" not in str(plan)


def test_edits_come_first() -> None:
    found = Cluster.of(mid_life()).drain("a").grow(like="c").to_dict()
    assert [edit["edit"] for edit in found["whatIf"]] == ["Drain"]
    assert (found["outcome"], found["pods"]) == ("NotNeeded", 1)
    away = Cluster.of(mid_life()).drain("a").without("node/b").without("node/c")
    with pytest.raises(UsageError, match="unknown node 'c'"):
        away.grow(like="c")
    assert away.grow(like="a").document.kinds[0].count == 1


def test_pods_that_have_to_go_are_told() -> None:
    low, high = placed("low", "a", cpu="8", priority=0), pod("high", cpu="8", priority=10)
    found = Cluster.of([node("a"), low, high]).grow(like="a")
    assert found.document.outcome == "NotNeeded"
    assert [pod.name for pod in found.document.evicted] == ["low"]
    assert "1 pod is evicted for other pods: default/low." in str(found)


# Cut short


def test_the_limit_leaves_a_lower_bound() -> None:
    objects = [*gpus("a", each=1), template("one"), *many(9, templates={"gpu": "one"})]
    found = Cluster.of(objects).grow(like="a", limit=5)
    assert (found.document.outcome, found.document.at_least, found.document.at_most) == ("Undecided", 6, None)
    assert "with 5 like a, not every pod is bound, and more were not tried" in str(found)
    assert Cluster.of(objects).grow(like="a", limit=8).document.kinds[0].count == 8


def test_searches_that_are_cut_short_are_undecided() -> None:
    objects = [*gpus("a", each=1), template("one"), *many(2, templates={"gpu": "one"})]
    found = Cluster.of(objects).grow(like="a", max_steps=1).document
    assert (found.outcome, found.at_least, found.at_most, found.beyond_help) == ("Undecided", 0, None, [])


# Wrong questions


def test_kinds_of_which_no_node_can_be_made_are_refused() -> None:
    shared = slice_("a", "d0", driver="net.example.com")
    shared["spec"]["nodeSelector"] = {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]
    }
    del shared["spec"]["nodeName"]
    with pytest.raises(UsageError, match=r"ResourceSlice .*spec.nodeSelector"):
        Cluster.of([node("a"), shared, pod("p")]).grow(like="a")
    half = slice_("a", "d0")
    half["spec"]["pool"]["resourceSliceCount"] = 2
    with pytest.raises(UsageError, match=r"would stay incomplete.*spec.pool.resourceSliceCount 2"):
        Cluster.of([node("a"), half, pod("p")]).grow(like="a")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"like": "node-11"}, r"unknown node 'node-11' \(did you mean 'node-1'"),
        ({"like": []}, "no kind of node to add"),
        ({"like": 3}, "like: expected a list of paths, got 3"),
        ({"like": "node-1", "cost": {"node-2": 3}}, "a cost of 'node-2', which is not in like: 'node-1' is"),
        ({"like": "node-1", "cost": {"node-1": 0}}, "expected a number above 0"),
        ({"like": "node-1", "cost": {"node-1": float("nan")}}, "expected a number above 0"),
        ({"like": "node-1", "cost": {"node-1": "much"}}, "cost: expected a number for"),
        ({"like": "node-1", "limit": 0}, "at least 1"),
        ({"like": "node-1", "limit": 10_001}, "expected 1 to 10,000"),
    ],
)
def test_wrong_questions_are_refused(options: Plain, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Cluster.of([*gpus("node-1"), *many(1)]).grow(**options)


# The command


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--like", "gpu-b"), 0),
        (("--like", "gpu-b", "--like", "gpu-a", "--cost", "gpu-b=1.5"), 0),
        (("--like", "cpu-a"), 1),
        (("--like", "gpu-b", "--max-steps", "1"), 3),
        (("--like", "gpu-b", "--add-nodes", "1=gpu-b"), 0),
        (("train", "--like", "gpu-b"), 0),
        (("--like", "gpu-bb"), 2),
        (("--like", "gpu-b", "--cost", "gpu-b"), 2),
        (("--like", "gpu-b", "--cost", "gpu-b=cheap"), 2),
        (("--like", "gpu-b", "-n", "elsewhere"), 2),
        (("--like", "gpu-b", "-n", "elsewhere", "--allow-empty"), 0),
        ((), 2),
    ],
)
def test_exit_status(arguments: tuple[str, ...], status: int) -> None:
    ran = in_process("grow", QUICKSTART, *arguments)
    assert ran.status == status, ran.err


@pytest.mark.golden
@pytest.mark.parametrize("form", ["table", "wide", "name", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    likes = ("--like", "gpu-b", "--like", "cpu-a", "--cost", "gpu-b=2.5")
    ran = in_process("grow", QUICKSTART, "fixtures/mig", *likes, "-o", form)
    golden(Path(__file__).parent / "golden" / f"grow.{form}", ran.out)
