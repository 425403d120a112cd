"""`diff --drain each`: a row a node, the most harmful first."""

from __future__ import annotations

from dra_plan import shown
from dra_plan.documents.drains import DrainedNode, DrainsDocument

from . import text
from .columns import Part, Screen, Table
from .explain_words import counted, listed
from .formats import Format, Formats, choose, of_tables
from .markdown_table import markdown_parts

HEADERS = ("NODE", "WITHOUT A PLACE", "GONE", "MOVED", "PODS", "THE SCHEDULER SAYS")


def table(document: DrainsDocument, _screen: Screen | None) -> list[Part]:
    """A row for each node whose pods would have no place or be gone; of the others, how many they are."""
    harmful = [node for node in document.nodes if node.lost or node.gone]
    others = len(document.nodes) - len(harmful)
    made = Table(HEADERS, flexible=(0, 4, 5))
    for node in harmful:
        made.add(*_row(node))
    if not harmful:
        return [f"{none_lost(document)}.", text.target(document)]
    rest = [f"{counted(others, 'other node')} can be drained without a pod losing its place."] if others else []
    return [made, *rest, text.target(document)]


def wide(document: DrainsDocument, _screen: Screen | None) -> list[Part]:
    """A row for each node, and below it one for each pod without a place."""
    made = Table(HEADERS, flexible=(0, 4, 5))
    for node in document.nodes:
        made.add(*_row(node))
    pods = Table(("NODE", "POD", "THE SCHEDULER SAYS"), grouped=1, flexible=(1, 2))
    for node in document.nodes:
        for pod in node.lost:
            pods.add(node.name, f"{pod.namespace}/{pod.name}", pod.message or "")
        for one in node.gone:
            pods.add(node.name, f"{one.namespace}/{one.name}", "gone: nobody makes it anew")
    return [made, *([pods] if pods.rows else []), text.target(document)]


def none_lost(document: DrainsDocument) -> str:
    """That no drain costs a pod its place, without the full stop: of pods that the input has, if it lacks some."""
    lacks = any(warning.code == "pods-missing" for warning in document.warnings)
    whose = "No pod of the input" if lacks else "No pod"
    return f"{whose} loses its place, whichever of {counted(len(document.nodes), 'node')} is drained"


def _row(node: DrainedNode) -> list[str]:
    pods = [f"{pod.namespace}/{pod.name}" for pod in node.lost] + [f"{pod.namespace}/{pod.name}" for pod in node.gone]
    said = _said(list(dict.fromkeys(pod.message or "" for pod in node.lost)))
    numbers = (str(len(node.lost)), str(len(node.gone)), str(node.moved))
    return [node.name, *numbers, listed(pods) if pods else "", said]


def _said(messages: list[str]) -> str:
    """The first of what the scheduler says, and how many other texts there are."""
    if len(messages) < 2:
        return "".join(messages)
    return f"{messages[0]} (and {counted(len(messages) - 1, 'other text')})"


def names(document: DrainsDocument) -> str:
    """`NODE NUMBER`, of pods without a place, for every node."""
    return "".join(f"{shown.line(f'{node.name} {len(node.lost)}')}\n" for node in document.nodes)


def markdown(document: DrainsDocument, screen: Screen | None) -> str:
    """The table as Markdown."""
    return markdown_parts(table(document, screen))


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[DrainsDocument]:
    """The format that `-o OPTION` asks for. UsageError for an unknown one or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": markdown})
