"""`schedule --trace` in lines: each attempt as a story, nodes with the same story together.

The same as a matrix of nodes and plugins is `-o wide`, in `schedule`.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.documents.schedule import NodeVerdicts, PluginVerdict, TracedAttempt

from .columns import Paragraph
from .explain_words import NAMES, listed


def story(attempt: TracedAttempt) -> Paragraph:
    """What became of the pod, then what the plugins said: before the nodes, of them, and when none was left."""
    return Paragraph([headline(attempt), *(f"  {line}" for line in _lines(attempt))])


def headline(attempt: TracedAttempt) -> str:
    """Which attempt of which pod, and what became of it."""
    with_group = f" with podgroup/{attempt.pod_group}" if attempt.pod_group else ""
    inside = f" in {attempt.domain}" if attempt.domain else ""
    return f"{attempt.pod}{with_group}, attempt {attempt.attempt}{inside}: {attempt.node or attempt.message}"


def _lines(attempt: TracedAttempt) -> Iterator[str]:
    for entry in attempt.pre_filter:
        if entry.status not in ("Success", "Skip"):
            yield f"before any node: {_said(entry)}"
    alike: dict[str, list[str]] = {}
    for node in attempt.filter:
        alike.setdefault(_of_node(node, attempt), []).append(node.node)
    for said, nodes in alike.items():
        number = f" ({len(nodes)} nodes)" if len(nodes) > NAMES + 1 else ""
        yield f"{listed(nodes)}{number}: {said}"
    if len(attempt.best) > 1:
        yield f"most points: {listed(attempt.best)}"
    for entry in attempt.post_filter:
        yield f"no node left: {_said(entry)}"


def _of_node(node: NodeVerdicts, attempt: TracedAttempt) -> str:
    refused = list(dict.fromkeys(_said(entry) for entry in node.verdicts if entry.status != "Success"))
    if refused:
        return "; ".join(refused)
    points = {plugin: by_node[node.node] for plugin, by_node in attempt.score.items() if node.node in by_node}
    if not points:
        return "passes"
    parts = ", ".join(f"{plugin} {number}" for plugin, number in points.items() if number) or "none"
    return f"passes, {sum(points.values())} points: {parts}"


def _said(entry: PluginVerdict) -> str:
    return f"{entry.plugin}: {entry.message or entry.status}"
