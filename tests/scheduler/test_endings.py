"""Simulations end: where upstream tries a pod for ever, a bound does."""

from __future__ import annotations

import pytest

from dra_plan.scheduler import simulation
from dra_plan.scheduler.binding import MOST_ERRORS_OF_A_POD
from dra_plan.scheduler.simulation import MOST_ATTEMPTS
from tests.build import device_class, node, pod, request, slice_, template
from tests.scheduler.reading import outcome, plan


def incomplete(where: str, expected: int) -> dict:
    """A pool of which only one slice has been published."""
    made = slice_(where, "d0")
    made["spec"]["pool"]["resourceSliceCount"] = expected
    return made


def test_errors_that_alternate_between_two_pools_end() -> None:
    objects = [device_class(), *(node(name) for name in ("a-0", "a-3", "b-1", "b-2", "b-3"))]
    objects += [incomplete("a-3", 2), incomplete("b-1", 4)]
    wanted = template("t", {"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "All"}})
    pods = [pod(f"p{index}", templates={"e": "t"}) for index in range(4)]
    document = plan([*objects, wanted, *pods])
    assert {entry["outcome"] for entry in document["pods"]} == {"Error"}
    assert max(entry["attempts"] for entry in document["pods"]) <= MOST_ERRORS_OF_A_POD < MOST_ATTEMPTS


def test_a_pod_that_is_tried_too_often_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "MOST_ATTEMPTS", 1)
    objects = [device_class(), node("n"), incomplete("n", 2), template("t", request(allocationMode="All", count=0))]
    found = outcome(plan([*objects, pod("p", templates={"e": "t"})]), "p")
    assert found["outcome"] == "Error"
    assert found["message"].startswith("given up after 1 attempts, the last of them: running")
