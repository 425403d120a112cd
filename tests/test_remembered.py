"""What is remembered by key: made once, and again after it was dropped; nobody can tell but by the work."""

from __future__ import annotations

import random

from dra_plan.remembered import Remembered


def test_a_value_is_made_once_even_if_it_is_none() -> None:
    made: list[str] = []
    known: Remembered[str, None] = Remembered(2)
    for _ in range(3):
        assert known.of("a", lambda: made.append("a")) is None
    assert made == ["a"]


def test_the_least_recently_used_is_dropped() -> None:
    known: Remembered[str, str] = Remembered(2)
    known.keep("a", "1")
    known.keep("b", "2")
    assert not known.has_dropped
    assert known.of("a", lambda: "another") == "1"
    known.keep("c", "3")
    assert (known.get("a"), known.get("b"), known.get("c")) == ("1", None, "3")
    assert known.has_dropped
    assert known.of("b", lambda: "made again") == "made again"


def test_the_answers_are_the_same_however_few_are_kept() -> None:
    r = random.Random(1)
    keys = [r.randrange(20) for _ in range(500)]
    for most in (1, 3, 100):
        known: Remembered[int, int] = Remembered(most)
        assert [known.of(key, lambda key=key: key**2) for key in keys] == [key**2 for key in keys]


def test_nothing_is_known_after_clearing() -> None:
    known: Remembered[str, str] = Remembered(2)
    known.keep("a", "1")
    known.clear()
    assert known.get("a") is None
