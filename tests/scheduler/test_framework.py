"""The names of the framework, today's and those of v1alpha1, at work."""

from __future__ import annotations

import pytest

from dra_plan.errors import UsageError
from dra_plan.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    MAX_PERMIT_SECONDS,
    EnqueueExtensions,
    Plugin,
    PreFilterResult,
    Registry,
)
from dra_plan.scheduler.framework.status import (
    SKIP,
    Code,
    CycleState,
    ResourceShort,
    StateNotFoundError,
    Status,
    error,
    insufficient,
    is_skip,
    succeeded,
    unresolvable,
    unschedulable,
)
from dra_plan.scheduler.framework.waiting import WaitingPod, WaitingPods, duration
from dra_plan.scheduler.simulate import simulate
from tests import build
from tests.scheduler import reading

from .scripted import Scripted, config, run

# v1alpha1 PluginContext, today CycleState


class Counter:
    def __init__(self, value: int) -> None:
        self.value = value

    def clone(self) -> Counter:
        return Counter(self.value)


def test_state_reads_writes_and_deletes():
    state = CycleState()
    state.write("a", 1)
    assert state.read("a") == state.get("a") == 1
    state.delete("a")
    state.delete("a")
    assert state.get("a") is None
    with pytest.raises(StateNotFoundError) as caught:
        state.read("a")
    assert str(caught.value) == "not found"


def test_cloned_state_is_independent():
    state = CycleState()
    state.write("counter", Counter(1))
    state.write("shared", [1])
    state.skip_filter = frozenset({"X"})
    other = state.clone()
    other.read("counter").value = 2
    other.write("new", 1)
    assert state.read("counter").value == 1
    assert state.get("new") is None
    assert other.read("shared") is state.read("shared")
    assert other.skip_filter == {"X"}


# Status and its codes


def test_codes_are_kubernetes_numbers():
    assert [code.value for code in Code] == [0, 1, 2, 3, 4, 5, 6]
    assert Code.SUCCESS == 0
    assert Code.PENDING == 6


@pytest.mark.parametrize(
    ("code", "rejected"),
    [
        (Code.SUCCESS, False),
        (Code.ERROR, False),
        (Code.UNSCHEDULABLE, True),
        (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, True),
        (Code.WAIT, False),
        (Code.SKIP, False),
        (Code.PENDING, True),
    ],
)
def test_rejections(code, rejected):
    assert Status(code).rejected is rejected


def test_status_joins_reasons_and_keeps_the_first_plugin():
    status = unschedulable("one", "two").by("First").by("Second")
    assert (status.message, status.plugin) == ("one, two", "First")
    assert succeeded(None)
    assert succeeded(Status(Code.SUCCESS))
    assert not succeeded(error("x"))
    assert is_skip(SKIP)
    assert not is_skip(None)
    assert unresolvable("x") == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "x")
    assert "UNSCHEDULABLE_AND_UNRESOLVABLE" in repr(unresolvable("x"))
    assert len({unresolvable("x"), unresolvable("x")}) == 1


def test_a_reason_keeps_what_it_is_about():
    status = unschedulable("plain", insufficient("cpu", 3000, -500)).by("NodeResourcesFit")
    assert status.message == "plain, Insufficient cpu"
    assert [reason.about for reason in status.reasons] == [None, ResourceShort("cpu", 3000, 0)]


# Registry


def test_registry_registers_unregisters_and_refuses_duplicates():
    registry = Registry()
    registry.register("Mine", lambda _args, _handle: Scripted({}))
    with pytest.raises(UsageError, match="a plugin named Mine already exists"):
        registry.register("Mine", lambda _args, _handle: Scripted({}))
    other = Registry()
    other.merge(registry)
    assert set(other) == {"Mine"}
    registry.unregister("Mine")
    with pytest.raises(UsageError, match="no plugin named Mine exists"):
        registry.unregister("Mine")
    assert isinstance(other["Mine"]({}, None), Plugin)


# WaitingPod


def waiting(**waits: float) -> WaitingPod:
    from dra_plan.api.core import Pod

    return WaitingPod(Pod(), "n", 100.0, waits)


def test_all_plugins_must_allow():
    pod = waiting(A=10, B=20)
    assert pod.pending_plugins == ["A", "B"]
    pod.allow("A")
    assert not pod.decided
    pod.allow("B")
    assert pod.decided
    assert pod.verdict is None
    assert pod.reject("A", "too late") is False


def test_one_rejection_is_enough():
    pod = waiting(A=10, B=20)
    assert pod.reject("B", "no") is True
    assert pod.verdict == unschedulable("no").by("B")
    assert pod.preempt("A", "x") is False


def test_the_shortest_wait_decides():
    pod = waiting(A=30, B=20)
    assert pod.deadline == 120
    pod.expire(119)
    assert not pod.decided
    pod.expire(120)
    assert pod.verdict.message == "rejected due to timeout after waiting 20s at plugin B"


def test_waiting_pods_can_be_listed_and_removed():
    pods = WaitingPods()
    pods.add("u", waiting(A=1))
    assert [p.node for p in pods] == ["n"]
    assert len(pods) == 1
    pods.remove("u")
    pods.remove("u")
    assert pods.get("u") is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (0.5, "500ms"), (10, "10s"), (90, "1m30s"), (900, "15m0s"), (3601.5, "1h0m1.5s")],
)
def test_durations_read_as_in_go(seconds, text):
    assert duration(seconds) == text


def test_permit_waits_at_most_15_minutes():
    class Patient(Scripted):
        def permit(self, state, pod, node):
            return Status(Code.WAIT), 10 * MAX_PERMIT_SECONDS

    _, outcome = run(Patient({}))
    assert "after waiting 15m0s at plugin Scripted" in outcome.pods[0].message


class Permits(Scripted):
    """Makes the first pod wait and decides about it when the second one comes."""

    def __init__(self, decide) -> None:
        super().__init__({})
        self.decide = decide
        self.handle = None
        self.seen: list[list[str]] = []

    def permit(self, state, pod, node):
        pods = self.handle.waiting_pods()
        self.seen.append([w.pod.metadata.name for w in pods])
        if not pods:
            return Status(Code.WAIT), 60.0
        self.decide(self.handle, pods[0])
        return None, 0.0


def two_pods(decide):
    plugin = Permits(decide)
    registry = Registry()

    def make(_args, handle):
        plugin.handle = handle
        return plugin

    registry.register("Scripted", make)
    from .scripted import config

    objects = [build.node("a"), build.pod("p1"), build.pod("p2")]
    simulation = reading.simulation(objects, config=config("Scripted"), plugins=registry)
    return plugin, {r.pod.metadata.name: r for r in simulate(simulation).pods}


def test_a_plugin_allows_a_waiting_pod():
    plugin, records = two_pods(lambda _handle, other: other.allow("Scripted"))
    assert plugin.seen == [[], ["p1"]]
    assert (records["p1"].node, records["p2"].node) == ("a", "a")


def test_a_plugin_rejects_a_waiting_pod_through_the_handle():
    def decide(handle, other):
        assert handle.waiting_pod("u-p1") is other
        assert handle.reject_waiting_pod("u-p1")
        assert not handle.reject_waiting_pod("nobody")

    _, records = two_pods(decide)
    assert records["p2"].node == "a"
    assert records["p1"].attempts > 1, "rejected in no plugin's name, it is tried again, and then waits in vain"
    assert "rejected due to timeout" in records["p1"].message


# The rest


def test_limits():
    assert MAX_NODE_SCORE == 100
    assert MAX_PERMIT_SECONDS == 15 * 60


def test_pre_filter_results_are_intersected():
    class Only(Scripted):
        def __init__(self, name: str, *nodes: str) -> None:
            super().__init__({}, name)
            self.nodes = frozenset(nodes)

        def pre_filter(self, state, pod, nodes):
            return PreFilterResult(self.nodes), None

    _, outcome = run(Only("First", "a", "b"), Only("Second", "b"))
    assert outcome.pods[0].node == "b"
    _, outcome = run(Only("First", "a"), Only("Second", "b"))
    text = "0/2 nodes are available: node(s) didn't satisfy plugin(s) [First Second] simultaneously."
    assert outcome.pods[0].message.startswith(text)
    _, outcome = run(Only("First"))
    assert outcome.pods[0].message.startswith("0/2 nodes are available: node(s) didn't satisfy plugin First.")


def test_nodes_left_out_by_name_count_under_the_plugin():
    class Only(Scripted):
        def pre_filter(self, state, pod, nodes):
            return PreFilterResult(frozenset({"a"})), None

    _, outcome = run(Only({"filter": "reject"}))
    text = "0/2 nodes are available: 1 filter says reject, 1 node(s) didn't satisfy plugin(s) [Scripted]."
    assert outcome.pods[0].message.startswith(text)


def test_the_snapshot_stays_the_same_during_a_cycle():
    class Looks(Scripted):
        handle = None
        versions: list[list[int]] = []

        def _look(self):
            self.versions.append([node.version for node in self.handle.snapshot.values()])

        def pre_filter(self, state, pod, nodes):
            self._look()
            return None, None

        def normalize(self, state, pod, nodes, scores):
            self._look()

    plugin = Looks({})
    registry = Registry()

    def make(_args, handle):
        plugin.handle = handle
        return plugin

    registry.register("Scripted", make)
    from .scripted import config

    objects = [build.node("a"), build.node("b"), build.pod("p1"), build.pod("p2")]
    simulate(reading.simulation(objects, config=config("Scripted"), plugins=registry))
    assert plugin.versions[0] == plugin.versions[1]
    assert plugin.versions[2] == plugin.versions[3] != plugin.versions[0]


def test_activating_a_pod_tries_it_again_without_an_event():
    """PodActivator: `stuck` has nothing to hope for until `p` is bound and its plugin activates it."""

    class Activator(Scripted):
        simulation = None

        def filter(self, state, pod, node):
            self.log.append(f"{self.name}.filter {pod.metadata.name}")
            blocked = pod.metadata.name == "stuck" and "Activator.post_bind" not in self.log
            return unschedulable("not yet") if blocked else None

        def post_bind(self, state, pod, node):
            self.log.append("Activator.post_bind")
            self.handle.activate(self.simulation.pods[-1])

        def events_to_register(self):
            return []

    class Quiet(Activator, EnqueueExtensions):
        pass

    plugin = Quiet({}, "Activator")
    objects = [build.node("a"), build.pod("p"), build.pod("stuck")]
    registry = Registry()
    registry.register("Activator", lambda _args, handle: (setattr(plugin, "handle", handle), plugin)[1])
    simulation = reading.simulation(objects, config=config("Activator"), plugins=registry)
    plugin.simulation = simulation
    outcome = simulate(simulation)
    assert {r.pod.metadata.name: r.node for r in outcome.pods} == {"p": "a", "stuck": "a"}
