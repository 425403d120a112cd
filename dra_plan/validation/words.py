"""Small wordings that the checks share: did-you-mean, lists, counts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from dra_plan import near

MOST_NAMED = 3

EXISTS_WITH_VALUE = "operator Exists takes no value"
"""Of tolerations, those of pods and those of requests."""


_ALIKE = 0.7
"""How much of two names must be the same, of 1; a correction is more than a hint."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, or None. Case does not count."""
    return _nearest(name, tuple(known))


@lru_cache(maxsize=4096)  # inputs say the same wrong name often
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    from difflib import SequenceMatcher

    found = near.nearest(name, known)
    if found is None or SequenceMatcher(None, name.lower(), found.lower()).ratio() < _ALIKE:
        return None
    return found


def count(number: int, noun: str) -> str:
    """`1 device`, `2 devices`, `2 classes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def none_of(number: int, noun: str, verb: str, whose: str = "") -> str:
    """`none of the 3 devices of WHOSE VERBs`, also where there is only one."""
    tail = f" of {whose}" if whose else ""
    return (
        f"the only {noun}{tail} does not {verb}"
        if number == 1
        else f"none of the {number} {noun}s{tail} {_third(verb)}"
    )


def _third(verb: str) -> str:
    return f"{verb}es" if verb.endswith(("ch", "sh")) else f"{verb}s"


def listed(names: Iterable[object], most: int = MOST_NAMED) -> str:
    """The first names, and how many more there are."""
    texts = [str(name) for name in names]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def shown(text: str, most: int = 60) -> str:
    """A value in quotes, cut when long."""
    return f'"{text}"' if len(text) <= most else f'"{text[: most - 3]}..."'


def no_extended_resource(name: str) -> str:
    """Of a name that should be one of an extended resource."""
    return f"{shown(name)} is no extended resource name"


def absent_of(what: str, known: Iterable[str]) -> str:
    """Of an object that is named, where the input has others of its kind."""
    return f"no {what} in the input, which has {listed(sorted(known))}"
