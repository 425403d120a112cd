"""A record of each plugin's result, for `--trace`. Recording does not change the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from dra_plan.documents.scheduling import PluginVerdict
from dra_plan.scheduler.events import Wake

from .interface import NominatingInfo, PreFilterResult
from .status import Code, Status


def verdict(
    plugin: str,
    status: Status | None,
    *,
    node_names: Iterable[str] | None = None,
    nominated_node: str | None = None,
) -> PluginVerdict:
    """Return the result of a plugin as a verdict."""
    told = status is not None and status.reasons and status.code is not Code.SUCCESS
    return PluginVerdict(
        plugin=plugin,
        status=(status.code if status is not None else Code.SUCCESS).title,
        message=status.message if status is not None and told else None,
        node_names=sorted(node_names) if node_names is not None else None,
        nominated_node=nominated_node,
    )


class Attempt(Struct):
    """A scheduling cycle of one pod."""

    pod: str
    number: int
    time: float
    group: str = ""
    domain: str = ""
    pre_filter: list[PluginVerdict] = field(default_factory=list)
    filters: dict[str, list[PluginVerdict]] = field(default_factory=dict)
    post_filter: list[PluginVerdict] = field(default_factory=list)
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    best: list[str] = field(default_factory=list)
    node: str = ""
    message: str = ""


class Tracer:
    """The recorded cycles, and the reasons why pods were retried."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.wakes: list[Wake] = []

    def begin(self, pod: str, number: int, time: float, group: str = "", domain: str = "") -> None:
        """Start a cycle of a pod. `group` is set if the pod is tried with its group.

        `domain` is set if the cycle is restricted to the nodes of one domain.
        """
        self.attempts.append(Attempt(pod, number, time, group, domain))

    @property
    def current(self) -> Attempt:
        """The current cycle."""
        return self.attempts[-1]

    def pre_filter(self, plugin: str, status: Status | None, result: PreFilterResult | None) -> None:
        """Record the result of a PreFilter plugin."""
        names = result.node_names if result is not None else None
        self.current.pre_filter.append(verdict(plugin, status, node_names=names))

    def filter(self, plugin: str, node: str, status: Status | None) -> None:
        """Record the result of a Filter plugin."""
        self.current.filters.setdefault(node, []).append(verdict(plugin, status))

    def post_filter(self, plugin: str, status: Status | None, result: NominatingInfo | None) -> None:
        """Record the result of a PostFilter plugin."""
        nominated = result.node if result is not None else None
        self.current.post_filter.append(verdict(plugin, status, nominated_node=nominated))

    def scored(self, nodes: Sequence[str], table: dict[str, list[int]], best: Sequence[str]) -> None:
        """Record the weighted scores by plugin and node, and the nodes with the highest total."""
        self.current.scores = {plugin: dict(zip(nodes, scores, strict=True)) for plugin, scores in table.items()}
        self.current.best = list(best)
