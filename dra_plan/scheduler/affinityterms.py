"""Pod affinity rules, ready for matching: namespaces and label keys filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dra_plan.api.core import Pod, PodAffinity, PodAffinityTerm
from dra_plan.api.meta import LabelSelector, LabelSelectorRequirement
from dra_plan.api.selectors import labels_match

NamespaceLabels = Callable[[str], Mapping[str, str]]
"""The labels of a namespace, empty if it is unknown."""


@dataclass(frozen=True, slots=True)
class Term:
    """One affinity term. It selects pods by label in `namespaces` and in those that `namespace_selector` selects."""

    selector: LabelSelector | None
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    topology_key: str
    weight: int = 0

    def matches(self, pod: Pod, namespace_labels: NamespaceLabels) -> bool:
        """Whether the term means this pod."""
        namespace = pod.metadata.namespace
        if namespace not in self.namespaces and not (
            self.namespace_selector is not None and labels_match(self.namespace_selector, namespace_labels(namespace))
        ):
            return False
        return labels_match(self.selector, pod.metadata.labels)


@dataclass(frozen=True, slots=True)
class AffinityTerms:
    """All affinity terms of a pod."""

    required: tuple[Term, ...] = ()
    required_anti: tuple[Term, ...] = ()
    preferred: tuple[Term, ...] = ()
    preferred_anti: tuple[Term, ...] = ()

    @property
    def any(self) -> bool:
        """Whether the pod has any rule."""
        return bool(self.required or self.required_anti or self.preferred or self.preferred_anti)


_NONE = AffinityTerms()


def parse_terms(pod: Pod) -> AffinityTerms:
    """The affinity terms of a pod."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return _NONE
    near, far = affinity.pod_affinity or PodAffinity(), affinity.pod_anti_affinity or PodAffinity()
    return AffinityTerms(
        required=tuple(_term(pod, t) for t in near.required_during_scheduling_ignored_during_execution),
        required_anti=tuple(_term(pod, t) for t in far.required_during_scheduling_ignored_during_execution),
        preferred=_weighted(pod, near),
        preferred_anti=_weighted(pod, far),
    )


def _weighted(pod: Pod, affinity: PodAffinity) -> tuple[Term, ...]:
    return tuple(
        _term(pod, weighted.pod_affinity_term, weighted.weight)
        for weighted in affinity.preferred_during_scheduling_ignored_during_execution
        if weighted.weight
    )


def _term(pod: Pod, term: PodAffinityTerm, weight: int = 0) -> Term:
    """The pod's own namespace counts where neither namespaces nor a selector of them are given."""
    own = not term.namespaces and term.namespace_selector is None
    return Term(
        selector=with_label_keys(term.label_selector, pod, term.match_label_keys, term.mismatch_label_keys),
        namespaces=frozenset({pod.metadata.namespace}) if own else frozenset(term.namespaces),
        namespace_selector=term.namespace_selector,
        topology_key=term.topology_key,
        weight=weight,
    )


def with_label_keys(
    selector: LabelSelector | None, pod: Pod, equal: list[str], different: list[str] | tuple[str, ...] = ()
) -> LabelSelector | None:
    """The selector with matchLabelKeys and mismatchLabelKeys turned into requirements, as the API server does."""
    labels = pod.metadata.labels or {}
    added = [
        LabelSelectorRequirement(key=key, operator=operator, values=[labels[key]])
        for keys, operator in ((equal, "In"), (different, "NotIn"))
        for key in keys
        if key in labels
    ]
    if selector is None or not added:
        return selector
    present = selector.match_expressions or []
    return LabelSelector(
        match_labels=selector.match_labels, match_expressions=[*present, *(r for r in added if r not in present)]
    )
