"""A bound on time: what is cut short is said, and is neither yes nor no."""

from __future__ import annotations

import json

import pytest

import dra_plan
from dra_plan import Cluster
from dra_plan.scheduler import simulation
from tests.build import gpus, pod, template
from tests.cli.running import ROOT, in_process
from tests.scheduler.reading import plan

AN_HOUR = 3600.0
QUICKSTART = str(ROOT / "fixtures" / "quickstart")


class Clock:
    """Monotonic time that passes with every look at it; searches, which look at the real one, are never late."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 1e12, step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


def test_without_time_nothing_is_tried() -> None:
    ran = in_process("schedule", QUICKSTART, "--timeout", "0", "-o", "json")
    assert ran.status == 3
    pods = json.loads(ran.out)["pods"]
    assert {pod["outcome"] for pod in pods} == {"Undecided"}
    assert {pod["waiting"] for pod in pods} == {"the time ran out before it was tried"}
    assert "the time (--timeout) ran out: 3 pods were not tried to the end (default/train, " in ran.err
    assert "[timed-out]" in ran.err


def test_what_was_decided_in_time_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [pod.outcome for pod in Cluster.load(QUICKSTART).schedule()]
    found = set()
    for seconds in range(1, 12):
        ticking, standing = Clock(1.0), Clock(0.0)
        standing.now = ticking.now
        monkeypatch.setattr(simulation, "time", ticking)
        monkeypatch.setattr("dra_plan.planner.question.time", standing)
        outcomes = [pod.outcome for pod in Cluster.load(QUICKSTART).schedule(timeout=seconds)]
        decided = [outcome != "Undecided" for outcome in outcomes]
        assert decided == sorted(decided, reverse=True)
        assert outcomes[: sum(decided)] == whole[: sum(decided)]
        found.add(sum(decided))
    assert found >= {1, 2, 3}


def test_enough_time_changes_nothing() -> None:
    cluster = Cluster.load(QUICKSTART)
    assert cluster.schedule(timeout=AN_HOUR).to_dict() == cluster.schedule().to_dict()
    objects = list(dra_plan.load([QUICKSTART]))
    assert dra_plan.schedule(objects, timeout=AN_HOUR).to_dict() == dra_plan.schedule(objects).to_dict()


def test_a_table_and_a_gate_say_so() -> None:
    ran = in_process("schedule", QUICKSTART, "--timeout", "0", "--require-fit")
    assert ran.status == 1
    assert "default/train" in ran.out
    assert "Undecided" in ran.out
    assert "the time ran out before it was tried" in ran.out


def test_of_pods_that_are_alike_each_is_undecided() -> None:
    objects = [*gpus("a"), template("one"), *(pod(name, templates={"gpu": "one"}) for name in ("first", "second"))]
    found = plan(objects, max_steps=1)
    assert [entry["undecidedNodes"] for entry in found["pods"]] == [["a"], ["a"]]
    assert {entry["outcome"] for entry in found["pods"]} == {"Undecided"}
