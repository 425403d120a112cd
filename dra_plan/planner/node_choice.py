"""Choose nodes by name, pattern or label selector, for all options that take nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dra_plan.api.core import Node
from dra_plan.api.selectors import labels_match, parse_selector
from dra_plan.errors import UsageError

MOST_OF_PATTERN = 253
"""The maximum length of a pattern, which is that of a node name."""

_OF_PATTERNS = frozenset("*?[")
"""Characters that occur in patterns but not in node names."""

_OF_SELECTORS = frozenset("=!(), ")
"""Characters that occur in label selectors but not in node names."""


def is_selector(text: str) -> bool:
    """Return whether the text is a label selector, such as `rack=r2` or `rack in (r1,r2)`, and not a node name."""
    return not _OF_SELECTORS.isdisjoint(text)


def meant(nodes: Iterable[Node], text: str) -> list[str]:
    """Return the names of the nodes that a name, pattern or label selector selects, in input order.

    In a pattern, `*`, `?` and `[...]` have the same meaning as in a shell. Raises UsageError for a selector that cannot
    be parsed, and for a selector or pattern that selects no node.
    """
    if not is_selector(text):
        return _like(nodes, text) if not _OF_PATTERNS.isdisjoint(text) else [text]
    selector = parse_selector(text)
    found = [node.metadata.name for node in nodes if labels_match(selector, node.metadata.labels)]
    if not found:
        raise UsageError(f"no node has the labels {text!r}")
    return found


def _like(nodes: Iterable[Node], pattern: str) -> list[str]:
    if len(pattern) > MOST_OF_PATTERN:
        raise UsageError(f"a pattern for nodes has at most {MOST_OF_PATTERN} characters, got {len(pattern)}")
    import re
    from fnmatch import translate

    meets = re.compile(translate(pattern)).match
    found = [node.metadata.name for node in nodes if meets(node.metadata.name)]
    if not found:
        raise UsageError(f"no node has a name like {pattern!r}")
    return found


def all_meant(nodes: Sequence[Node], texts: Iterable[str]) -> list[str]:
    """Return the names of the nodes that any of the texts selects, without duplicates.

    Raises UsageError, as `meant` does.
    """
    return list(dict.fromkeys(name for text in texts for name in meant(nodes, text)))


def split_list(text: str) -> Iterator[str]:
    """Yield the node names, patterns and label selectors in a comma-separated list.

    A comma inside brackets or after a label selector belongs to the selector, as in kubectl: `a,b` is two names, but
    `rack=r1,zone=z1` is one selector.
    """
    if is_selector(text.replace(",", "")):
        yield text
    else:
        yield from (name for name in text.split(",") if name)


def by_label(nodes: Iterable[Node], label: str) -> tuple[dict[str, list[str]], list[str]]:
    """Return the names of the nodes with each value of a label, and the names of the nodes without the label.

    The names are in input order. Raises UsageError for a label that no node has.
    """
    values: dict[str, list[str]] = {}
    without: list[str] = []
    for node in nodes:
        value = (node.metadata.labels or {}).get(label)
        if value is None:
            without.append(node.metadata.name)
        else:
            values.setdefault(value, []).append(node.metadata.name)
    if not values:
        raise UsageError(f"no node has the label {label!r}")
    return values, without
