"""`--timeout` on every command: the answer, or what is known by then, or nothing with exit status 3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan.cli import timing
from dra_plan.cli.timing import TimeIsOverError, ended_after
from tests.build import gpus, node, pod, template

from .running import in_process

WHOLE = {
    "capacity": (),
    "grow": ("--like", "a"),
    "diff": ("--drain", "a"),
    "pools": (),
    "validate": (),
    "impact": (),
    "maintain": (),
    "repack": ("--most",),
    "autoscale": ("--groups", "tests/cli/inputs/autoscale-groups.yaml"),
}
"""Commands that tell no part of an answer, and what they need beside the input."""
IN_PART = ("allocate", "explain", "schedule", "place")


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([*gpus("a"), template("one"), pod("p", templates={"gpu": "one"})]))
    return str(path)


def asked(command: str, cluster: str, seconds: str, folder: Path) -> tuple[str, ...]:
    if command == "impact":
        new = folder / "new.json"
        new.write_text(json.dumps([node("b")]))
        return "impact", cluster, "-f", str(new), "--timeout", seconds
    return command, cluster, *WHOLE.get(command, ()), "--timeout", seconds


@pytest.mark.parametrize("command", WHOLE)
def test_a_command_ends_without_an_answer(command: str, cluster: str, tmp_path: Path) -> None:
    ran = in_process(*asked(command, cluster, "0", tmp_path))
    assert (ran.status, ran.out) == (3, "")
    assert ran.err.endswith("error: no result within 0 s (--timeout)\n")


@pytest.mark.parametrize("command", [*WHOLE, *IN_PART])
def test_time_enough_changes_nothing(command: str, cluster: str, tmp_path: Path) -> None:
    arguments = asked(command, cluster, "100000", tmp_path)
    assert in_process(*arguments) == in_process(*arguments[:-2])


@pytest.mark.parametrize("command", IN_PART)
def test_what_is_known_by_then_is_told(command: str, cluster: str, tmp_path: Path) -> None:
    ran = in_process(*asked(command, cluster, "0", tmp_path))
    assert ran.status == (0 if command == "explain" else 3)  # what an explanation finds fails nothing
    assert "ndecided" in ran.out


def spin() -> None:
    while True:
        pass


def within(seconds: float) -> float:
    """Spins in a context of its own, and then goes on; the seconds that it ended after."""
    with pytest.raises(TimeIsOverError) as ended, ended_after(seconds):
        spin()
    return ended.value.seconds


@pytest.mark.parametrize("context", [timing._alarm, timing._watch])  # the second is that of Windows
def test_both_clocks_end_a_loop(context: Any) -> None:
    with pytest.raises(TimeIsOverError) as ended, context(0.01):
        spin()
    assert ended.value.seconds == 0.01


def test_a_timer_outside_goes_on() -> None:
    inside: list[float] = []

    def both() -> None:
        inside.append(within(0.01))
        spin()

    with pytest.raises(TimeIsOverError) as ended, ended_after(0.05):
        both()
    assert (inside, ended.value.seconds) == ([0.01], 0.05)


def test_without_a_limit_nothing_ends() -> None:
    with ended_after(None):
        pass
