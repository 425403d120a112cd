"""Nodes that were rejected and have not changed cost nothing when the next pod of the same shape comes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.allocator import Allocator
from dra_plan.allocator.signature import PLAIN_NODES
from dra_plan.scheduler.cluster.memo import ShapeAnswers
from dra_plan.scheduler.framework.node_filter import UNKNOWN, NodeFilter, Scan, Tally
from dra_plan.scheduler.framework.status import Status, unresolvable, unschedulable
from tests.build import gpus, node, placed, pod, template
from tests.scheduler.reading import plan, where


@pytest.mark.parametrize("seed", range(5))
def test_open_are_those_that_were_not_closed_since_they_changed(seed: int) -> None:
    chance = random.Random(seed)
    shape: ShapeAnswers[str] = ShapeAnswers()
    shape.forget_all("?", 12)
    closed: set[int] = set()
    for _ in range(200):
        position = chance.randrange(12)
        if chance.random() < 0.5:
            shape.answers[position] = "no"
            shape.close(position)
            closed.add(position)
        else:
            shape.forget("?", [position])
            closed.discard(position)
            assert shape.answers[position] == "?"
        assert shape.open == [at for at in range(12) if at not in closed]


def test_refused_nodes_are_not_asked_again_nor_counted_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 nodes each takes one copy: a node is asked when it is new and when it has changed."""
    asked: list[str] = []
    told: list[int] = []
    ask, refused = NodeFilter._fill, Scan.refused

    def counted(self: Any, run: Any, nodes: Any) -> Any:
        asked.extend(node.name for node in nodes)
        return ask(self, run, nodes)

    def gathered(self: Any) -> Any:
        told.append(1)
        return refused(self)

    monkeypatch.setattr(NodeFilter, "_fill", counted)
    monkeypatch.setattr(Scan, "refused", gathered)
    names = [f"n{number}" for number in range(40)]
    [item] = Cluster.of([*gpus(*names, each=1), template("one")]).capacity(pod("p", templates={"gpu": "one"}))
    assert item.scheduled.copies == 40
    assert len(asked) == 80
    assert not told


@pytest.mark.parametrize("seed", range(20))
def test_rejections_are_counted_by_change_as_from_scratch(seed: int) -> None:
    """Answers are dropped and come back between counts; the number of nodes changes too."""
    draw, tally = random.Random(seed), Tally()
    kinds = [unschedulable("a").by("One"), unschedulable("a", "b").by("One"), unresolvable("b").by("Two"), None]
    known: ShapeAnswers[Status | None] = ShapeAnswers()
    for _ in range(30):
        number = len(known.answers)
        if not number or draw.random() < 0.1:
            number = draw.randrange(30)
            known.forget_all(UNKNOWN, number)
        else:
            known.forget(UNKNOWN, draw.sample(range(number), draw.randrange(min(number, 4) + 1)))
        known.answers = [draw.choice(kinds) if each is UNKNOWN else each for each in known.answers]
        if draw.random() < 0.1:
            tally = Tally()  # it may be dropped
        expected = Counter(status.rejection for status in known.answers if status is not None)
        assert {each: number for each, number in tally.of(known).items() if number} == expected


def test_a_node_that_looks_as_another_did_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """40 nodes take two pods each: a node with two devices is searched, a node with one, and one with none."""
    searched: list[str] = []
    search = Allocator._search

    def counted(self: Any, node: Any, *rest: Any) -> Any:
        searched.append(node.metadata.name)
        return search(self, node, *rest)

    monkeypatch.setattr(Allocator, "_search", counted)
    names = [f"n{number}" for number in range(40)]
    pods = [pod(f"p{number}", templates={"gpu": "one"}) for number in range(80)]
    found = where(plan([*gpus(*names, each=2), template("one"), *pods]))
    assert sorted(found.values()) == sorted(names * 2)
    assert len(searched) == PLAIN_NODES + 3


def test_nodes_that_others_are_nominated_for_are_asked_each_time() -> None:
    """A pod that waits for its victim to go keeps its place, also against what is known of the node."""
    low = placed("low", "a", cpu="8", priority=0)
    high = pod("high", cpu="6", priority=10)
    small = [pod(f"small-{number}", cpu="2", priority=5) for number in range(3)]
    found = where(plan([node("a"), node("b", cpu="2"), low, high, *small]))
    assert found["high"] == "a"
    assert sorted(filter(None, (found[f"small-{number}"] for number in range(3)))) == ["a", "b"]
