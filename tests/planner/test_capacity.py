"""How many copies there is room for: as recorded from kube-scheduler, and the laws that numbers of copies keep."""

from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import InputError, UsageError
from tests.build import allocation, claim, gpus, node, owned, placed, pod, request, slice_, template, workload
from tests.cli.running import in_process

RECORDED = Path(__file__).parents[1] / "conformance" / "capacity.jsonl.gz"
QUICKSTART = "fixtures/quickstart"


def read() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def scheduled(cluster: Cluster, *owners: Any, **options: Any) -> dict[str, Any]:
    [item] = cluster.capacity(*owners, **options).to_dict()["items"]
    return item["scheduled"]


def spread(found: dict[str, Any]) -> dict[str, int]:
    return {entry["name"]: entry["copies"] for entry in found["nodes"]}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", read(), ids=lambda case: case["id"])
def test_copies_are_bound_as_recorded(case: dict[str, Any]) -> None:
    before = json.dumps(case)
    expected = case["expected"]
    found = scheduled(Cluster.of(case["objects"], kubernetes_version="1.36.2"), case["template"], limit=40)
    assert found["copies"] == expected["copies"]
    assert spread(found) == expected["nodes"]
    assert found["message"] == (expected.get("message") or None)
    assert json.dumps(case) == before


WANTS = pod("wants", templates={"gpu": "one"})


def test_each_owner_is_counted_on_its_own_beside_what_is_on_nodes() -> None:
    two = [template("two", request(count=2)), pod("big", templates={"gpu": "two"})]
    busy = placed("busy", "a", claims={"gpu": "held"})
    held = claim("held")
    held["status"] = {"allocation": allocation("a", "gpu-0")}
    cluster = Cluster.of([*gpus("a", "b"), template("one"), WANTS, *two, busy, held])
    items = cluster.capacity().to_dict()["items"]
    assert [(item["owner"]["name"], item["scheduled"]["copies"]) for item in items] == [("wants", 3), ("big", 1)]


def test_an_owner_may_be_any_pod_or_workload_and_a_pod_as_a_dict() -> None:
    labels = {"app": "web"}
    spec = {
        "replicas": 5,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": WANTS["spec"]},
    }
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    running = placed("runs", "a", templates={"gpu": "one"})
    cluster = Cluster.of([*gpus("a", "b"), template("one"), web, running])
    assert scheduled(cluster, "deploy/web")["copies"] == 4
    assert scheduled(cluster, "po/runs")["copies"] == 4
    assert scheduled(cluster, WANTS)["copies"] == 4
    assert [item.owner.kind for item in cluster.capacity()] == ["Deployment"]


def test_what_is_not_about_devices_counts_too() -> None:
    cluster = Cluster.of([node("a", cpu="3"), node("b", cpu="1"), node("c", spec={"unschedulable": True})])
    found = scheduled(cluster, pod("one"))
    assert (found["copies"], spread(found), found["ended"]) == (4, {"a": 3, "b": 1}, "Unschedulable")
    assert found["message"].startswith("0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.")


def test_the_limit_ends_the_count() -> None:
    found = scheduled(Cluster.of([*gpus("a", each=8), template("one")]), WANTS, limit=3)
    assert (found["copies"], found["ended"], found["message"]) == (3, "Limit", None)


def test_copies_of_higher_priority_say_whom_they_evict() -> None:
    low = placed("low", "a", cpu="8", priority=0)
    found = scheduled(Cluster.of([node("a"), low]), pod("high", cpu="4", priority=10))
    assert found["copies"] == 2
    assert found["evicted"] == [{"kind": "Pod", "namespace": "default", "name": "low"}]


def test_a_search_that_is_cut_short_is_undecided() -> None:
    found = scheduled(Cluster.of([*gpus("a"), template("one")]), WANTS, max_steps=1)
    assert (found["copies"], found["ended"], found["undecidedNodes"]) == (0, "Undecided", ["a"])


def test_wrong_questions_are_refused() -> None:
    cluster = Cluster.of([*gpus("a"), template("one"), claim("lone"), WANTS])
    with pytest.raises(UsageError, match="did you mean 'wants'"):
        cluster.capacity("want")
    with pytest.raises(UsageError, match="capacity counts copies of pods and workloads"):
        cluster.capacity("resourceclaim/lone")
    with pytest.raises(UsageError, match="limit: expected a whole number of at least 1, got 0"):
        cluster.capacity(limit=0)
    with pytest.raises(InputError, match="no Node objects"):
        Cluster.of([WANTS]).capacity()


# Laws


@pytest.mark.parametrize("seed", range(12))
def test_as_many_pods_of_a_dump_are_bound(seed: int) -> None:
    """So many copies as pods of the input find their places, and one more does not."""
    chance = random.Random(seed)
    count = chance.randint(1, 3)
    objects = [device for name in "abc" for device in (node(name), slice_(name, *"wxyz"[: chance.randint(1, 4)]))]
    objects = [*gpus(), *objects, template("some", request(count=count))]
    wants = pod("p", cpu=str(chance.randint(1, 5)), templates={"gpu": "some"})
    copies = scheduled(Cluster.of(objects), wants)["copies"]
    pods = [copy.deepcopy(wants) for _ in range(copies + 1)]
    for number, each in enumerate(pods):
        each["metadata"] |= {"name": f"p-{number}", "uid": f"u{number}"}
    plan = Cluster.of([*objects, *pods]).schedule().to_dict()
    assert sum(entry["outcome"] == "Bound" for entry in plan["pods"]) == copies


def test_new_nodes_bring_room_and_cordoned_ones_have_none() -> None:
    cluster = Cluster.of([*gpus("a", "b"), template("one")])
    assert scheduled(cluster.add_nodes(3, like="a"), WANTS)["copies"] == 10
    assert scheduled(cluster.cordon("a"), WANTS)["copies"] == 2
    assert cluster.cordon("a").capacity(WANTS).to_dict()["whatIf"] == [{"edit": "Cordon", "node": "a"}]


# The command


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((QUICKSTART,), 0),
        ((QUICKSTART, "serve", "--at-least", "3"), 0),
        ((QUICKSTART, "serve", "--at-least", "4"), 1),
        ((QUICKSTART, "serve", "--at-least", "4", "--add-nodes", "1=gpu-b"), 0),
        ((QUICKSTART, "serve", "--at-least", "1", "--max-steps", "1"), 3),
        ((QUICKSTART, "sreve"), 2),
        ((QUICKSTART, "--limit", "0"), 2),
        (("fixtures/quickstart/cluster.yaml",), 2),
        (("fixtures/quickstart/cluster.yaml", "--allow-empty"), 0),
    ],
)
def test_exit_status(arguments: tuple[str, ...], status: int) -> None:
    assert in_process("capacity", *arguments).status == status


def test_a_gate_that_fails_says_so() -> None:
    ran = in_process("capacity", QUICKSTART, "serve", "--at-least", "4")
    assert ran.err == (
        "gate failed: 1 workload has room for fewer than 4 copies (--at-least): deployment/default/serve for 3\n"
    )


def test_what_the_scheduler_says_stands_below_the_table() -> None:
    """Once for owners of whom it says the same, by name where it says something else; the table keeps to 80 columns."""
    lost = pod("lost", nodeSelector={"zone": "x"}, templates={"gpu": "one"})
    objects = [*gpus("a"), template("one"), WANTS, pod("again", templates={"gpu": "one"})]
    alike, others = (str(Cluster.of(made).capacity()).split("\n\n") for made in (objects, [*objects, lost]))
    assert alike[2].startswith("The scheduler's message for one more copy of each: 0/1 nodes are available: 1 cannot")
    assert [line.partition(": 0/1")[0] for line in others[2].splitlines()] == [
        "The scheduler's message for one more copy:",
        "  pod/default/wants and pod/default/again",
        "  pod/default/lost",
    ]
    assert max(map(len, alike[0].splitlines())) <= 80


def test_a_count_that_nobody_refused_says_why_it_ended() -> None:
    told = str(Cluster.of([*gpus("a", each=8), template("one")]).capacity(WANTS, limit=3))
    assert "pod/default/wants: 3 on a.\n  The count ended there: the limit was reached (--limit).\n" in told
    assert "The scheduler says" not in told


@pytest.mark.golden
def test_what_it_prints(golden: Any) -> None:
    for form in ("table", "wide", "name", "json"):
        ran = in_process("capacity", QUICKSTART, "--add-nodes", "2=gpu-b", "-o", form)
        golden(Path(__file__).parent / "golden" / f"capacity.{form}", ran.out)


def daemons(*placed_on: str) -> Cluster:
    shape = pod(templates={"gpu": "one"}, labels={"app": "agent"}, tolerations=[])
    made = workload("DaemonSet", "agent", shape, selector={"matchLabels": {"app": "agent"}})
    objects = [*gpus("a", "b", "c", each=3), template("one"), made]
    for where in placed_on:
        metadata = {"labels": {"app": "agent"}, **owned("DaemonSet", "agent")}
        objects.append(placed(f"agent-{where}", where, metadata=metadata))
    return Cluster.of(objects)


@pytest.mark.parametrize(("there", "more"), [((), 3), (("a",), 2), (("a", "b", "c"), 0)])
def test_a_daemon_set_has_one_pod_a_node(there: tuple[str, ...], more: int) -> None:
    cluster = daemons(*there)
    found = scheduled(cluster)
    assert (found["copies"], found["ended"]) == (more, "EveryNode")
    assert spread(found) == {name: 1 for name in "abc" if name not in there}
    pods = cluster.schedule().to_dict()["pods"]
    assert sum(one["outcome"] == "Bound" and bool(one.get("attempts")) for one in pods) == more


def test_a_daemon_that_a_node_refuses_is_told() -> None:
    cluster = daemons()
    found = scheduled(cluster.without("resourceslice/b-gpu.example.com"))
    assert (found["copies"], found["ended"], spread(found)) == (2, "Unschedulable", {"a": 1, "c": 1})
    assert "cannot allocate all claims" in found["message"]


def test_devices_that_nobody_asks_for_are_not_stranded() -> None:
    objects = [
        *gpus("a", each=1),
        template("one"),
        slice_("a", "nic-0", driver="nic.example.com"),
        pod("p", templates={"gpu": "one"}),
    ]
    kinds = {kind["driver"]: kind for kind in Cluster.of(objects).capacity().to_dict()["fleet"]["kinds"]}
    assert kinds["nic.example.com"]["stranded"] == 0
    assert kinds["nic.example.com"]["reasons"] == [{"code": "not-wanted", "devices": 1}]
    rows = [line.split() for line in str(Cluster.of(objects).capacity()).splitlines()]
    assert [row[-4:] for row in rows if row[:1] == ["nic.example.com"]] == [["-", "1", "not", "requested"]]
