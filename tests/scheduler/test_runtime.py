"""One pod through a profile's plugins by hand: what `Cycle` and `Scheduler` do, step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dra_plan.allocator import Allocator
from dra_plan.api.resource import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dra_plan.scheduler.cluster.memo import NodeAnswers
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo
from dra_plan.scheduler.cycle import best_of, fit_error, nodes_to_find, winner
from dra_plan.scheduler.events import Action, Hint, HintFunction, Interest, Resource
from dra_plan.scheduler.framework.extender import Extender, ExtenderFilterResult
from dra_plan.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    MIN_NODE_SCORE,
    Diagnosis,
    Factory,
    Handle,
    NominatingInfo,
    Registry,
)
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import Code, CycleState, Status, is_skip, unresolvable, unschedulable
from dra_plan.scheduler.framework.types import Nominator, QueuedPod
from dra_plan.scheduler.simulate import simulate
from dra_plan.scheduler.simulation import Simulation
from tests import build
from tests.build import claim, gpus, node, placed, pod
from tests.scheduler import reading

from .scripted import WAIT_SECONDS, Scripted, config


def prepared(objects: list[dict], script: dict[str, str] | None = None) -> tuple[Simulation, Framework, Scripted]:
    """A simulation that has not begun, its framework, and the scripted plugin in it."""
    plugin = Scripted(script or {})
    factory: Factory = lambda _args, _handle: plugin  # noqa: E731 - the type is what is shown
    registry = Registry()
    registry.register(plugin.name, factory)
    simulation = reading.simulation(objects, config=config(plugin.name, first=True), plugins=registry)
    [framework] = simulation.frameworks.values()
    return simulation, framework, plugin


def test_a_pod_with_a_claim_step_by_step():
    simulation, framework, plugin = prepared([*gpus("a", "b"), build.template("t"), pod("p", templates={"x": "t"})])
    [subject] = simulation.pods
    state, nodes = CycleState(), list(simulation.handle.snapshot.values())
    assert framework.run_pre_enqueue(subject) is None
    result, status, restricting = framework.run_pre_filter(state, subject, nodes)
    assert (result.node_names, status, restricting) == (None, None, [])
    assert {"NodeAffinity", "NodePorts", "PodTopologySpread", "InterPodAffinity"} <= state.skip_filter
    assert [framework.filter(state, subject, info) for info in nodes] == [None, None]
    assert framework.filter_with_nominated(state, subject, nodes[0]) is None
    assert framework.run_pre_score(state, subject, nodes) is None
    assert {"NodeAffinity", "PodTopologySpread", "InterPodAffinity"} <= state.skip_score
    table = framework.run_score(state, subject, nodes)
    assert isinstance(table, dict)
    assert table["TaintToleration"] == [3 * MAX_NODE_SCORE] * 2
    assert table["ImageLocality"] == [MIN_NODE_SCORE] * 2
    simulation.cluster.assume(simulation.cluster.info(subject), "b")
    assert framework.run_reserve(state, subject, "b") is None
    assert simulation.cluster.claims.pending_allocation("claim:default/p-x") is not None
    assert framework.run_permit(state, subject, "b") is None
    assert framework.run_pre_bind_pre_flight(state, subject, "b") is None, "there is a claim to write"
    assert framework.run_pre_bind(state, subject, "b", set()) is None
    assert framework.run_bind(state, subject, "b") is None
    framework.run_post_bind(state, subject, "b")
    assert simulation.cluster.pods["u-p"].spec.node_name == "b"
    assert plugin.log[-1] == "Scripted.post_bind"


def test_unreserving_by_hand_gives_the_devices_back():
    simulation, framework, _ = prepared([*gpus("a"), build.template("t"), pod("p", templates={"x": "t"})])
    [subject] = simulation.pods
    state, nodes = CycleState(), list(simulation.handle.snapshot.values())
    framework.run_pre_filter(state, subject, nodes)
    framework.filter(state, subject, nodes[0])
    framework.run_reserve(state, subject, "a")
    assert simulation.cluster.claims.state.dedicated
    framework.run_unreserve(state, subject, "a")
    assert not simulation.cluster.claims.state.dedicated


def test_a_pod_without_claims_has_nothing_to_do_before_binding():
    simulation, framework, _ = prepared([node("a"), pod("p")], {"pre_flight": "skip"})
    [subject] = simulation.pods
    state = CycleState()
    framework.run_pre_filter(state, subject, list(simulation.handle.snapshot.values()))
    assert is_skip(framework.run_pre_bind_pre_flight(state, subject, "a"))
    assert state.skip_pre_bind == {"Scripted", "VolumeBinding", "DynamicResources"}


def test_waiting_on_permit():
    simulation, framework, _ = prepared([node("a"), pod("p")], {"permit": "wait"})
    [subject] = simulation.pods
    status = framework.run_permit(CycleState(), subject, "a")
    assert status is not None
    assert status.code is Code.WAIT
    [waiting] = simulation.handle.waiting_pods()
    assert (waiting.pod, waiting.deadline) == (subject, simulation.clock.now + WAIT_SECONDS)


def test_post_filter_nominates_and_a_rejection_is_a_fit_error():
    simulation, framework, _ = prepared([node("a", cpu="1"), placed("old", "a"), pod("p", priority=5)])
    subject = next(found for found in simulation.pods if found.metadata.name == "p")
    state, nodes = CycleState(), list(simulation.handle.snapshot.values())
    framework.run_pre_filter(state, subject, nodes)
    status = framework.filter(state, subject, nodes[0])
    assert status is not None
    diagnosis = Diagnosis({"a": status}, plugins=frozenset({status.plugin}))
    assert (fit_error(1, diagnosis.statuses), diagnosis.plugins) == (
        "0/1 nodes are available: 1 Insufficient cpu.",
        {"NodeResourcesFit"},
    )
    assert framework.run_post_filter(state, subject, diagnosis.statuses) == (NominatingInfo("a"), None)


def test_nominated_pods_count_for_less_important_ones():
    simulation, framework, _ = prepared([node("a", cpu="1"), pod("important", priority=5), pod("p")])
    first, second = simulation.pods
    nominator: Nominator = simulation.handle.nominator
    nominator.nominate(simulation.cluster.info(first), "a")
    info: NodeInfo = simulation.handle.snapshot["a"]
    for subject, fits in ((first, True), (second, False)):
        state = CycleState()
        framework.run_pre_filter(state, subject, [info])
        assert (framework.filter_with_nominated(state, subject, info) is None) is fits
        assert framework.filter(state, subject, info) is None, "without the nominated pod both fit"
    assert info.pods == {}, "tried on a copy"


def test_node_info_sums_what_is_on_it():
    simulation, _, _ = prepared([node("a"), pod("p", cpu="250m"), placed("x", "a", cpu="2"), placed("y", "a")])
    info = simulation.handle.snapshot["a"]
    added = PodInfo(simulation.pods[0])
    version = info.version
    info.add(added)
    assert (info.requested["cpu"], len(info.pods)) == (3250, 3)
    assert info.version != version, "remembered answers are void"
    trial = info.clone()
    assert trial.remove("u-x") is not None
    assert [*trial.pods] == ["u-p", "u-y"], "the last pod takes the place of the one that left"
    assert (trial.requested["cpu"], info.requested["cpu"]) == (1250, 3250)
    assert trial.remove("u-nobody") is None


def test_the_queue_sorts_by_priority_then_arrival():
    simulation, framework, _ = prepared([node("a"), pod("p"), pod("q", priority=7)])
    items = [QueuedPod(simulation.cluster.info(each), framework, 0.0, order) for order, each in
             enumerate(simulation.pods)]  # fmt: skip
    assert [framework.sort_key(item) for item in items] == [(0,), (-7,)]


def test_a_hint_is_asked_with_the_object_before_and_after():
    seen: list[tuple] = []

    def hint(waiting, old, new):
        seen.append((waiting.metadata.name, old, new))
        return Hint.SKIP

    function: HintFunction = hint
    simulation, framework, plugin = prepared([node("a"), pod("p")])
    simulation.cluster.listener = lambda event: seen.append(
        (framework.wants(plugin, [Interest(Resource.NODE, Action.ADD, function)], event, simulation.pods[0]),)
    )
    info = simulation.handle.snapshot["a"]
    simulation.cluster.emit(Resource.NODE, Action.ADD, None, info.node)
    simulation.cluster.emit(Resource.NODE, Action.DELETE, info.node, None)
    assert seen == [("p", None, info.node), (False,), (False,)]


class Picky:
    """An extender in Python: what stands behind the port need not talk HTTP."""

    name = "picky"
    ignorable = False
    weight = 1
    is_filter = True
    is_prioritizer = is_binder = supports_preemption = False

    def is_interested(self, pod):
        return True

    def filter(self, pod, nodes):
        return ExtenderFilterResult(["b"], {"a": "too loud"}, {})

    def prioritize(self, pod, nodes):
        return {}

    def process_preemption(self, pod, candidates, cluster):
        return list(candidates)

    def bind(self, pod, node):
        raise AssertionError(pod)


def test_an_extender_behind_the_port():
    extender: Extender = Picky()
    simulation = reading.simulation([node("a"), node("b"), pod("p")], extenders=[extender])
    handle: Handle = simulation.handle
    assert handle.extenders == [extender]
    [record] = simulate(simulation).pods
    assert record.node == "b"


def test_reasons_are_counted_and_sorted_as_text():
    several = {f"n{index}": unschedulable("a reason") for index in range(10)}
    statuses = {**several, "x": unresolvable("b reason", "c reason"), "y": Status(Code.SKIP)}
    assert fit_error(12, statuses, post_filter="more") == (
        "0/12 nodes are available: 1 b reason, 1 c reason, 10 a reason. more"
    )
    assert fit_error(3, several, pre_filter="none") == "0/3 nodes are available: none."


def heap_root(scores: list[int]) -> int:
    """The root of a heap that is built from below as Go's container/heap does it: what `winner` must come to."""
    heap = list(range(len(scores)))
    for start in range(len(heap) // 2 - 1, -1, -1):
        at = start
        while (child := 2 * at + 1) < len(heap):
            if child + 1 < len(heap) and scores[heap[child + 1]] > scores[heap[child]]:
                child += 1
            if scores[heap[child]] <= scores[heap[at]]:
                break
            heap[at], heap[child] = heap[child], heap[at]
            at = child
    return heap[0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_the_winner_is_the_root_of_the_heap(scores):
    assert winner(best_of(scores)) == heap_root(scores)


@pytest.mark.parametrize("size", [1, 2, 7, 100, 101, 250])
def test_nodes_that_are_enough(size):
    assert nodes_to_find(size, 100) == size
    assert nodes_to_find(size, 0) == (size if size < 100 else max(100, size * (50 - size // 125) // 100))


def test_remembered_answers_follow_the_nodes():
    """Only nodes that changed are asked again, and none is missed: by pods, devices, or a new list of nodes."""
    simulation, _, _ = prepared([*gpus("a", "b"), claim("c"), pod("p"), pod("q")])
    cluster = simulation.cluster
    answers: NodeAnswers[int | None] = NodeAnswers(cluster, None, most=2)
    answers.of("x").answers[:] = [1, 2]
    cluster.assume(cluster.info(simulation.pods[0]), "b")
    assert answers.of("x").answers == [1, None]
    answers.of("x").answers[1] = 3
    given_away = AllocationResult(devices=DeviceAllocationResult(results=[result("a", "gpu-0")]))
    [stored] = cluster.claims
    cluster.put_claim(replace(stored, status=ResourceClaimStatus(allocation=given_away)))
    assert answers.of("x").answers == [None, 3], "its device is on a"
    cluster.set_nodes([info.node for info in cluster.nodes.values()][:1])
    assert answers.of("x").answers == [None]
    answers.of("x").answers[0] = 4
    answers.of("y"), answers.of("z")
    assert answers.of("x").answers == [None], "only the latest shapes are kept"


def result(pool: str, device: str) -> DeviceRequestAllocationResult:
    return DeviceRequestAllocationResult(request="r", driver=build.GPU, pool=pool, device=device)


@pytest.mark.parametrize("percentage", [0, 100])
def test_a_crowd_is_placed_the_same_with_and_without_remembering(percentage):
    """120 nodes, so that some are left unexamined; a trace switches remembering off."""
    names = [f"n{index:03}" for index in range(120)]
    shapes = [{"cpu": "2"}, {"cpu": "1", "priority": 3}, {"templates": {"x": "t"}}, {"cpu": "7", "priority": 9}]
    objects = [*gpus(*names, each=1), build.template("t"), placed("old", "n005", cpu="6")]
    objects += [pod(f"p{index:03}", **shapes[index % len(shapes)]) for index in range(160)]
    chosen = {**config(), "percentageOfNodesToScore": percentage}
    plain, traced = (reading.plan(objects, config=chosen, trace=trace) for trace in (False, True))
    del traced["trace"]
    assert plain == traced
    assert sum(entry["nodeName"] is not None for entry in plain["pods"]) > 120


def test_devices_are_looked_at_again_only_where_something_changed(monkeypatch):
    """60 pods on 60 nodes: once per node, and twice for each pod that lands on one; not 3,600 times."""
    asked = []
    allocate = Allocator.allocate
    monkeypatch.setattr(
        Allocator, "allocate", lambda self, node, **more: asked.append(node) or allocate(self, node, **more)
    )
    names = [f"n{index:02}" for index in range(60)]
    pods = [pod(f"p{index:02}", templates={"x": "t"}) for index in range(60)]
    plan = reading.plan([*gpus(*names), build.template("t"), *pods])
    assert all(entry["nodeName"] for entry in plan["pods"])
    assert 60 <= len(asked) <= 60 + 2 * 60
