"""Did-you-mean suggestions: the known name that is nearest to an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS, _DIGITS = re.compile(r"[^\W_]+"), re.compile(r"\d")

_LIMITS = ((2, 0), (4, 1), (7, 2))
"""Pairs of a name length and the number of typing errors allowed up to that length; longer names allow three."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to this name, or None if no name is similar enough. Case is ignored.

    The following are tried in order:

    1. A name with only a few typing errors, that is, missing, added, replaced or swapped characters. If there are
       several, the one with the fewest errors, and then the one with the longest common ending, because people drop
       digits from the middle of a number: `node-0002` means node-00002, not node-00020.
    2. The only name that has the same words in another order.
    3. The name that has most in common with this name.
    """
    by_folded: dict[str, str] = {}
    for candidate in sorted(set(known)):
        by_folded.setdefault(candidate.lower(), candidate)
    wanted = name.lower()
    limit = _typing_errors(wanted)
    best: tuple[int, int, int, str] | None = None
    for other in by_folded:
        rank = _rank(wanted, other, best[0] if best is not None else limit)  # more errors: not the nearest
        if rank is not None and (best is None or rank < best):
            best = rank
    if best is not None:
        return by_folded[best[-1]]
    import difflib

    if (reordered := _reordered(wanted, by_folded)) is not None:
        return by_folded[reordered]
    alike = difflib.get_close_matches(wanted, list(by_folded), n=1, cutoff=0.6)
    return by_folded[alike[0]] if alike else None


def the_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the nearest name, or None if two names are equally near. For example, `sdd` may mean `hdd` or `ssd`."""
    found = nearest(name, known)
    if found is None:
        return None
    others = {other.lower() for other in known} - {found.lower()}
    errors = distance(name.lower(), found.lower(), len(name))
    return None if any(distance(name.lower(), other, errors) <= errors for other in others) else found


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """Return the nearest name that has the same words apart from typing errors, or None if there is none.

    Different digits are not typing errors, and `mig.example.com` is not a misspelt `gpu.example.com`. If there is no
    such name, the only name that has the same words in another order is returned.
    """
    names = list(known)
    alike = [other for other in names if _has_words_of(name.lower(), other.lower())]
    if alike:
        return nearest(name, alike)
    return _reordered(name.lower(), names)


_OF_DRIVERS = frozenset({"dra", "driver", "drivers", "k8s", "resource", "resources"})
"""Words of a driver's name that say nothing about its devices."""


def renamed_driver(name: str, known: Iterable[str]) -> str | None:
    """Return the only known name that can be a new name of this driver, or None.

    Such a name has all words of the old name, or only words of the old name, and shares the vendor's name and at least
    one more word. For example, `gpu.intel.com` may be the new name of `gpu.resource.intel.com`, but `nic.example.com`
    is not a new name of `gpu.example.com`.
    """
    mine = _device_words(name)
    found = set()
    for other in set(known) - {name}:
        theirs = _device_words(other)
        if min(len(mine), len(theirs)) > 2 and (mine <= theirs or theirs <= mine):
            found.add(other)
    return found.pop() if len(found) == 1 else None


def _device_words(driver: str) -> set[str]:
    return {*_WORDS.findall(driver.lower())} - _OF_DRIVERS


def _reordered(name: str, known: Iterable[str]) -> str | None:
    """Return the only known name with the words of this one in another order."""
    words = sorted(_WORDS.findall(name))
    found = {other for other in known if sorted(_WORDS.findall(other.lower())) == words}
    return found.pop() if len(found) == 1 else None


def _has_words_of(name: str, other: str) -> bool:
    mine, theirs = _WORDS.findall(name), _WORDS.findall(other)
    if len(mine) != len(theirs):
        return "".join(mine) == "".join(theirs)  # only the separators differ
    return all(_is_same_word(*pair) for pair in zip(mine, theirs, strict=True))


def _is_same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    limit = _typing_errors(one)
    return _DIGITS.findall(one) == _DIGITS.findall(other) and distance(one, other, limit) <= limit


def _typing_errors(name: str) -> int:
    """Return the number of typing errors that a name of this length may have."""
    return next((errors for length, errors in _LIMITS if len(name) <= length), 3)


def _rank(name: str, other: str, limit: int) -> tuple[int, int, int, str] | None:
    """Return the sort key: typing errors, then how little the ends and the beginnings share; None beyond the limit."""
    if abs(len(name) - len(other)) > limit or not other:
        return None
    first, last = _shared(name, other), _shared(name[::-1], other[::-1])
    if first == len(name) == len(other):
        return 0, 0, 0, other
    both = min(last, len(name) - first, len(other) - first)
    errors = distance(name[first : len(name) - both], other[first : len(other) - both], limit)
    return None if errors > limit or errors >= max(len(name), len(other)) else (errors, -last, -first, other)


def distance(one: str, other: str, limit: int) -> int:
    """Return the edit distance of two texts, up to `limit` + 1.

    An edit adds, removes or replaces a character, or swaps two neighbouring characters.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, start=1):
        previous, before = before, row
        row = [at]
        for place, wanted in enumerate(other, start=1):
            cost = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (char != wanted))
            if at > 1 and place > 1 and char == other[place - 2] and one[at - 2] == wanted:
                cost = min(cost, previous[place - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            break
    return min(row[-1], limit + 1)


def _shared(one: str, other: str) -> int:
    """Return the number of characters that both begin with."""
    shared = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        shared += 1
    return shared
