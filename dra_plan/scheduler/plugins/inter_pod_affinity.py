"""The InterPodAffinity plugin, which places pods near some pods and away from others.

The affinity rules of pods that are already on nodes apply too. The first part keeps sums over all nodes between pods;
the second part is the plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from dra_plan.api.core import Namespace, Node, Pod
from dra_plan.api.selectors import labels_match, selector_text
from dra_plan.remembered import Remembered
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.memo import MOST_SHAPES
from dra_plan.scheduler.cluster.nodes import AffinityTerms, NodeInfo, PodInfo, Term
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.framework.status import (
    SKIP,
    AffinityUnmet,
    CycleState,
    Obstacle,
    Status,
    unresolvable,
    unschedulable,
)

# -- sums over all nodes -----------------------------------------------------------------------------------------------
# The sums are updated while pods are added and removed; after the first time, only nodes that have changed are
# examined.

_Key = TypeVar("_Key", bound=Hashable)


class _Tally(Generic[_Key]):
    """One sum: the share of each node, by position, and the number of nodes that contribute to each key."""

    __slots__ = ("brought", "nodes", "read", "revision", "totals")

    def __init__(self) -> None:
        self.totals: dict[_Key, int] = {}
        self.nodes: dict[_Key, int] = {}
        self.brought: list[Mapping[_Key, int]] = []
        self.read = 0
        self.revision = -1

    def put(self, position: int, part: Mapping[_Key, int]) -> None:
        """Replace the amounts that one node contributes to the sums."""
        before = self.brought[position]
        if before == part:
            return
        for sign, amounts in ((-1, before), (1, part)):
            for key, amount in amounts.items():
                self.totals[key] = self.totals.get(key, 0) + sign * amount
                self.nodes[key] = self.nodes.get(key, 0) + sign
        for key in before:
            if not self.nodes.get(key, 1):
                del self.nodes[key], self.totals[key]
        self.brought[position] = part


class Tallies(Generic[_Key]):
    """Sums over all nodes, for many shapes of pods. The least recently used shapes are dropped."""

    def __init__(self, cluster: SimulatedCluster, most: int = MOST_SHAPES) -> None:
        self._cluster = cluster
        self._shapes: Remembered[Hashable, _Tally[_Key]] = Remembered(most)

    def forget(self) -> None:
        """Drop all sums. Call this when something that the sums depend on has changed, other than nodes."""
        self._shapes.clear()

    def of(self, shape: Hashable, part: Callable[[NodeInfo], Mapping[_Key, int]]) -> Mapping[_Key, int]:
        """Return the sum over all nodes for each key, which may be 0. Callers must not change the result.

        `part` returns the contribution of a node, which may depend only on the shape, the node and its pods.
        """
        found: _Tally[_Key] = self._shapes.of(shape, _Tally)
        cluster, end = self._cluster, self._cluster.journal.end()
        changed = [cluster.nodes[name] for name in cluster.journal.since(found.read) if name in cluster.nodes]
        if found.revision != cluster.node_revision:
            found.totals, found.nodes, found.brought = {}, {}, [{}] * len(cluster.nodes)
            changed = list(cluster.in_order)
        for node in changed:
            found.put(node.position, part(node))
        found.revision, found.read = cluster.node_revision, end
        return found.totals


# -- the plugin --------------------------------------------------------------------------------------------------------

_NOT_NEAR = unresolvable("node(s) didn't match pod affinity rules")
NOT_AWAY = "node(s) didn't match pod anti-affinity rules"
UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"
_NOT_AWAY = unschedulable(NOT_AWAY)
_UNWELCOME = unschedulable(UNWELCOME)

_NOTHING: Mapping[tuple[str, tuple[str, str]], int] = {}

Counts = dict[tuple[str, str], int]
"""The number of pods by (topology key, value)."""


@dataclass
class _AffinityCounts:
    """The matching pods per topology value: for the pod's own terms, and existing pods' anti-affinity to it."""

    terms: AffinityTerms
    near: Counts
    away: Counts
    existing: Counts

    def named(self) -> tuple[tuple[str, Counts], ...]:
        """Return the counts by name."""
        return ("near", self.near), ("away", self.away), ("existing", self.existing)

    def clone(self) -> _AffinityCounts:
        return _AffinityCounts(self.terms, dict(self.near), dict(self.away), dict(self.existing))


def _bump(counts: Counts, node: NodeInfo, key: str, by: int) -> None:
    value = node.labels.get(key)
    if value is None:
        return
    total = counts.get((key, value), 0) + by
    if total:
        counts[key, value] = total
    else:
        counts.pop((key, value), None)


class InterPodAffinity(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions, PreFilterExtensions
):
    """The plugin for pod affinity. Required terms filter nodes, and preferred terms score them."""

    name = plugin_names.INTER_POD_AFFINITY

    def __init__(self, handle: Handle, hard_weight: int = 1, *, ignore_preferred_of_existing: bool = False) -> None:
        self._handle = handle
        self._hard_weight = hard_weight
        self._ignore_existing = ignore_preferred_of_existing
        self._tallies: Tallies[tuple[str, tuple[str, str]]] = Tallies(handle.cluster)
        self._namespaces: Mapping[str, Namespace] = {}

    def _shape(self, pod: Pod, *what: Hashable) -> Hashable:
        """Return the part of a pod on which its numbers of matching pods depend.

        Namespaces may have other labels in a later state of the cluster.
        """
        if self._namespaces is not self._handle.cluster.namespaces:
            self._namespaces = self._handle.cluster.namespaces
            self._tallies.forget()
        labels = tuple(sorted((pod.metadata.labels or {}).items()))
        return (*what, pod.metadata.namespace, labels, msgspec.json.encode(pod.spec.affinity))

    def _matches(self, term: Term, pod: Pod) -> bool:
        return term.matches(pod, self._handle.cluster.namespace_labels)

    def _all_match(self, terms: Sequence[Term], pod: Pod) -> bool:
        return bool(terms) and all(self._matches(term, pod) for term in terms)

    # Filter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Count the matching pods in every domain. Return Skip if no affinity rule concerns the pod."""
        terms = self._handle.cluster.info(pod).terms
        counted = _AffinityCounts(terms, {}, {}, {})
        own = bool(terms.required or terms.required_anti)
        if not own and not self._handle.cluster.affinity_pods:
            return None, SKIP

        def part(node: NodeInfo) -> Mapping[tuple[str, tuple[str, str]], int]:
            pods = node.pods if own else node.anti_affinity_pods
            if not pods:
                return _NOTHING
            here = _AffinityCounts(terms, {}, {}, {})
            for info in pods.values():
                self._count(here, pod, info, node, 1)
            return {(what, label): pods for what, counts in here.named() for label, pods in counts.items()}

        named = dict(counted.named())
        for (what, label), pods in self._tallies.of(self._shape(pod, "filter"), part).items():
            named[what][label] = pods
        if not counted.existing and not own:
            return None, SKIP
        state.write(self.name, counted)
        return None, None

    def _count(self, counted: _AffinityCounts, pod: Pod, other: PodInfo, node: NodeInfo, by: int) -> None:
        for term in other.terms.required_anti:
            if self._matches(term, pod):
                _bump(counted.existing, node, term.topology_key, by)
        if self._all_match(counted.terms.required, other.pod):
            for term in counted.terms.required:
                _bump(counted.near, node, term.topology_key, by)
        for term in counted.terms.required_anti:
            if self._matches(term, other.pod):
                _bump(counted.away, node, term.topology_key, by)

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        """Return the object that updates the counts when pods are added or removed in a trial."""
        return self

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Count the pod `added` in its domains."""
        self._count(state.read(self.name), pod, added, node, 1)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Stop counting the pod `removed` in its domains."""
        self._count(state.read(self.name), pod, removed, node, -1)
        return None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Check the pod's affinity, then its anti-affinity, and then the anti-affinity of existing pods."""
        counted: _AffinityCounts = state.read(self.name)
        if not self._near(counted, pod, node):
            return _NOT_NEAR
        if counted.away and any(
            counted.away.get((term.topology_key, node.labels[term.topology_key]), 0) > 0
            for term in counted.terms.required_anti
            if term.topology_key in node.labels
        ):
            return _NOT_AWAY
        if counted.existing and any(counted.existing.get(label, 0) > 0 for label in node.labels.items()):
            return _UNWELCOME
        return None

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the unmet terms of the first kind that has any: affinity, anti-affinity, or that of existing pods.

        An anti-affinity term comes with a pod that must not be in the same domain.
        """
        counted: _AffinityCounts = state.read(self.name)
        if not self._near(counted, pod, node):
            return tuple(
                AffinityUnmet(
                    "affinity",
                    term.topology_key,
                    node.labels.get(term.topology_key),
                    "",
                    selector_text(term.selector),
                    self._elsewhere(term),
                )
                for term in counted.terms.required
                if counted.near.get((term.topology_key, node.labels.get(term.topology_key, "")), 0) <= 0
            )
        for term in counted.terms.required_anti:
            domain = node.labels.get(term.topology_key)
            if domain is not None and counted.away.get((term.topology_key, domain), 0) > 0:
                others = self._pods_in(term.topology_key, domain)
                there = next((other.pod.key for other in others if self._matches(term, other.pod)), "")
                return (AffinityUnmet("anti-affinity", term.topology_key, domain, there, selector_text(term.selector)),)
        for key, domain in node.labels.items():
            if counted.existing.get((key, domain), 0) > 0:
                others = self._pods_in(key, domain)
                there, term = next(
                    (other.pod.key, term) for other in others for term in self._refusing(other, key, pod)
                )
                return (AffinityUnmet("existing", key, domain, there, selector_text(term.selector)),)
        return ()

    def _refusing(self, other: PodInfo, key: str, pod: Pod) -> Iterator[Term]:
        return (term for term in other.terms.required_anti if term.topology_key == key and self._matches(term, pod))

    def _elsewhere(self, term: Term) -> tuple[str, ...]:
        """Return namespaces that the term does not include, with running pods that have the labels."""
        if term.namespace_selector is not None:
            return ()
        pods = (other.pod for node in self._handle.cluster.in_order for other in node.pods.values())
        found = {pod.metadata.namespace for pod in pods if labels_match(term.selector, pod.metadata.labels)}
        return tuple(sorted(found - term.namespaces))

    def _pods_in(self, key: str, domain: str) -> Iterator[PodInfo]:
        nodes = (node for node in self._handle.cluster.in_order if node.labels.get(key) == domain)
        return (other for node in nodes for other in node.pods.values())

    def _near(self, counted: _AffinityCounts, pod: Pod, node: NodeInfo) -> bool:
        met = True
        for term in counted.terms.required:
            value = node.labels.get(term.topology_key)
            if value is None:
                return False
            if counted.near.get((term.topology_key, value), 0) <= 0:
                met = False
        # the first pod in a group with affinity to itself may run anywhere
        return met or (not counted.near and self._all_match(counted.terms.required, pod))

    # Score

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Compute the weight of every domain. Return Skip if no affinity rule concerns the pod."""
        terms = self._handle.cluster.info(pod).terms
        own = bool(terms.preferred or terms.preferred_anti)
        if not own and (self._ignore_existing or not self._handle.cluster.affinity_pods):
            return SKIP

        def part(node: NodeInfo) -> Mapping[tuple[str, tuple[str, str]], int]:
            pods = node.pods if own else node.affinity_pods
            if not pods or not node.labels:
                return _NOTHING
            here: Counts = {}
            for info in pods.values():
                self._weigh(here, terms, pod, info, node)
            return {("weight", label): weight for label, weight in here.items()}

        tally = self._tallies.of(self._shape(pod, "score"), part)
        weights: Counts = {label: weight for (_, label), weight in tally.items()}
        if not weights:
            return SKIP
        state.write(f"{self.name}/score", weights)
        return None

    def _weigh(self, weights: Counts, terms: AffinityTerms, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        theirs = other.terms
        # existing pods' preferences can be ignored only for pods without preferences of their own
        groups = [(terms.preferred, other.pod, 1), (terms.preferred_anti, other.pod, -1)]
        groups += [(theirs.preferred, pod, 1), (theirs.preferred_anti, pod, -1)]
        for listed, whom, sign in groups:
            for term in listed:
                self._weigh_term(weights, term, whom, node, sign * term.weight)
        if self._hard_weight > 0:
            for term in theirs.required:
                self._weigh_term(weights, term, pod, node, self._hard_weight)

    def _weigh_term(self, weights: Counts, term: Term, whom: Pod, node: NodeInfo, by: int) -> None:
        value = node.labels.get(term.topology_key)
        if value is not None and self._matches(term, whom):
            weights[term.topology_key, value] = weights.get((term.topology_key, value), 0) + by

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the sum of the weights of the node's domains."""
        weights: Counts = state.read(f"{self.name}/score")
        return sum(weight for (key, value), weight in weights.items() if node.labels.get(key) == value)

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the scores so that the least preferred nodes get 0 and the most preferred get 100."""
        least, most = min(scores), max(scores)
        span = most - least
        scores[:] = [int(MAX_NODE_SCORE * ((score - least) / span)) if span else 0 for score in scores]
        return None

    # Events

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        These are changes to pods that match an affinity rule, and to nodes with the topology labels.
        """
        return [
            Interest(Resource.ASSIGNED_POD, Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL, self._after_pod),
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, self._after_node),
        ]

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> Hint:
        terms = self._handle.cluster.info(pod).terms

        def wanted(other: Pod | None) -> bool:
            return other is not None and self._all_match(terms.required, other)

        def unwanted(other: Pod | None) -> bool:
            if other is None:
                return False
            theirs = PodInfo(other).terms.required_anti
            return any(self._matches(t, other) for t in terms.required_anti) or any(
                self._matches(t, pod) for t in theirs
            )

        if wanted(new) and not wanted(old):
            return Hint.QUEUE
        return Hint.QUEUE if unwanted(old) and not unwanted(new) else Hint.SKIP

    def _after_node(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        terms = self._handle.cluster.info(pod).terms
        before = (old.metadata.labels or {}) if old is not None else {}
        after = (new.metadata.labels or {}) if new is not None else {}
        keys = [term.topology_key for term in (*terms.required, *terms.required_anti)]
        if not keys:
            return Hint.QUEUE
        changed = any(after.get(key) != before.get(key) for key in keys if key in after or key in before)
        return Hint.QUEUE if changed else Hint.SKIP
