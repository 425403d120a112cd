"""Every extension point with a plugin that succeeds, rejects, errors, waits and raises; and who is unreserved then."""

from __future__ import annotations

import pytest

from dra_plan.scheduler.framework.runtime import PluginPanicError
from dra_plan.scheduler.framework.status import Code, Status
from dra_plan.scheduler.plugins.queueing import PrioritySort
from dra_plan.scheduler.simulate import simulate
from tests import build
from tests.scheduler import reading

from .scripted import WAIT_SECONDS, Listening, Scripted, run

AFTER_RESERVE = ("reserve", "permit", "pre_bind", "bind")
BEFORE_RESERVE = ("pre_enqueue", "pre_filter", "filter", "pre_score", "score", "normalize")
POINTS = (*BEFORE_RESERVE, *AFTER_RESERVE)

WHOLE_CYCLE = [
    "pre_enqueue",
    "pre_filter",
    "filter",
    "filter",
    "pre_score",
    "score",
    "score",
    "normalize",
    "reserve",
    "permit",
    "pre_bind",
    "post_bind",
]


def calls(plugin: Scripted, point: str) -> int:
    return plugin.log.count(f"{plugin.name}.{point}")


def record(outcome, name="p"):
    [found] = [r for r in outcome.pods if r.pod.metadata.name == name]
    return found


def test_success_everywhere_binds_in_order():
    plugin = Scripted({})
    _, outcome = run(plugin)
    assert record(outcome).node == "a"
    assert [entry.split(".")[1] for entry in plugin.log] == WHOLE_CYCLE


PREEMPTION = "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
REJECTED = {
    "pre_filter": f"0/2 nodes are available: pre_filter says reject. no new claims to deallocate, {PREEMPTION}",
    "filter": f"0/2 nodes are available: 2 filter says reject. no new claims to deallocate, {PREEMPTION}",
    "pre_score": 'running PreScore plugin "Scripted": pre_score says reject',
    "score": 'running Score plugins: plugin "Scripted" failed with: score says reject',
    "normalize": 'running Normalize on Score plugins: plugin "Scripted" failed with: normalize says reject',
    "reserve": "0/1 nodes are available: 1 reserve says reject.",
    "permit": "0/1 nodes are available: 1 permit says reject.",
    "pre_bind": "pre_bind says reject",
    "bind": "bind says reject",
}


@pytest.mark.parametrize(("point", "text"), REJECTED.items())
def test_rejection(point, text):
    plugin = Scripted({point: "reject"})
    _, outcome = run(plugin)
    found = record(outcome)
    assert found.node == ""
    assert found.message == text
    errors = point in ("pre_score", "score", "normalize")
    assert found.reason == ("SchedulerError" if errors else "Unschedulable")
    assert calls(plugin, "unreserve") == (calls(plugin, "reserve") if point in AFTER_RESERVE else 0)


ERRORS = {
    "pre_filter": 'running PreFilter plugin "Scripted": pre_filter says error',
    "filter": 'running "Scripted" filter plugin: filter says error',
    "pre_score": 'running PreScore plugin "Scripted": pre_score says error',
    "score": 'running Score plugins: plugin "Scripted" failed with: score says error',
    "normalize": 'running Normalize on Score plugins: plugin "Scripted" failed with: normalize says error',
    "reserve": 'running Reserve plugin "Scripted": reserve says error',
    "permit": 'running Permit plugin "Scripted": permit says error',
    "pre_bind": 'running PreBind plugin "Scripted": pre_bind says error',
    "bind": 'running Bind plugin "Scripted": bind says error',
}


@pytest.mark.parametrize(("point", "text"), ERRORS.items())
def test_error(point, text):
    plugin = Scripted({point: "error"})
    _, outcome = run(plugin)
    found = record(outcome)
    assert (found.node, found.reason, found.message) == ("", "SchedulerError", text)
    assert found.attempts == 2, "an error is tried again after its backoff, though nothing changed"
    assert calls(plugin, "unreserve") == (calls(plugin, "reserve") if point in AFTER_RESERVE else 0)


WAITS = {**{point: text.replace("says error", "says wait") for point, text in ERRORS.items()}}
del WAITS["permit"], WAITS["pre_bind"]


@pytest.mark.parametrize(("point", "text"), WAITS.items())
def test_wait_outside_permit_is_an_error(point, text):
    plugin = Scripted({point: "wait"})
    _, outcome = run(plugin)
    assert record(outcome).message == text
    assert calls(plugin, "unreserve") == (calls(plugin, "reserve") if point in AFTER_RESERVE else 0)


def test_permit_wait_times_out_without_sleeping():
    plugin = Scripted({"permit": "wait"})
    simulation, outcome = run(plugin)
    text = f"rejected due to timeout after waiting {WAIT_SECONDS:g}s at plugin Scripted"
    assert record(outcome).message == f"0/1 nodes are available: 1 {text}."
    assert calls(plugin, "reserve") == calls(plugin, "unreserve") == 1
    assert calls(plugin, "pre_bind") == 0
    assert simulation.handle.waiting_pods() == []


def test_pre_bind_wait_leaves_the_pod_on_its_way():
    """Something outside has to happen: the node stays reserved and nominated."""
    plugin = Scripted({"pre_bind": "wait"})
    _, outcome = run(plugin)
    found = record(outcome)
    assert (found.node, found.nominated, found.waiting) == ("", "a", "pre_bind says wait")
    assert calls(plugin, "unreserve") == calls(plugin, "bind") == 0


@pytest.mark.parametrize("point", POINTS)
def test_raising_ends_the_simulation_and_unreserves_nothing(point):
    """Upstream a panic ends the process: nobody is left to unreserve."""
    plugin = Scripted({point: "raise"})
    with pytest.raises(PluginPanicError) as caught:
        run(plugin)
    assert "plugin Scripted raised at" in str(caught.value)
    assert "ZeroDivisionError" in str(caught.value)
    assert calls(plugin, "unreserve") == 0


@pytest.mark.parametrize("point", ["post_filter", "post_bind", "unreserve"])
def test_raising_where_nothing_is_decided(point):
    script = {point: "raise", **({"filter": "reject"} if point == "post_filter" else {})}
    script |= {"permit": "reject"} if point == "unreserve" else {}
    with pytest.raises(PluginPanicError):
        run(Scripted(script))


def test_unreserve_runs_in_reverse_for_every_reserve_plugin():
    log: list[str] = []
    first, second = Scripted({}, "First", log), Scripted({"reserve": "error"}, "Second", log)
    run(first, second)
    tried = [entry for entry in log if entry.endswith("reserve")]
    assert tried[:4] == ["First.reserve", "Second.reserve", "Second.unreserve", "First.unreserve"]


def test_skip_in_pre_filter_leaves_the_filter_out():
    plugin = Scripted({"pre_filter": "skip", "filter": "reject"})
    _, outcome = run(plugin)
    assert record(outcome).node == "a"
    assert calls(plugin, "filter") == 0


def test_skip_in_pre_score_leaves_the_score_out():
    plugin = Scripted({"pre_score": "skip", "score": "error"})
    _, outcome = run(plugin)
    assert record(outcome).node == "a"


def test_code_3_in_pre_filter_stops_at_once_and_code_2_does_not():
    log: list[str] = []
    run(Scripted({"pre_filter": "refuse"}, "First", log), Scripted({}, "Second", log))
    assert "Second.pre_filter" not in log
    log.clear()
    run(Scripted({"pre_filter": "reject"}, "First", log), Scripted({}, "Second", log))
    assert "Second.pre_filter" in log
    assert "Second.filter" not in log


@pytest.mark.parametrize("what", ["reject", "refuse", "error", "wait", "pend"])
def test_pre_enqueue_gates_without_a_message(what):
    plugin = Scripted({"pre_enqueue": what})
    _, outcome = run(plugin)
    found = record(outcome)
    assert (found.node, found.message, found.attempts) == ("", "", 0)
    assert found.waiting == f"pre_enqueue says {what}"


def test_post_filter_success_hides_the_text_and_error_replaces_it():
    silent = Scripted({"filter": "reject", "post_filter": "error"})
    _, outcome = run(silent)
    text = record(outcome).message
    assert text.startswith("0/2 nodes are available: 2 filter says reject.")
    assert text.endswith("post_filter says error")


def test_first_failing_filter_decides_the_node():
    log: list[str] = []
    _, outcome = run(Scripted({"filter": "reject"}, "First", log), Scripted({"filter": "error"}, "Second", log))
    assert "2 filter says reject" in record(outcome).message
    assert "Second.filter" not in log


def test_scores_outside_0_to_100_are_refused():
    class Greedy(Scripted):
        def score(self, state, pod, node):
            return 101

    _, outcome = run(Greedy({}))
    assert record(outcome).message == (
        'applying score defaultWeights on Score plugins: plugin "Scripted" returns an invalid score 101, '
        "it should in the range of [0, 100] after normalizing"
    )


def test_one_feasible_node_is_not_scored():
    plugin = Scripted({"score": "error"})
    _, outcome = run(plugin, objects=[build.node("only"), build.pod("p")])
    assert record(outcome).node == "only"


def test_bind_skip_falls_through_to_the_default_binder():
    plugin = Scripted({"bind": "skip"})
    _, outcome = run(plugin)
    assert record(outcome).node == "a"
    assert calls(plugin, "post_bind") == 1


PRE_FLIGHT = {
    "error": 'running PreBindPreFlight "Scripted": pre_flight says error',
    "reject": 'PreBindPreFlight Scripted returned "Unschedulable", which is unsupported. '
    "It is supposed to return Success, Skip, or Error status",
    "wait": 'PreBindPreFlight Scripted returned "Wait", which is unsupported. '
    "It is supposed to return Success, Skip, or Error status",
}


@pytest.mark.parametrize(("what", "text"), PRE_FLIGHT.items())
def test_pre_bind_pre_flight_only_succeeds_skips_or_fails(what, text):
    plugin = Scripted({"pre_flight": what})
    _, outcome = run(plugin)
    found = record(outcome)
    assert (found.node, found.reason, found.message) == ("", "SchedulerError", text)
    assert calls(plugin, "pre_bind") == 0
    assert calls(plugin, "unreserve") == calls(plugin, "reserve") > 0


def test_skip_in_pre_flight_leaves_pre_bind_out():
    plugin = Scripted({"pre_flight": "skip", "pre_bind": "error"})
    _, outcome = run(plugin)
    assert record(outcome).node == "a"
    assert calls(plugin, "pre_bind") == 0


def test_a_refusal_while_binding_waits_for_no_event():
    """No plugin counts as having rejected the pod: it is simply tried again, as after an error."""
    plugin = Scripted({"pre_bind": "reject"})
    _, outcome = run(plugin)
    found = record(outcome)
    assert (found.reason, found.attempts) == ("Unschedulable", 2)


VICTIM = [build.node("a", cpu="1"), build.placed("old", "a"), build.pod("p", priority=5)]


@pytest.mark.parametrize("what", ["error", "reject", "wait"])
def test_trial_extensions_that_do_not_succeed_break_preemption(what):
    plugin = Scripted({"remove_pod": what})
    _, outcome = run(plugin, objects=VICTIM)
    text = f'running RemovePod on PreFilter plugin "Scripted": remove_pod says {what}'
    assert record(outcome).message == f"0/1 nodes are available: 1 Insufficient cpu. preemption: {text}"
    assert outcome.evictions == []


def test_trial_extensions_see_every_pod_that_goes_and_comes_back():
    plugin = Scripted({"remove_pod": "success"})
    _, outcome = run(plugin, objects=VICTIM)
    assert [e.victim for e in outcome.evictions] == ["default/old"]
    assert (calls(plugin, "remove_pod"), calls(plugin, "add_pod")) == (2, 1)


@pytest.mark.parametrize("point", ["add_pod", "remove_pod", "pre_flight"])
def test_raising_beside_the_main_points(point):
    plugin = Scripted({point: "raise"})
    with pytest.raises(PluginPanicError):
        run(plugin, objects=VICTIM if point != "pre_flight" else None)


def test_raising_in_queue_sort_and_in_hints():
    class Shuffled(PrioritySort):
        def sort_key(self, item):
            raise ZeroDivisionError("order")

    simulation = reading.simulation([build.node("a"), build.pod("p")])
    for framework in simulation.frameworks.values():
        framework.queue_sort = Shuffled()
    with pytest.raises(PluginPanicError, match="PrioritySort raised at QueueSort"):
        simulate(simulation)
    with pytest.raises(PluginPanicError, match="Scripted raised at QueueingHint"):
        run(Hesitant({"hint": "raise"}), objects=TWO_PODS)


class Hesitant(Listening):
    """Rejects pod `late` until another one is bound."""

    def filter(self, state, pod, node):
        self.log.append(f"{self.name}.filter {pod.metadata.name}")
        blocked = pod.metadata.name == "late" and not node.pods
        return Status(Code.UNSCHEDULABLE, "too early") if blocked else None


TWO_PODS = [build.node("a"), build.pod("late", priority=5), build.pod("p")]


@pytest.mark.parametrize(("hint", "node"), [("queue", "a"), ("skip", "")])
def test_a_hint_decides_whether_the_pod_is_tried_again(hint, node):
    plugin = Hesitant({"hint": hint})
    _, outcome = run(plugin, objects=TWO_PODS)
    assert record(outcome, "p").node == "a"
    assert record(outcome, "late").node == node
    assert calls(plugin, "hint") >= 1


def test_an_error_voids_the_nomination():
    objects = [build.node("a"), build.node("b"), build.pod("p", status={"nominatedNodeName": "b"})]
    simulation, outcome = run(Scripted({"filter": "error"}), objects=objects)
    assert record(outcome).nominated == ""
    assert simulation.handle.nominator.nodes == frozenset()
