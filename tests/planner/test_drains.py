"""Each node drained in turn: the same as one after the other, at the cost of what changes."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from dra_plan.planner.question import Question
from dra_plan.questions.schedule.answer import schedule_chosen
from dra_plan.scheduler.cluster.common import Common
from tests.build import claim, generated, gpus, node, owned, pod, request, running, slice_, template, used
from tests.cli.running import in_process
from tests.whatif.clusters import mid_life

QUICKSTART = "fixtures/quickstart"
Plain = dict[str, Any]


def fleet(nodes: int, pods: int, *, each: int = 2, waiting: int = 0, seed: int = 1) -> list[Plain]:
    """Nodes with devices, and pods on them that have some; a tenth of these nothing would recreate."""
    chance = random.Random(seed)
    names = [f"node-{index}" for index in range(nodes)]
    objects = [gpus()[0], template("one"), template("two", request(count=2))]
    for index, name in enumerate(names):
        objects += [node(name, labels={"zone": f"z{index % 3}"}), slice_(name, *(f"gpu-{n}" for n in range(each)))]
    free = [(name, f"gpu-{n}") for name in names for n in range(each)]
    for number, (name, device) in enumerate(chance.sample(free, pods)):
        metadata = {} if chance.random() < 0.1 else owned("ReplicaSet", f"rs-{number % 5}")
        held = f"p{number}-gpu-x"
        objects.append(running(f"p{number}", name, held, templates={"gpu": "one"}, metadata=metadata))
        objects.append(generated(f"p{number}", "gpu", name, device))
    return [*objects, *(pod(f"w{n}", templates={"gpu": chance.choice(["one", "two"])}) for n in range(waiting))]


def one_by_one(cluster: Cluster) -> dict[str, Plain]:
    """What `diff` says of the pods for each node."""
    found = {}
    for name in (each.metadata.name for each in cluster.inventory.nodes):
        pods = cluster.diff(cluster.drain(name)).pods
        found[name] = {
            "lost": {one.name: one.after.message for one in pods if one.change == "Lost" and one.after},
            "gone": {one.name for one in pods if one.change == "Gone"},
            "moved": sum(one.change == "OtherNode" for one in pods),
            "gained": sum(one.change == "Gained" for one in pods),
        }
    return found


def together(cluster: Cluster) -> dict[str, Plain]:
    return {
        row.name: {
            "lost": {one.name: one.message for one in row.lost},
            "gone": {one.name for one in row.gone},
            "moved": row.moved,
            "gained": row.gained,
        }
        for row in cluster.drain_each()
    }


def test_rows_say_what_separate_runs_say() -> None:
    for objects in (mid_life(), fleet(4, 7, waiting=2)):
        assert together(Cluster.of(objects)) == one_by_one(Cluster.of(objects))


@pytest.mark.long
@pytest.mark.parametrize(("pods", "waiting"), [(200, 0), (340, 3), (395, 12)])
def test_rows_of_200_nodes_say_what_separate_runs_say(pods: int, waiting: int) -> None:
    objects = fleet(200, pods, waiting=waiting)
    rows = together(Cluster.of(objects))
    assert rows == one_by_one(Cluster.of(objects))
    assert any(row["lost"] for row in rows.values()) is (waiting > 3)


def test_the_most_harmful_node_is_the_first() -> None:
    full = [*gpus("a", "b", each=2), template("one")]
    for name, where, device in (("x", "a", "gpu-0"), ("y", "b", "gpu-0"), ("z", "b", "gpu-1")):
        full.append(running(name, where, f"{name}-gpu-x", templates={"gpu": "one"}, metadata=owned("ReplicaSet", "rs")))
        full.append(generated(name, "gpu", where, device))
    plan = Cluster.of(full).drain_each()
    assert [(row.name, len(row.lost), row.moved) for row in plan] == [("b", 1, 1), ("a", 1, 0)]
    assert [row.name for row in Cluster.of(full).drain_each(nodes="a")] == ["a"]
    assert repr(plan) == "<DrainList for 1.36: 2 nodes, 2 with pods to lose>"


def test_pods_that_are_not_asked_about_are_not_lost() -> None:
    cluster = Cluster.of(mid_life())
    assert [len(row.lost) + len(row.gone) for row in cluster.drain_each(namespace="elsewhere")] == [0, 0, 0]
    assert not [one for one in cluster.diff(cluster.drain("a"), namespace="elsewhere").pods if one.change == "Lost"]


@pytest.mark.parametrize("seed", range(3))
def test_simulations_that_share_what_they_have_in_common_answer_as_those_alone(seed: int) -> None:
    """Drains, cordons, other claims, new nodes: every edit, in any order, on one memory."""
    cluster = Cluster.of(fleet(5, 7, waiting=3, seed=seed))
    plain = Cluster.of(fleet(5, 7, waiting=3, seed=seed))
    common = Common()
    chance = random.Random(seed)
    for _ in range(12):
        edits = chance.choices(["drain", "cordon", "without", "add"], k=chance.randint(0, 2))
        pair = [cluster, plain]
        for edit in edits:
            name = f"node-{chance.randrange(5)}"
            if edit == "add":
                pair = [each.add_nodes(1, like="node-1") if name != "node-1" else each for each in pair]
            elif edit == "without":
                pair = [
                    each.without("pod/w0") if any(p.metadata.name == "w0" for p in each.inventory.pods) else each
                    for each in pair
                ]
            else:
                pair = [getattr(each, edit)(name) for each in pair]
        shared, alone = pair
        told = schedule_chosen(shared.inventory, shared.target, Question(), lambda _pod: True, common, shared._view)
        expected = alone.schedule().outcome
        assert [(r.pod.key, r.node, r.message) for r in told.pods] == [
            (r.pod.key, r.node, r.message) for r in expected.pods
        ]
        assert [(c.key, c.status) for c in told.claims] == [(c.key, c.status) for c in expected.claims]


@pytest.mark.long
def test_two_processes_say_the_same() -> None:
    cluster = Cluster.of(fleet(4, 7, waiting=1))
    assert cluster.drain_each(jobs=2).to_dict() == cluster.drain_each().to_dict()


@pytest.mark.long
def test_dask_says_the_same() -> None:
    import joblib
    from distributed import Client, LocalCluster

    cluster = Cluster.of(fleet(20, 36, waiting=1))
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
        Client(workers),
        joblib.parallel_config(backend="dask"),
    ):
        spread = cluster.drain_each(jobs=2)
    assert spread.to_dict() == cluster.drain_each().to_dict()


def test_it_is_not_said_that_no_pod_loses_its_place_where_pods_are_not_known() -> None:
    held = claim("held", status=used("a", "gpu-0", "away"))
    objects = [*gpus("a", "b", each=1), held]
    assert "No pod of the input loses its node, whichever of 2 nodes" in str(Cluster.of(objects).drain_each())
    assert "No pod loses its node, whichever of 2 nodes" in str(Cluster.of(objects[:-1]).drain_each())


def busy() -> list[Plain]:
    """Node a has a bare pod and one that comes back, b one whose claim knows it only, c nothing; `wants` waits."""
    objects = [*gpus("a", "b", "c", each=2), template("one"), template("two", request(count=2))]
    for name, device, kind in (("bare", "gpu-0", {}), ("served", "gpu-1", owned("ReplicaSet", "rs"))):
        made = running(name, "a", f"{name}-gpu-x7k2p", templates={"gpu": "one"}, metadata=kind)
        objects += [made, generated(name, "gpu", "a", device)]
    held = claim("held", status=used("b", "gpu-0", "away"))
    return [*objects, held, pod("wants", templates={"gpu": "two"})]


def test_nodes_that_can_be_drained_are_named_apart_from_those_of_which_it_is_not_known() -> None:
    told = str(Cluster.of(busy()).without("pod/wants").drain_each())
    assert "c can be drained without losing any pods." in told
    assert "Whether b can be drained without losing pods is not known: default/away is not in the input." in told
    nodes = [*gpus(*(f"n{n}" for n in range(8)), each=1), template("one"), running("p", "n0"), pod("wants")]
    told = str(Cluster.of(nodes).drain_each())
    assert "n1, n2, n3, n4, n5 and 2 more can be drained without losing any pods." in told


def test_pods_that_would_be_gone_stand_in_a_row_of_their_own() -> None:
    cluster = Cluster.of(busy()).cordon("b")
    rows = [re.split(r"  +", line) for line in str(cluster.drain_each(nodes="a")).splitlines() if line.startswith("a ")]
    assert [row[4] for row in rows] == ["default/served (running)", "default/bare"]
    notices = {each["code"]: each for each in cluster.drain_each().to_dict()["warnings"]}
    assert notices["bare-pod-gone"]["object"] == "Pod default/bare"
    assert "bare-pod-gone" not in {each["code"] for each in cluster.drain_each(nodes="b").to_dict()["warnings"]}


def test_running_pods_are_told_from_those_that_would_be_bound() -> None:
    cluster = Cluster.of([*busy(), pod("first", templates={"gpu": "one"})]).cordon("b", "c")
    [row] = cluster.drain_each(nodes="a")
    assert [(one.name, one.running) for one in row.lost] == [("served", True)]
    [row] = Cluster.of(busy()).cordon("b").drain_each(nodes="c")
    assert [(one.name, one.running) for one in row.lost] == [("wants", False)]


# The command


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--drain", "each"), 1),
        (("--drain", "each", "--add-nodes", "2=gpu-a"), 0),
        (("--drain", "each", "train"), 1),
        (("--drain", "each", "--max-steps", "1"), 3),
        (("--drain", "each", "--to-quirks", "fixed"), 2),
        (("--drain", "each", QUICKSTART), 2),
        (("--drain", "each", "-o", "text"), 2),
    ],
)
def test_exit_status(arguments: tuple[str, ...], status: int) -> None:
    ran = in_process("diff", QUICKSTART, *arguments)
    assert ran.status == status, ran.err


def test_what_is_not_decided_is_not_told_as_no_loss() -> None:
    cluster = Cluster.of([*gpus("a", "b"), template("one"), pod("first", templates={"gpu": "one"})])
    plan = cluster.drain_each(max_steps=1)
    assert [[pod.name for pod in row.undecided] for row in plan] == [["first"], ["first"]]
    assert not any(row.lost or row.gained or row.moved for row in plan)
    assert not any(row.undecided for row in cluster.drain_each())
    told = in_process("diff", QUICKSTART, "--drain", "each", "--max-steps", "1")
    assert "loses its node" not in told.out
    assert "undecided whether default/train" in told.out


@pytest.mark.parametrize("command", ["schedule", "allocate", "capacity", "grow"])
def test_only_diff_drains_each(command: str) -> None:
    like = ("--like", "gpu-a") if command == "grow" else ()
    ran = in_process(command, QUICKSTART, "--drain", "each", *like)
    only = "only `dra-plan diff --drain each` drains each node in turn"
    told = f"{only}; for `dra-plan {command}`, name a node: --drain NODE"
    assert (ran.status, ran.err) == (2, f"error: --drain each: {told}\n")


def test_a_node_may_be_named_each(tmp_path: Path) -> None:
    (tmp_path / "each.json").write_text(json.dumps({"kind": "List", "items": [node("each"), node("other"), pod("p")]}))
    assert "error" not in in_process("schedule", str(tmp_path / "each.json"), "--drain", "each").err
    with pytest.raises(UsageError, match="unknown node 'each'"):
        Cluster.load(QUICKSTART).drain("each")


@pytest.mark.golden
def test_what_it_prints(golden: Any) -> None:
    for form in ("table", "wide", "name", "json", "markdown"):
        ran = in_process("diff", QUICKSTART, "--drain", "each", "-o", form)
        golden(Path(__file__).parent / "golden" / f"drains.{form}", ran.out)
    assert json.loads(in_process("diff", QUICKSTART, "--drain", "each", "-o", "json").out)["kind"] == "DrainList"
