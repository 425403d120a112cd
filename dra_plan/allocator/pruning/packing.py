"""R6c: whether things of given sizes can be put into places at all, be it in whatever order.

Which things these are, and that none of them may be left out, is for `stocks` to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

Sizes = tuple[tuple[int, int], ...]
"""Sizes above 0, the largest first, each with the number of things that have it."""

_MOST_STATES = 300
"""So many numbers of things in places are told apart; beyond that sizes near each other count as the smaller one."""
_MOST_PLACES = 64
"""More places are not looked at together: a search that is worth it has few."""
_UNREACHED = -1


def can_be_packed(sizes: Sizes, places: Sequence[int]) -> bool:
    """Whether all things find room. False is certain; True is with few places and not too many things and sizes."""
    if not sizes:
        return True
    smallest = sizes[-1][0]
    room = tuple(sorted(place for place in places if place >= smallest))
    return _one_by_one(sizes, room) or len(room) > _MOST_PLACES or _together(_fewer(sizes), room)


def _one_by_one(sizes: Sizes, places: Sequence[int]) -> bool:
    """Whether they do if the largest goes first, into the first place that has room: most do."""
    left = list(places)
    for size, number in sizes:
        for index, amount in enumerate(left):
            taken = min(number, amount // size)
            number -= taken
            left[index] = amount - taken * size
        if number:
            return False
    return True


def _fewer(sizes: Sizes) -> Sizes:
    """Few enough sizes: where there are too many, the two that differ least count as the smaller one.

    Safe: what has room has room for something smaller in its stead.
    """
    listed = list(sizes)
    while len(listed) > 1 and _states(listed) > _MOST_STATES:
        at = min(range(1, len(listed)), key=lambda index: listed[index - 1][0] / listed[index][0])
        listed[at - 1 : at + 1] = [(listed[at][0], listed[at - 1][1] + listed[at][1])]
    return tuple(listed)


def _states(sizes: Sequence[tuple[int, int]]) -> int:
    found = 1
    for _, number in sizes[:-1]:
        found *= number + 1
    return found


@lru_cache(maxsize=8192)
def _together(sizes: Sizes, places: tuple[int, ...]) -> bool:
    return _most(sizes, places)[-1] >= sizes[-1][1]


@lru_cache(maxsize=8192)
def _most(sizes: Sizes, places: tuple[int, ...]) -> list[int]:
    """For so many things of all sizes but the smallest in these places: how many of the smallest go there as well.

    The numbers are counted up as the digits of an index, the last one the fastest.
    """
    if not places:
        return [0] + [_UNREACHED] * (_states(sizes) - 1)
    before = _most(sizes, places[:-1])
    found, most = list(before), sizes[-1][1]
    for sources, step, more in _fillings(sizes, places[-1]):
        for index in sources:
            number = before[index]
            if number != _UNREACHED and number + more > found[index + step]:
                found[index + step] = min(most, number + more)
    return found


@lru_cache(maxsize=4096)
def _fillings(sizes: Sizes, place: int) -> list[tuple[list[int], int, int]]:
    """What one place can be filled with: from which indices on, by how much that moves them, and of the smallest."""
    numbers = [number for _, number in sizes[:-1]]
    strides = [_states(sizes[index + 1 :]) for index in range(len(numbers))]
    found = []
    for amounts, rest in _choices(sizes[:-1], place):
        ranges = [range(number - amount + 1) for number, amount in zip(numbers, amounts, strict=True)]
        sources = [sum(at * stride for at, stride in zip(digits, strides, strict=True)) for digits in product(*ranges)]
        step = sum(amount * stride for amount, stride in zip(amounts, strides, strict=True))
        found.append((sources, step, rest // sizes[-1][0]))
    return found


def _choices(sizes: Sizes, place: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """How many of each of these sizes go into one place, and what is left of it."""
    if not sizes:
        yield (), place
        return
    (size, number), others = sizes[0], sizes[1:]
    for taken in range(min(number, place // size) + 1):
        for amounts, rest in _choices(others, place - taken * size):
            yield (taken, *amounts), rest
