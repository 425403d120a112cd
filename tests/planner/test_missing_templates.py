"""A template that is not in the input is told by every command that plans, and by none where it is not needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import gpus, pod, template, workload

Plain = dict[str, Any]
Answers = dict[str, Callable[[Cluster], Any]]

COMMANDS: Answers = {
    "allocate": lambda cluster: cluster.allocate(),
    "explain": lambda cluster: cluster.explain(),
    "schedule": lambda cluster: cluster.schedule(),
    "grow": lambda cluster: cluster.grow(like="a"),
    "capacity": lambda cluster: cluster.capacity(),
    "place": lambda cluster: cluster.place(),
    "diff": lambda cluster: cluster.diff(cluster.cordon("a")),
    "drain each": lambda cluster: cluster.drain_each(),
}


def job(**options: Any) -> Plain:
    return workload("Job", "train", pod("x", restartPolicy="Never", **options), parallelism=3)


def told(command: str, objects: list[Plain]) -> list[tuple[str, str]]:
    document = COMMANDS[command](Cluster.of(objects)).to_dict()
    return [(each["object"], each["message"]) for each in document["warnings"] if each["code"] == "missing-template"]


MESSAGE = "ResourceClaimTemplate default/gone is not in the input, so the claim is not known"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_template_that_is_missing_is_told(command: str) -> None:
    objects = [*gpus("a", "b"), template("one"), pod("fine", templates={"gpu": "one"})]
    assert told(command, objects) == []
    assert told(command, [*objects, pod("waits", templates={"gpu": "gone"})]) == [("Pod default/waits", MESSAGE)]


@pytest.mark.parametrize("command", COMMANDS)
def test_of_a_workload_it_is_told_once(command: str) -> None:
    objects = [*gpus("a", "b"), template("one"), pod("fine", templates={"gpu": "one"})]
    assert told(command, [*objects, job(templates={"gpu": "one"})]) == []
    assert told(command, [*objects, job(templates={"gpu": "gone"})]) == [("Job default/train", MESSAGE)]
