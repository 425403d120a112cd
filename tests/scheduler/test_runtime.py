"""One pod through a profile's plugins by hand: what `Cycle` and `Scheduler` do, step by step."""

from __future__ import annotations

from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, HintFunction, Interest, Resource
from dra_plan.scheduler.extenders import Extender, ExtenderFilterResult
from dra_plan.scheduler.framework import MAX_NODE_SCORE, MIN_NODE_SCORE, Diagnosis, NominatingInfo
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.messages import event_note, fit_error
from dra_plan.scheduler.nodeinfo import NodeInfo, PodInfo
from dra_plan.scheduler.nominations import Nominator
from dra_plan.scheduler.queue import QueuedPod
from dra_plan.scheduler.registry import Factory, Registry
from dra_plan.scheduler.runtime import Framework
from dra_plan.scheduler.simulate import Simulation
from dra_plan.scheduler.status import Code, Status, is_skip, unresolvable, unschedulable

from . import build
from .build import gpus, node, placed, pod
from .scripted import WAIT_SECONDS, Scripted, config


def prepared(objects: list[dict], script: dict[str, str] | None = None) -> tuple[Simulation, Framework, Scripted]:
    """A simulation that has not begun, its framework, and the scripted plugin in it."""
    plugin = Scripted(script or {})
    factory: Factory = lambda _args, _handle: plugin  # noqa: E731 - the type is what is shown
    registry = Registry()
    registry.register(plugin.name, factory)
    simulation = build.simulation(objects, config=config(plugin.name, first=True), plugins=registry)
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
    assert simulation.cluster.claims.flying("claim:default/p-x") is not None
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
    assert state.skip_pre_bind == {"Scripted", "DynamicResources"}


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
    simulation, _, _ = prepared([node("a"), placed("x", "a", cpu="2"), placed("y", "a"), pod("p", cpu="250m")])
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
    simulation = build.simulation([node("a"), node("b"), pod("p")], extenders=[extender])
    handle: Handle = simulation.handle
    assert handle.extenders == [extender]
    [record] = simulation.run().pods
    assert record.node == "b"


def test_reasons_are_counted_and_sorted_as_text():
    several = {f"n{index}": unschedulable("a reason") for index in range(10)}
    statuses = {**several, "x": unresolvable("b reason", "c reason"), "y": Status(Code.SKIP)}
    assert fit_error(12, statuses, post_filter="more") == (
        "0/12 nodes are available: 1 b reason, 1 c reason, 10 a reason. more"
    )
    assert fit_error(3, several, pre_filter="none") == "0/3 nodes are available: none."
    assert (event_note("x" * 1024), event_note("x" * 1025)) == ("x" * 1024, "x" * 1020 + " ...")
