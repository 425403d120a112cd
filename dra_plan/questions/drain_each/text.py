"""`diff --drain each`: a row per node, the most harmful first."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan import shown
from dra_plan.documents.base import ObjectName
from dra_plan.questions.drain_each.document import DrainedNode, DrainsDocument, LostPod
from dra_plan.text import preemption as naming
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.formats import Format, Formats, choose, of_tables, whole
from dra_plan.text.markdown import markdown_parts
from dra_plan.text.naming import NAMES, held, target, why_undecided
from dra_plan.text.words import NOT_MADE, counted, listed

_HEADERS = ("LEFT PENDING", "NOT RECREATED", "MOVED", "PODS", "MESSAGE")


GONE = "a pod without a controller, or evicted for another pod"


def table(document: DrainsDocument, _screen: Screen | None) -> list[Part]:
    """Return rows for each node whose drain leaves pods pending or deleted, and list the remaining nodes."""
    harmful = [node for node in document.nodes if node.lost or node.gone]
    if not harmful and not any(node.undecided for node in document.nodes):
        return [f"{none_lost(document)}.", *_held_up(document), target(document)]
    made = Table((_heading(document), *_HEADERS), flexible=(0, 4, 5))
    for node in harmful:
        for row in _rows(node, short=True):
            made.add(*row)
    return [*([made] if made.rows else []), *_others(document), *_held_up(document), target(document)]


def _others(document: DrainsDocument) -> Iterator[str]:
    """Yield the nodes without harm, and separately those for which this is uncertain."""
    rest = [node for node in document.nodes if not node.lost and not node.gone]
    known = [node.name for node in rest if not node.absent and not node.undecided]
    if known:
        yield f"{listed(known, NAMES + 1)} can be drained without losing any pods."
    unknown = [node for node in rest if node.absent]
    if unknown:
        pods = list(dict.fromkeys(f"{pod.namespace}/{pod.name}" for node in unknown for pod in node.absent))
        are = "is" if len(pods) == 1 else "are"
        nodes = listed([node.name for node in unknown], NAMES + 1)
        yield f"Whether {nodes} can be drained without losing pods is not known: {listed(pods)} {are} not in the input."
    yield from _undecided(document)


def _held_up(document: DrainsDocument) -> Iterator[str]:
    """Yield the nodes whose drain a budget blocks, in a sentence for each budget."""
    alike: dict[str, list[str]] = {}
    for node in document.nodes:
        for hold in node.held_by:
            alike.setdefault(held(hold, later=len(node.nodes) > 1), []).append(node.name)
    for budget, nodes in alike.items():
        yield f"kubectl drain of {listed(list(dict.fromkeys(nodes)), NAMES + 1)} would wait for {budget}."


def _undecided(document: DrainsDocument) -> Iterator[str]:
    """Yield the pods for which a loss is undecided, with the nodes concerned."""
    alike: dict[str, list[str]] = {}
    for node in document.nodes:
        unclear: list[LostPod | ObjectName] = [pod for pod in node.lost if pod.undecided]
        pods = [f"{pod.namespace}/{pod.name}" for pod in (*unclear, *node.undecided)]
        if pods:
            alike.setdefault(listed(pods), []).append(node.name)
    for pods_named, nodes in alike.items():
        where = listed(nodes, NAMES + 1)
        yield (
            f"Drain of {where}: undecided whether {pods_named} would be scheduled, because {why_undecided(document)}."
        )


def wide(document: DrainsDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for each node, followed by a row for each pod that would have no node."""
    made = Table((_heading(document), *_HEADERS), flexible=(0, 4, 5))
    for node in document.nodes:
        for row in _rows(node, short=False):
            made.add(*row)
    pods = Table((_heading(document), "POD", "MESSAGE"), grouped=1, flexible=(1, 2))
    for node in document.nodes:
        for pod in node.lost:
            pods.add(node.name, _lost(pod), _message(pod))
        for one in node.gone:
            pods.add(node.name, f"{one.namespace}/{one.name}", GONE)
    return [made, *([pods] if pods.rows else []), *_undecided(document), *_held_up(document), target(document)]


def none_lost(document: DrainsDocument) -> str:
    """Return a sentence that states that no drain makes a pod lose its node, without a full stop.

    The sentence says so if the input lacks pods, or if the result is undecided for some pods.
    """
    unclear = dict.fromkeys((pod.namespace, pod.name) for node in document.nodes for pod in node.undecided)
    if unclear:
        return f"Undecided for {counted(len(unclear), 'pod')}: {why_undecided(document)}"
    lacks = any(warning.code == "pods-missing" for warning in document.warnings)
    whose = "No pod of the input" if lacks else "No pod"
    return f"{whose} loses its node, whichever of {drained(document)} is drained"


def drained(document: DrainsDocument) -> str:
    """Return the number of nodes, or groups of nodes, that are drained in turn."""
    number = len(document.nodes)
    if not document.by:
        return counted(number, "node")
    nodes = sum(len(each.nodes) or 1 for each in document.nodes)
    return f"{counted(number, 'group')} of nodes ({document.by}, {counted(nodes, 'node')})"


def _heading(document: DrainsDocument) -> str:
    return "NODES" if document.by else "NODE"


def _rows(node: DrainedNode, *, short: bool) -> Iterator[list[str]]:
    """Yield the pods without a node and their messages, then those that are gone."""
    numbers = [str(len(node.lost)), str(len(node.gone)), str(node.moved)]
    if node.lost or not node.gone:
        messages = map(_message, node.lost)
        said = dict.fromkeys(naming.without(message) if short else message for message in messages)
        yield [node.name, *numbers, listed([_lost(pod) for pod in node.lost]), _said(list(said))]
        numbers = ["", "", ""]
    if node.gone:
        yield [node.name, *numbers, listed([f"{pod.namespace}/{pod.name}" for pod in node.gone]), GONE]


def _message(pod: LostPod) -> str:
    return f"is terminated ({pod.ended_by}); {NOT_MADE}" if pod.ended_by else pod.message or ""


def _lost(pod: LostPod) -> str:
    said = f"{'running' if pod.running else 'waiting'}{', undecided' if pod.undecided else ''}"
    return f"{pod.namespace}/{pod.name} ({said})"


def _said(messages: list[str]) -> str:
    """Return the first message of the scheduler, and the number of other messages."""
    if len(messages) < 2:
        return "".join(messages)
    return f"{messages[0]} (and {counted(len(messages) - 1, 'other text')})"


def names(document: DrainsDocument) -> str:
    """Return a line of the form `NODE NUMBER` for each node, where NUMBER counts the pods that would have no node."""
    return "".join(f"{shown.line(f'{node.name} {len(node.lost)}')}\n" for node in document.nodes)


def markdown(document: DrainsDocument, screen: Screen | None) -> str:
    """Return the table as Markdown."""
    return markdown_parts(table(document, screen))


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[DrainsDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, {**of_tables(FORMATS), "markdown": whole(markdown)})
