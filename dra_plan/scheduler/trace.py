"""The record of what each plugin answered, for `--trace`. Recording changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .events import Wake
from .framework import NominatingInfo, PreFilterResult
from .status import Code, Status


def verdict(status: Status | None) -> dict[str, Any]:
    """A status as JSON."""
    if status is None or status.code is Code.SUCCESS:
        return {"status": "Success"}
    title = status.code.title
    return {"status": title, "message": status.message} if status.reasons else {"status": title}


@dataclass
class Attempt:
    """One scheduling cycle of one pod."""

    pod: str
    number: int
    time: float
    pre_filter: list[dict[str, Any]] = field(default_factory=list)
    filters: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    post_filter: list[dict[str, Any]] = field(default_factory=list)
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    best: list[str] = field(default_factory=list)
    node: str = ""
    message: str = ""


class Tracer:
    """Collects attempts and wake-ups."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.wakes: list[Wake] = []

    def begin(self, pod: str, number: int, time: float) -> None:
        """A cycle starts."""
        self.attempts.append(Attempt(pod, number, time))

    @property
    def current(self) -> Attempt:
        """The cycle that is running."""
        return self.attempts[-1]

    def pre_filter(self, plugin: str, status: Status | None, result: PreFilterResult | None) -> None:
        """A PreFilter answer."""
        entry = {"plugin": plugin, **verdict(status)}
        if result is not None and result.node_names is not None:
            entry["nodeNames"] = sorted(result.node_names)
        self.current.pre_filter.append(entry)

    def filter(self, plugin: str, node: str, status: Status | None) -> None:
        """A Filter answer."""
        self.current.filters.setdefault(node, []).append({"plugin": plugin, **verdict(status)})

    def post_filter(self, plugin: str, status: Status | None, result: NominatingInfo | None) -> None:
        """A PostFilter answer."""
        entry = {"plugin": plugin, **verdict(status)}
        if result is not None:
            entry["nominatedNode"] = result.node
        self.current.post_filter.append(entry)

    def scored(self, nodes: Sequence[str], table: dict[str, list[int]], best: Sequence[str]) -> None:
        """Weighted scores per plugin and node, and the nodes with the highest sum."""
        self.current.scores = {plugin: dict(zip(nodes, scores, strict=True)) for plugin, scores in table.items()}
        self.current.best = list(best)
