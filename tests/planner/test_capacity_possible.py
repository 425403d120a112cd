"""What is possible at best: as brute force finds, never less than the scheduler binds, and shown device by device."""

from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.cli.running import Exit
from dra_plan.placement.limits import StepBudget
from dra_plan.placement.node_kinds import PlacementCluster
from dra_plan.placement.verify import CarriedOut
from dra_plan.questions.capacity import possible as capacity_possible
from tests.build import GPU, deployment, gpus, node, placed, pod, request, slice_, template
from tests.cli.running import in_process
from tests.limits import at_most
from tests.placement.fleets import Brute, Fleet, FleetPod, TooManyError, objects_of, random_fleet

CASES = Path(__file__).parents[1] / "conformance" / "capacity.jsonl.gz"
GATES = {"DRAListTypeAttributes": True}
MOST = 4
"""Copies that brute force tries."""


def copies_of(fleet: Fleet, number: int, owners: int = 1) -> Fleet:
    """The fleet with so many sets of a copy of each of its first pods, each with claims of its own."""
    other = copy.copy(fleet)
    other.pods, other.claims = [], {}
    for index in range(number):
        for owner, original in enumerate(fleet.pods[:owners]):
            name = f"{original.name}-{index}"
            claims = []
            for claim in original.claims:
                made = copy.copy(fleet.claims[claim])
                made.name = f"{claim}-{owner}-{index}"
                other.claims[made.name] = made
                claims.append(made.name)
            other.pods.append(FleetPod(name, claims, original.cpu))
    return other


def with_templates(fleet: Fleet, owners: int) -> list[dict[str, Any]]:
    """The fleet as objects, where the pods make their claims from templates; no other pods and claims wait."""
    objects = objects_of(fleet)
    names = {pod.name for pod in fleet.pods[:owners]}
    made = []
    for each in objects:
        if each["kind"] == "ResourceClaim" and "allocation" not in each.get("status", {}):
            each = {**each, "kind": "ResourceClaimTemplate", "spec": {"spec": each["spec"]}}
            each.pop("status", None)
        elif each["kind"] == "Pod":
            if each["metadata"]["name"] not in names:
                continue
            for entry in each["spec"]["resourceClaims"]:
                entry["resourceClaimTemplateName"] = entry.pop("resourceClaimName")
        made.append(each)
    return made


def cluster_of(fleet: Fleet, owners: int = 1) -> Cluster:
    return Cluster.of(with_templates(fleet, owners), quirks="fixed", feature_gates=GATES if fleet.lists else None)


def check(seeds: Iterable[int], *, network: bool = False) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        fleet = random_fleet(seed, network=network)
        [item] = cluster_of(fleet).capacity(limit=MOST, possible=None if seed % 2 else True).to_dict()["items"]
        found, best = item["scheduled"], item["possible"]
        copies = copies_of(fleet, MOST)
        brute = Brute(copies)
        try:
            most = brute.most()
        except TooManyError:
            seen["too many"] += 1
            continue
        bound = MOST if best["atMost"] is None else best["atMost"]
        assert found["copies"] <= best["copies"] <= most <= bound, f"seed {seed}: {most} are possible"
        if not network:
            assert best["copies"] == bound, f"seed {seed}: {most} are possible"
        nodes = [copy["node"] for copy in best["placement"]]
        assert brute.is_possible({pod.name: at for pod, at in zip(copies.pods, nodes, strict=False)}), f"seed {seed}"
        assert Counter(nodes) == {each["name"]: each["copies"] for each in best["nodes"]}
        seen["wasted"] += found["copies"] < most
        seen["all" if most == MOST else "some" if most else "none"] += 1
        seen["not exact"] += best["copies"] < bound
    return seen


def test_as_many_copies_as_brute_force_finds() -> None:
    seen = check(range(6))
    assert min(seen[name] for name in ("some", "none")) >= 1, seen


@pytest.mark.long
def test_as_many_copies_as_brute_force_finds_in_many_cases() -> None:
    seen = check(range(10_000, 10_600))
    assert min(seen[name] for name in ("all", "some", "none")) >= 30, seen
    assert seen["wasted"], seen
    assert seen["too many"] <= 6, seen


@pytest.mark.long
def test_bounds_hold_where_nodes_share_devices() -> None:
    seen = check(range(300), network=True)
    assert min(seen[name] for name in ("all", "some", "none")) >= 10, seen
    assert seen["not exact"] <= 15, seen
    assert seen["too many"] <= 6, seen


def check_mix(seeds: Iterable[int]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        fleet = random_fleet(seed)
        if len(fleet.pods) < 2:
            continue
        mix = cluster_of(fleet, 2).capacity(limit=MOST, mix=True, possible=True).to_dict()["mix"]
        sets = MOST // 2
        brute = Brute(copies_of(fleet, sets, 2))
        try:
            most = max(n for n in range(sets + 1) if brute.most(brute._fleet.pods[: 2 * n]) == 2 * n)
        except TooManyError:
            seen["too many"] += 1
            continue
        bound = sets if mix["possible"]["atMost"] is None else mix["possible"]["atMost"]
        assert mix["sets"] <= mix["possible"]["copies"] == bound == most, f"seed {seed}"
        seen[str(most)] += 1
    return seen


def test_as_many_sets_as_brute_force_finds() -> None:
    assert check_mix(range(4)).total() >= 2


@pytest.mark.long
def test_as_many_sets_as_brute_force_finds_in_many_cases() -> None:
    seen = check_mix(range(500))
    assert min(seen["0"], seen["1"], seen["2"]) >= 10, seen


# What is told of it


def test_what_first_fit_wastes_is_shown_with_its_devices() -> None:
    """A pair of any devices, or a single one of the last two: first fit takes the first for the single one."""
    objects = [*gpus("a", each=4), template("three", request(count=3)), node("b"), slice_("b", "x", "y", "z")]
    [item] = Cluster.of(objects).capacity(pod("wants", templates={"gpu": "three"}), possible=True).to_dict()["items"]
    best = item["possible"]
    assert (best["copies"], best["atMost"]) == (2, 2)
    assert [(copy["node"], len(copy["devices"])) for copy in best["placement"]] == [("a", 3), ("b", 3)]
    assert best["placement"][1]["devices"][0] == {"driver": GPU, "pool": "b", "device": "x"}
    assert best["placement"][0]["owner"] == {"kind": "Pod", "namespace": "default", "name": "wants"}


def test_nothing_is_said_of_what_is_possible_where_pods_have_to_go() -> None:
    low = placed("low", "a", cpu="8", priority=0)
    [item] = Cluster.of([node("a"), low]).capacity(pod("high", cpu="4", priority=10), possible=True).to_dict()["items"]
    assert (item["scheduled"]["copies"], item["possible"]) == (2, None)


def test_what_looks_at_other_pods_is_checked_and_named() -> None:
    """One copy per host: the bound does not know that, the placement that is shown keeps to it."""
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    wants = pod("wants", labels={"app": "x"}, affinity=affinity, templates={"gpu": "one"})
    [item] = Cluster.of([*gpus("a", "b"), template("one")]).capacity(wants, possible=True).to_dict()["items"]
    best = item["possible"]
    assert (item["scheduled"]["copies"], best["copies"], best["atMost"]) == (2, 2, 4)
    assert best["besides"] == ["InterPodAffinity"]
    assert sorted(copy["node"] for copy in best["placement"]) == ["a", "b"]


# All together


def wanting(of: str) -> dict[str, Any]:
    return pod("x", templates={"gpu": of})


def test_owners_together_in_the_proportion_of_their_replicas() -> None:
    """Of 2 and 4 replicas a set has 1 and 2: 8 devices are two sets, as a set takes 2 + 2 of them."""
    objects = [*gpus("a", "b", each=4), template("one"), template("two", request(count=2))]
    objects += [deployment("large", wanting("two"), 2), deployment("small", wanting("one"), 4)]
    found = Cluster.of(objects).capacity(mix=True, possible=True).to_dict()
    mix = found["mix"]
    assert [(share["owner"]["name"], share["copies"]) for share in mix["shares"]] == [("large", 1), ("small", 2)]
    assert (mix["sets"], mix["possible"]["copies"], mix["possible"]["atMost"]) == (2, 2, 2)
    assert [item["scheduled"]["copies"] for item in found["items"]] == [2, 4]
    assert [item["scheduled"]["ended"] for item in found["items"]] == ["Unschedulable", "OtherRefused"]
    assert Counter(copy["owner"]["name"] for copy in mix["possible"]["placement"]) == {"large": 2, "small": 4}
    assert "mix" not in Cluster.of(objects).capacity().to_dict()


def test_owners_of_one_name_are_told_apart() -> None:
    objects = [
        *gpus("a", each=4),
        template("one"),
        deployment("same", wanting("one"), uid="u-deployment"),
        pod("same", templates={"gpu": "one"}),
    ]
    mix = Cluster.of(objects).capacity(mix=True, possible=True).to_dict()["mix"]
    assert (mix["sets"], mix["possible"]["copies"]) == (2, 2)
    assert Counter(copy["owner"]["kind"] for copy in mix["possible"]["placement"]) == {"Pod": 2, "Deployment": 2}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--mix",), Exit.OK),
        (("--mix", "--at-least", "1"), Exit.DOES_NOT_FIT),
        (("serve", "--limit", "2", "--at-least", "3"), Exit.UNDECIDED),
        (("serve", "--limit", "3", "--at-least", "1"), Exit.OK),
        (("serve", "--max-steps", "1"), Exit.UNDECIDED),
    ],
)
def test_exit_status(arguments: tuple[str, ...], status: int) -> None:
    assert in_process("capacity", "fixtures/quickstart", *arguments).status == status


def test_sets_that_lack_say_so() -> None:
    ran = in_process("capacity", "fixtures/quickstart", "--mix", "--at-least", "1")
    assert ran.err == "gate failed: 1 workload has room for fewer than 1 more copies (--at-least): all together for 0\n"


def recorded(*names: str) -> Iterator[tuple[Cluster, dict[str, Any]]]:
    """Recorded cases, each with the pod that was copied."""
    cases = [json.loads(line) for line in gzip.decompress(CASES.read_bytes()).splitlines()]
    for case in (case for case in cases if case["id"] in names):
        yield Cluster.of(case["objects"]), case["template"]


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        *[f"capacity-{n}" for n in ("0001", "0004", "0050", "0070", "0118", "0165")],
    ],
)
def test_what_takes_long_is_told_with_bounds_after_a_few_seconds(name: str) -> None:
    """Mixtures of partitions and of shares: to refute one copy more takes minutes."""
    [(cluster, copied)] = recorded(name)
    with at_most(30):
        [item] = cluster.capacity(copied).items
    best = item.possible
    assert best is not None
    assert best.brief
    assert best.at_most is not None
    assert item.scheduled.copies <= best.copies < best.at_most
    assert len(best.placement) == best.copies
    assert f"more than {best.copies} may be possible: --possible" in str(cluster.capacity(copied))


def test_a_budget_that_is_spent_ends_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    allocate = PlacementCluster.allocate

    def counted(self: Any, claims: Any, node: Any, view: Any, budget: StepBudget | None = None) -> Any:
        asked.append(budget is not None)
        return allocate(self, claims, node, view, budget)

    monkeypatch.setattr(PlacementCluster, "allocate", counted)
    monkeypatch.setattr(capacity_possible, "StepBudget", lambda: StepBudget(total=0, brief_total=1))
    objects = [*gpus("a", each=2), *gpus("b", each=3)[1:], template("two", request(count=2))]
    [item] = Cluster.of(objects).capacity(pod("wants", templates={"gpu": "two"})).items
    assert sum(asked) == 1
    assert item.possible is not None
    assert (item.possible.copies, item.scheduled.copies) == (2, 2)
    assert item.possible.at_most is not None
    assert item.possible.at_most > 2


def test_a_large_placement_is_not_carried_out_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    [(cluster, copied)] = recorded("capacity-0178")
    [item] = cluster.capacity(copied).items
    assert item.possible is not None
    assert (item.scheduled.copies, item.possible.copies, item.possible.at_most) == (22, 24, 24)
    monkeypatch.setattr(capacity_possible, "MOST_PLACED", 20)
    [item] = cluster.capacity(copied).items
    assert item.possible is not None
    assert (item.possible.copies, item.possible.at_most, len(item.possible.placement)) == (22, 24, 22)
    [item] = cluster.capacity(copied, possible=True).items
    assert item.possible is not None
    assert (item.possible.copies, item.possible.brief) == (24, False)


def test_where_the_scheduler_finds_the_best_placement_no_other_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(CarriedOut, "place", never)
    [item] = Cluster.of([*gpus("a", "b"), template("one")]).capacity(pod("p", templates={"gpu": "one"})).items
    assert item.possible is not None
    assert (item.possible.copies, item.possible.at_most) == (4, 4)
    assert [copy.node for copy in item.possible.placement] == ["a", "b", "a", "b"]


def test_possible_is_not_sought_where_nobody_wants_it() -> None:
    cluster = Cluster.of([*gpus("a"), template("one")])
    [item] = cluster.capacity(pod("p", templates={"gpu": "one"}), possible=False).items
    assert item.possible is None


def test_whole_sets_are_told_as_what_would_be() -> None:
    ran = in_process("capacity", "fixtures/quickstart", "--mix", "--possible", "--add-nodes", "2=gpu-a")
    sets = "All together, 1 of pod/default/train and 2 of deployment/default/serve to a set: "
    assert f"\n{sets}kube-scheduler binds 1 whole set; 1 with the best choice.\n" in ran.out


def test_nothing_better_is_sought_than_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler bound as many as the limit: its own placement is told, and no bound is known."""
    monkeypatch.setattr(capacity_possible, "seek_copies", lambda *_args, **_options: pytest.fail("sought"))
    cluster = Cluster.of([*gpus("a", each=4), template("one")])
    [item] = cluster.capacity(pod("wants", templates={"gpu": "one"}), limit=2).to_dict()["items"]
    found = item["possible"]
    assert (found["copies"], found["atMost"], len(found["placement"])) == (2, None, 2)
    assert not found.get("brief")
