"""The NodeAffinity plugin: node selectors, required and preferred node terms, and the configured addedAffinity."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dra_plan.api.core import Node, NodeAffinity, NodeSelector, NodeSelectorTerm, Pod, PreferredSchedulingTerm
from dra_plan.api.selectors import node_matches, term_matches, term_problems
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.framework.runtime import normalize
from dra_plan.scheduler.framework.status import SKIP, CycleState, LabelUnmet, Obstacle, Status, error, unresolvable

_CONFLICT = unresolvable("pod affinity terms conflict")
MISMATCH = unresolvable("node(s) didn't match Pod's node affinity/selector")
_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")


def required_terms(pod: Pod) -> NodeSelector | None:
    """Return the pod's required node terms, or None."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def preferred_terms(pod: Pod) -> list[PreferredSchedulingTerm]:
    """Return the pod's preferred node terms, except those that are empty or have no weight."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return []
    return _counting(affinity.node_affinity)


def _counting(affinity: NodeAffinity) -> list[PreferredSchedulingTerm]:
    return [
        term
        for term in affinity.preferred_during_scheduling_ignored_during_execution
        if term.weight and (term.preference.match_expressions or term.preference.match_fields)
    ]


def matches(pod: Pod, name: str, labels: Mapping[str, str] | None) -> bool:
    """Return whether a node matches the pod's node selector and required node terms."""
    labels = labels or {}
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    required = required_terms(pod)
    return required is None or _terms_match(required, name, labels)


def _terms_match(selector: NodeSelector, name: str, labels: Mapping[str, str]) -> bool:
    """Return whether any term matches; a term that can't be parsed matches nothing."""
    return any(term_matches(t, name, labels) and not any(term_problems(t)) for t in selector.node_selector_terms)


def _unmet(term: NodeSelectorTerm, node: NodeInfo) -> Iterator[LabelUnmet]:
    """Yield a term's requirements that the node does not meet."""
    for one in term.match_expressions:
        if not term_matches(NodeSelectorTerm(match_expressions=[one]), node.name, node.labels):
            yield LabelUnmet(one.key, one.operator, tuple(one.values or ()), node.labels.get(one.key))
    for one in term.match_fields:
        if not term_matches(NodeSelectorTerm(match_fields=[one]), node.name, node.labels):
            yield LabelUnmet(one.key, one.operator, tuple(one.values or ()), node.name)


def shape(pod: Pod) -> Hashable:
    """Return the part of a pod that `matches` reads: its node selector and required node terms."""
    required = required_terms(pod)
    terms = msgspec.json.encode(required) if required is not None else b""
    return tuple(sorted(pod.spec.node_selector.items())), terms


class NodeAffinityPlugin(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """The plugin for node selectors and node affinity."""

    name = plugin_names.NODE_AFFINITY
    looks_at_object_alone = True

    def __init__(self, added: NodeAffinity | None = None) -> None:
        self._required = added.required_during_scheduling_ignored_during_execution if added else None
        self._preferred = _counting(added) if added else []

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Restrict the pod to the nodes named in its required terms, if every term names nodes."""
        required = required_terms(pod)
        if required is None and self._required is None and not pod.spec.node_selector:
            return None, SKIP
        if required is None or not required.node_selector_terms:
            return None, None
        chosen: frozenset[str] = frozenset()
        for term in required.node_selector_terms:
            named = self._named(term.match_fields)
            if named is None:
                return None, None
            chosen |= named
        if not chosen:
            return None, _CONFLICT
        return PreFilterResult(chosen), None

    @staticmethod
    def _named(fields: Sequence[Any]) -> frozenset[str] | None:
        """Return the node names that all of a term's name requirements share.

        Return None if the term does not restrict names.
        """
        named: frozenset[str] | None = None
        for requirement in fields:
            if requirement.key == "metadata.name" and requirement.operator == "In":
                values = frozenset(requirement.values)
                named = values if named is None else named & values
        return named

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if it does not match the pod's node selector or required terms."""
        if self._required is not None and not node_matches(self._required, node.name, node.labels):
            return _ENFORCED
        return None if matches(pod, node.name, node.labels) else MISMATCH

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the unmet parts of the node selector, and of the required term that is closest to matching."""
        found = [
            LabelUnmet(key, "In", (value,), node.labels.get(key))
            for key, value in pod.spec.node_selector.items()
            if node.labels.get(key) != value
        ]
        for required in (required_terms(pod), self._required):
            if required is not None and not _terms_match(required, node.name, node.labels):
                unmet = [list(_unmet(term, node)) for term in required.node_selector_terms]
                found += [one for fewest in sorted(unmet, key=len)[:1] for one in fewest]
        return tuple(dict.fromkeys(found))

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's node selector and required terms as a key."""
        return shape(pod)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Return Skip if the pod has no preferred terms."""
        terms = [*preferred_terms(pod), *self._preferred]
        if not terms:
            return SKIP
        problems = [str(p) for t in preferred_terms(pod) for p in term_problems(t.preference)]
        if problems:
            return error("; ".join(problems))
        state.write(self.name, terms)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the sum of the weights of the preferred terms that match the node."""
        terms: list[PreferredSchedulingTerm] = state.read(self.name)
        return sum(t.weight for t in terms if term_matches(t.preference, node.name, node.labels))

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's preferred terms as a key."""
        return msgspec.json.encode(preferred_terms(pod))

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the scores so that the most preferred nodes get 100."""
        normalize(scores)
        return None

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable: nodes that start to match it."""
        return [Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, self._came_to_match)]

    def _came_to_match(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        def fits(node: Node | None) -> bool:
            if node is None:
                return False
            name, labels = node.metadata.name, node.metadata.labels
            enforced = self._required is None or node_matches(self._required, name, labels)
            return enforced and matches(pod, name, labels)

        return Hint.QUEUE if fits(new) and not fits(old) else Hint.SKIP
