"""A template that is not in the input is told by every command that plans, and by none where it is not needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import gpus, pod, template, workload
from tests.cli.running import in_process

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


MESSAGE = "ResourceClaimTemplate default/gone is not in the input, so the claim is not known (did you mean one?)"


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


def test_schedule_says_it_in_a_quiet_run(tmp_path: Path) -> None:
    objects = [*gpus("a", "b"), template("one"), template("four"), job(templates={"gpu": "won"})]
    (tmp_path / "in.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    ran = in_process("schedule", "-q", str(tmp_path))
    assert "\n\nJob default/train: ResourceClaimTemplate default/won is not in the input, so the claim" in ran.out
    assert "missing-template" not in ran.err


def test_a_name_in_another_namespace_is_not_meant() -> None:
    other = template("gones")
    other["metadata"]["namespace"] = "other"
    [(_, message)] = told("schedule", [*gpus("a"), other, pod("waits", templates={"gpu": "gone"})])
    assert message.endswith("so the claim is not known")
