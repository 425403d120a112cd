"""The process's recursion limit while several want room, and afterwards."""

import sys
import threading

import pytest

from dra_plan.cel.ast import with_room
from dra_plan.interpreter import more_frames


def _depth(levels: int) -> int:
    return 0 if levels == 0 else 1 + _depth(levels - 1)


@pytest.fixture(autouse=True)
def usual():
    before = sys.getrecursionlimit()
    yield before
    assert sys.getrecursionlimit() == before


def test_room_is_given_and_taken_back_after_an_error(usual):
    def fails() -> None:
        assert _depth(usual + 3_000) == usual + 3_000
        raise KeyError

    with pytest.raises(KeyError), more_frames(5_000):
        fails()
    with pytest.raises(RecursionError):
        _depth(usual + 3_000)


def test_room_within_room_adds_up(usual):
    with more_frames(2_000), more_frames(2_000):
        assert _depth(usual + 3_000) == usual + 3_000


def test_who_ends_first_leaves_the_others_their_room(usual):
    ready, ended = threading.Event(), threading.Event()
    reached = []

    def late():
        with more_frames(5_000):
            ready.set()
            ended.wait()
            reached.append(_depth(usual + 3_000))

    thread = threading.Thread(target=late)
    with more_frames(100):
        thread.start()
        ready.wait()
    ended.set()
    thread.join()
    assert reached == [usual + 3_000]


def test_expressions_find_room_in_the_depth_of_another(usual):
    def inner(levels: int) -> int:
        return with_room(lambda: _depth(3_000)) if levels == 0 else inner(levels - 1)

    with more_frames(100_000):
        assert inner(usual + 90_000) == 3_000
