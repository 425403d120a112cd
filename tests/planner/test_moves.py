"""`explain --moves`: the fewest running pods that have to leave, against brute force, and every step carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dra_plan import Cluster
from dra_plan.questions import schema as schemas
from dra_plan.questions.explain.document import RoomForPod
from tests.build import (
    GPU,
    device_class,
    disruption_budget,
    generated,
    gpus,
    node,
    owned,
    placed,
    pod,
    request,
    running,
    slice_,
    template,
)
from tests.cli.running import in_process
from tests.placement.fleets import TooManyError
from tests.placement.moving import Scene, is_right, least, scene, scene_objects

Plain = dict[str, Any]
LIMIT = 3

AT_ONCE = 1e-9
"""A time limit that is over when the search begins, in seconds."""


def check(seeds: Iterable[int], wanted: int, *, network: bool = False) -> Counter[str]:
    """Compares so many cases, and counts the outcomes; with devices of all nodes, not all that is true is proved."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        case = scene(seed, network=network)
        if case is None:
            continue
        try:
            outcome, moved, preempted = least(case, LIMIT)
        except TooManyError:
            continue
        [room] = Cluster.of(scene_objects(case), quirks="fixed", feature_gates=case.gates).explain(moves=LIMIT).moves
        assert (room.outcome, room.moved, room.preempted) == (outcome, moved, preempted), f"seed {seed}"
        assert room.fewest == (outcome != "Impossible") or (network and not room.fewest), f"seed {seed}"
        carry_out(case, room, f"seed {seed}")
        seen[outcome] += 1
        seen["several"] += moved + preempted > 1
        if seen.total() - seen["several"] >= wanted:
            break
    return seen


@pytest.mark.parametrize("order", [("a", "b", "c"), ("a", "c", "b")])
def test_who_may_not_go_to_one_node_goes_to_another(order: tuple[str, ...]) -> None:
    """Anti-affinity, which is asked when the placement is known, keeps the pod off b, whichever node comes first."""
    term = {"labelSelector": {"matchLabels": {"app": "other"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    owner = owned("ReplicaSet", "serve")
    moved = running("moved", "a", "moved-gpu-x7k2p", templates={"gpu": "one"}, affinity=apart, metadata=owner)
    objects = [
        *gpus(*order),
        template("two", request(count=2)),
        template("one"),
        moved,
        generated("moved", "gpu", "a", "gpu-0"),
        placed("other", "b", labels={"app": "other"}),
        pod("wants", templates={"gpu": "two"}, nodeSelector={"kubernetes.io/hostname": "a"}),
    ]
    [room] = Cluster.of(objects).explain("wants", moves=2).moves
    assert (room.outcome, room.moved, room.fewest) == ("Moves", 1, True)
    assert [(step.name, step.node) for step in room.steps] == [("moved", "c"), ("wants", "a")]


def carry_out(case: Scene, room: RoomForPod, where: str) -> None:
    """The steps, one after the other: each leaves a cluster in which all that run have what they need."""
    nodes, devices = dict(case.nodes), dict(case.devices)
    for step in room.steps:
        if step.action in ("Move", "Evict", "Preempt"):
            assert nodes.pop(step.name) == step.from_node, where
            assert step.name not in case.fixed, where
            users = {claim for pod in case.fleet.pods if pod.name in nodes for claim in pod.claims}
            devices = {claim: results for claim, results in devices.items() if claim in users}
        if step.action in ("Move", "Place", "Start"):
            nodes[step.name] = step.node
            for claim in step.claims:
                assert claim.name not in devices, where
                plain = [{"request": r.request, "driver": r.driver, "pool": r.pool, "device": r.device} for r in
                         claim.allocation.devices.results]  # fmt: skip
                devices[claim.name] = plain
        assert is_right(case, nodes, devices), f"{where}: {step.action} {step.name}"
    if room.steps:
        preempted = [step.name for step in room.steps if step.action == "Preempt"]
        assert set(nodes) == {pod.name for pod in case.fleet.pods} - set(preempted), where


def test_as_few_moves_as_brute_force_finds() -> None:
    seen = check(range(500), 25)
    assert min(seen[name] for name in ("Moves", "Preemption", "Impossible")) >= 2, seen


@pytest.mark.long
def test_as_few_moves_as_brute_force_finds_in_many_cases() -> None:
    seen = check(range(20_000, 30_000), 300)
    assert min(seen[name] for name in ("Moves", "Preemption", "Impossible", "several")) >= 10, seen


def test_as_few_moves_as_brute_force_finds_where_nodes_share_devices() -> None:
    seen = check(range(500), 8, network=True)
    assert seen["Moves"] >= 2, seen


@pytest.mark.long
def test_as_few_moves_as_brute_force_finds_where_nodes_share_devices_in_many_cases() -> None:
    seen = check(range(1_000), 100, network=True)
    assert min(seen[name] for name in ("Moves", "Preemption", "Impossible")) >= 10, seen


# Who is asked to leave


def crowded(*pods: Plain, **options: Any) -> list[Plain]:
    """Two nodes of two devices, one of them full, one with a pod beside which there is no room for `big`."""
    objects = [*gpus("a", "b"), template("one"), template("two", request(count=2)), *pods]
    return [*objects, pod("big", templates={"g": "two"}, **options)]


def holder(name: str, where: str, device: str, *, kind: str | None = "ReplicaSet", **options: Any) -> list[Plain]:
    """A pod that runs, and its claim."""
    metadata = owned(kind, "owner") if kind else {}
    made = running(name, where, f"{name}-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata, **options)
    return [made, generated(name, "gpu", where, device)]


def room_in(objects: list[Plain], limit: int = 2, **options: Any) -> RoomForPod:
    [room] = Cluster.of(objects, **options).explain(moves=limit).moves or ()
    return room


def told_steps(room: RoomForPod) -> list[tuple[str, str, str]]:
    return [(step.action, step.name, step.node) for step in room.steps]


def test_one_pod_moves_to_the_free_device() -> None:
    room = room_in(crowded(*holder("x", "a", "gpu-0"), *holder("y", "b", "gpu-0")))
    assert (room.outcome, room.moved, room.fewest) == ("Moves", 1, True)
    assert told_steps(room) == [("Move", "x", "b"), ("Start", "big", "a")]
    [claim] = room.steps[0].claims
    assert [(each.pool, each.device) for each in claim.allocation.devices.results] == [("b", "gpu-1")]


@pytest.mark.parametrize(
    ("kind", "annotations", "reason"),
    [
        (None, {}, "NoController"),
        ("DaemonSet", {}, "DaemonSet"),
        ("Node", {}, "Static"),
        ("ReplicaSet", {"kubernetes.io/config.mirror": "x"}, "Static"),
    ],
)
def test_pods_that_can_not_move_are_left_alone(kind: str | None, annotations: Plain, reason: str) -> None:
    pods = [*holder("x", "a", "gpu-0", kind=kind), *holder("y", "b", "gpu-0", kind=kind)]
    for made in (pods[0], pods[2]):
        made["metadata"]["annotations"] = annotations
    room = room_in(crowded(*pods))
    assert (room.outcome, room.steps) == ("Impossible", [])
    [alone] = room.left_alone
    assert (alone.reason, alone.pods, [each.name for each in alone.examples]) == (reason, 2, ["x", "y"])


def test_pods_left_alone_are_tried_as_well_if_nothing_else_makes_room() -> None:
    """The answer is about the pods that may move, and says what the others would bring; all steps are carried out."""
    bare = [*holder("x", "a", "gpu-0", kind=None), *holder("y", "b", "gpu-0", kind=None)]
    said = str(Cluster.of(crowded(*bare)).explain("big", moves=1))
    assert "default/big does not fit, and no running pod may be moved." in said
    assert "If pods without a controller may move as well, it fits if 1 running pod moves to another node:" in said
    assert "1. default/x moves from a to b" in said
    assert "whichever" not in said
    full = [*bare, *holder("z", "a", "gpu-1", kind=None), *holder("w", "b", "gpu-1")]
    room = room_in(crowded(*full), limit=1)
    assert (room.movable, [each.outcome for each in room.allowing]) == (1, ["Impossible"])
    said = str(Cluster.of(crowded(*full)).explain("big", moves=1))
    assert "default/big does not fit: moving the only pod that may move does not make room." in said
    assert "Moving pods without a controller as well would not make room either." in said
    both = [*holder("x", "a", "gpu-0", priority=9), *holder("y", "b", "gpu-0", kind=None, priority=9)]
    room = room_in(crowded(*both, priority=5), limit=1)
    assert [(each.kinds, each.outcome) for each in room.allowing] == [(["NoController"], "Moves")]
    assert [(step.name, step.node) for step in room.allowing[0].steps] == [("y", "a"), ("big", "b")]


@pytest.mark.parametrize(
    ("allowed", "budgets", "outcome"), [(0, 1, "Impossible"), (1, 1, "Moves"), (1, 2, "Impossible")]
)
def test_disruption_budgets_hold(allowed: int, budgets: int, outcome: str) -> None:
    pods = [*holder("x", "a", "gpu-0", labels={"app": "x"}), *holder("y", "b", "gpu-0", labels={"app": "x"})]
    made = [disruption_budget(f"budget-{number}", allowed) for number in range(budgets)]
    room = room_in(crowded(*pods, *made))
    assert room.outcome == outcome
    assert [each.reason for each in room.left_alone] == ([] if outcome == "Moves" else ["DisruptionBudget"])


def test_nobody_of_higher_priority_moves_and_lower_ones_go_if_they_must() -> None:
    full = [*holder("x", "a", "gpu-0", priority=9), *holder("y", "b", "gpu-0", priority=1)]
    full += [*holder("z", "b", "gpu-1", priority=1), *holder("w", "a", "gpu-1", priority=9)]
    room = room_in(crowded(*full, priority=5))
    assert (room.outcome, room.moved, room.preempted) == ("Preemption", 0, 2)
    assert told_steps(room) == [("Preempt", "y", ""), ("Preempt", "z", ""), ("Start", "big", "b")]
    assert [each.reason for each in room.left_alone] == ["HigherPriority"]
    assert room_in(crowded(*full, priority=5, preemptionPolicy="Never")).outcome == "Impossible"
    assert room_in(crowded(*full, priority=1)).outcome == "Impossible"


def test_a_pod_may_start_anew_on_its_own_node() -> None:
    """The devices of one NUMA node are wanted; one pod has one of each."""
    numa = [{"name": f"gpu-{n}", "attributes": {"numa": {"int": n // 2}}} for n in range(4)]
    made = [device_class(), node("a"), slice_("a"), template("one")]
    made[2]["spec"]["devices"] = numa
    both = template("two", request(count=2))
    both["spec"]["spec"]["devices"]["constraints"] = [{"matchAttribute": f"{GPU}/numa"}]
    pods = [*holder("x", "a", "gpu-0"), *holder("y", "a", "gpu-2"), pod("big", templates={"g": "two"})]
    room = room_in([*made, both, *pods])
    assert (room.outcome, room.moved) == ("Moves", 1)
    assert room.steps[0].from_node == room.steps[0].node == "a"


def test_what_fits_needs_no_move_and_steps_can_run_out() -> None:
    room = room_in(crowded(*holder("x", "a", "gpu-0")))
    assert (room.outcome, room.steps, room.tried) == ("Fits", [], 0)
    pods = [*holder("x", "a", "gpu-0", kind=None), *holder("y", "b", "gpu-0")]
    objects = crowded(*pods, cpu="8")
    plan = Cluster.of(objects).explain(moves=2, max_steps=1)
    assert plan.moves is not None
    assert plan.moves[0].outcome == "Undecided"
    assert "may fit, but no way was found" in str(plan)


def test_the_search_ends_when_the_time_is_over() -> None:
    objects = crowded(*holder("x", "a", "gpu-0"), *holder("y", "b", "gpu-0"))
    [room] = Cluster.of(objects).explain(moves=2, timeout=AT_ONCE).moves or ()
    assert (room.outcome, room.steps, room.tried) == ("Undecided", [], 0)


@pytest.mark.parametrize("leaves", [1, 2])
def test_pods_with_one_claim_leave_together(leaves: int) -> None:
    """The claim comes free once both have left, and both go to the node where it gets devices again."""
    both = [running(name, "a", claims={"gpu": "ours"}, metadata=owned("ReplicaSet", "owner")) for name in "xy"]
    ours = generated("x", "gpu", "a", "gpu-0")
    ours["metadata"] = {"name": "ours", "namespace": "default", "uid": "ours"}
    ours["status"]["reservedFor"] = [{"resource": "pods", "name": name, "uid": ""} for name in "xy"]
    room = room_in(crowded(*both, ours, *holder("z", "b", "gpu-0", kind=None)), limit=leaves)
    assert (room.outcome, room.moved) == (("Impossible", 0) if leaves == 1 else ("Moves", 2))
    assert [step.node for step in room.steps if step.action == "Place"] == (["b", "b"] if leaves == 2 else [])


def test_pods_that_are_alike_are_told_once() -> None:
    objects = [*crowded(*holder("x", "a", "gpu-0"), *holder("y", "b", "gpu-0")), pod("big2", templates={"g": "two"})]
    room = room_in(objects)
    assert [each.name for each in room.pods] == ["big", "big2"]


def test_extended_resources_move_too() -> None:
    """The claim for an extended resource is made anew for the pod's next place."""
    objects = [
        device_class(extendedResourceName="example.com/gpu"),
        *gpus("a", "b")[1:],
        template("two", request(count=2)),
    ]
    for name, where in (("x", "a"), ("y", "b")):
        objects.append(pod(name, requests={"example.com/gpu": "1"}, nodeSelector={"kubernetes.io/hostname": where}))
    gates = {"DRAExtendedResource": True}
    done = Cluster.of(objects, feature_gates=gates).schedule().to_dict()
    assert {each["nodeName"] for each in done["pods"]} == {"a", "b"}
    # as they run then
    claims = {each["name"]: each for each in done["claims"]}
    for made in objects[-2:]:
        name = made["metadata"]["name"]
        owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"u-{name}", "controller": True}
        told = claims[f"{name}-extended-resources-xxxxx"]
        metadata = {"name": told["name"], "namespace": "default", "uid": f"c-{name}", "ownerReferences": [owner]}
        metadata["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
        status = {"allocation": told["allocation"], "reservedFor": told["reservedFor"]}
        request_name = told["allocation"]["devices"]["results"][0]["request"]
        spec = {"devices": {"requests": [request(request_name)]}}
        objects.append({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec,
                        "status": status})  # fmt: skip
        made["metadata"].update(owned("ReplicaSet", "owner"))
        made["spec"].update(nodeName=made["spec"].pop("nodeSelector")["kubernetes.io/hostname"])
        special = {"resourceClaimName": told["name"], "requestMappings": []}
        made["status"] = {"phase": "Running", "extendedResourceClaimStatus": special}
    room = room_in([*objects, pod("big", templates={"g": "two"})], feature_gates=gates)
    assert told_steps(room) == [("Move", "x", "b"), ("Start", "big", "a")]
    assert [each.device for each in room.steps[0].claims[0].allocation.devices.results] == ["gpu-1"]


def test_a_step_that_does_not_hold_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from dra_plan.placement.node_kinds import UnverifiedPlacementError
    from dra_plan.questions.explain import sequence

    monkeypatch.setattr(sequence._Arrival, "on", lambda *_: None)
    with pytest.raises(UnverifiedPlacementError, match="internal error"):
        room_in(crowded(*holder("x", "a", "gpu-0"), *holder("y", "b", "gpu-0")))


# The command


@pytest.mark.golden
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    ran = in_process("explain", "fixtures/scattered", "train", "--moves", "3", "-o", form)
    assert ran.status == 0
    golden(Path(__file__).parent / "golden" / f"moves.{form}", ran.out)


def test_the_document_keeps_its_schema() -> None:
    document = Cluster.load("fixtures/scattered").explain(moves=2).to_dict()
    jsonschema.Draft202012Validator(schemas.load("Explanation")).validate(document)
    assert [step["action"] for step in document["moves"][0]["steps"]] == ["Move", "Move", "Start"]
    assert "moves" not in Cluster.load("fixtures/scattered").explain().to_dict()


@pytest.mark.parametrize("given", ["0", "-1", "x"])
def test_a_limit_that_is_no_number(given: str) -> None:
    ran = in_process("explain", "fixtures/scattered", "--moves", given)
    assert (ran.status, ran.out) == (2, "")
    assert "--moves" in ran.err
