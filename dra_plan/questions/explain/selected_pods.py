"""`explain`: the pods that a pod's rules about other pods select.

If a required affinity term selects no pod on a node, such pods may be pending, a workload that would create them may be
scaled down or suspended, or a label may be misspelt. A topology spread constraint may count pods of other workloads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from dra_plan.api.core import Pod
from dra_plan.api.selectors import selector_text
from dra_plan.api.workloads import AnyWorkload, CronJob, pod_template
from dra_plan.claims.index import POD, Index, owner_of
from dra_plan.claims.owners import controller_names, is_over, is_suspended, is_waiting, wanted
from dra_plan.documents.node_obstacles import CountedPods, PodSource
from dra_plan.near import the_nearest
from dra_plan.questions.explain.reasons import VerdictRun
from dra_plan.scheduler.cluster.nodes import Term, parse_terms
from dra_plan.scheduler.new_pods import pod_of
from dra_plan.scheduler.plugins.topology_spread import SpreadConstraint, constraints_of

MOST_SOURCES = 3
"""The maximum number of workloads, and of pending pods, that are named."""


_NAMES = ("app.kubernetes.io/name", "app.kubernetes.io/instance", "app", "k8s-app")
"""Labels that name an application: charts replace one by another."""


class SelectedPods:
    """The pods in a run and the workloads in its input, as selected by the rules of one pod."""

    def __init__(self, index: Index, pod: Pod, run: VerdictRun) -> None:
        self._index, self._pod, self._run = index, pod, run

    def term(self, topology_key: str, selector: str) -> Term | None:
        """Return the pod's required affinity term with this key and selector, or None."""
        terms = parse_terms(self._pod).required
        return next(
            (one for one in terms if (one.topology_key, selector_text(one.selector)) == (topology_key, selector)), None
        )

    def is_nowhere(self, term: Term) -> bool:
        """Return whether no pod that the term selects is on a node at the end of the run."""
        nodes = self._run.simulation.cluster.nodes
        return not any(self._selects(term, info.pod) for node in nodes.values() for info in node.pods.values())

    def sources(self, term: Term) -> list[PodSource]:
        """Return where pods that the term selects may come from: workloads, and pending pods without a workload."""
        return list(islice(self._sources(term), MOST_SOURCES))

    def constraint(self, topology_key: str, selector: str) -> SpreadConstraint | None:
        """Return the pod's required spread constraint with this key and selector, or None."""
        required = constraints_of(self._pod, self._pod.spec.topology_spread_constraints, "DoNotSchedule")
        alike = (one for one in required if (one.key, selector_text(one.selector)) == (topology_key, selector))
        return next(alike, None)

    def counted(self, constraint: SpreadConstraint, domain: str, number: int) -> list[CountedPods]:
        """Return whose pods the constraint counts in the domain: some other workloads, and the pod's own.

        Returns nothing if all of them belong to the pod's own workload, if it has none, or if `number` is no longer how
        many there are.
        """
        namespace, own = self._pod.metadata.namespace, self.owner(self._pod)
        found = Counter(
            self.owner(info.pod)
            for node in self._run.simulation.cluster.nodes.values()
            if node.labels.get(constraint.key) == domain and constraint.counts(self._pod, node)
            for info in node.pods.values()
            if not info.terminating and constraint.selects(info.pod, namespace)
        )
        others = sorted(
            ((name, pods) for name, pods in found.items() if name != own), key=lambda one: (-one[1], one[0])
        )
        if own[0] == POD or found.total() != number or not others:
            return []
        made = [CountedPods(kind=kind, name=name, pods=pods) for (kind, name), pods in others[:MOST_SOURCES]]
        return [*made, CountedPods(kind=own[0], name=own[1], pods=found[own], own=True)]

    def owner(self, pod: Pod) -> tuple[str, str]:
        """Return the kind and name of the topmost workload of the pod, or of the pod itself if it has none."""
        top = self._index.top_of(pod)
        if top is not None:
            return top.kind, top.metadata.name
        return [(POD, pod.metadata.name), *controller_names(pod.metadata)][-1]

    def near(self, term: Term) -> str:
        """Return the label, of pods in the term's namespaces, that is most similar to the term's only label, or "".

        It has the same key and a similar value, or the same value and another key.
        """
        labels, selector = self._labels(term), term.selector
        if selector is None or selector.match_expressions or len(selector.match_labels or {}) != 1:
            return ""
        [(key, value)] = (selector.match_labels or {}).items()
        there = list(labels)
        found = the_nearest(value, {each[key] for each in there if key in each})
        if found is not None and found != value:
            return f"{key}={found}"
        keys = {other for each in there for other, own in each.items() if own == value and other != key}
        others = sorted(keys, key=_rank) if found is None and value not in ("true", "false") else []
        return f"{others[0]}={value}" if others else ""

    def _labels(self, term: Term) -> Iterator[Mapping[str, str]]:
        """Yield the labels of the pods in the namespaces that the term names, and of those that workloads create."""
        for pod in self._index.inventory.pods:
            if pod.metadata.namespace in term.namespaces:
                yield pod.metadata.labels or {}
        for workload in self._index.inventory.workloads:
            if workload.metadata.namespace in term.namespaces:
                yield pod_template(workload).metadata.labels or {}

    def _selects(self, term: Term, pod: Pod) -> bool:
        return term.matches(pod, self._run.simulation.cluster.namespace_labels)

    def _sources(self, term: Term) -> Iterator[PodSource]:
        """Yield the workloads that would create such pods, and the waiting pods that belong to none of these.

        What a workload in the input controls, such as the former ReplicaSets of a Deployment, is left out.
        """
        inventory = self._index.inventory
        if self._selects(term, self._pod):
            return  # its own workload has such pods, and the first of them needs no other
        found = (pod for pod in inventory.pods if is_waiting(pod) and self._selects(term, pod))
        waiting = {pod.key: pod for pod in sorted(found, key=lambda one: one.key)}
        for workload in sorted(inventory.workloads, key=owner_of):
            if is_over(workload) or self._index.owners.of(workload.metadata) is not None:
                continue
            if self._selects(term, pod_of(workload, pod_template(workload), workload.metadata.name)):
                own = sorted({pod.key for pod in self._index.pods_of(workload)} & waiting.keys())
                waiting = {key: pod for key, pod in waiting.items() if key not in own}
                yield _source(workload, own)
        for pod in waiting.values():
            yield PodSource(kind=pod.kind, namespace=pod.metadata.namespace, name=pod.metadata.name, state="Pending")


def _rank(key: str) -> tuple[int, str]:
    """Return a sort key for labels with which a value may be meant, the most usual one first."""
    return _NAMES.index(key) if key in _NAMES else len(_NAMES), key


def _source(workload: AnyWorkload, waiting: Sequence[str]) -> PodSource:
    """Return the workload, with why none of its pods is on a node; `waiting` are its pending pods."""
    state = "NoPods"
    if waiting:
        state = "Pending"
    elif is_suspended(workload) or (isinstance(workload, CronJob) and workload.spec.suspend):
        state = "Suspended"
    elif not isinstance(workload, CronJob) and workload.kind != "DaemonSet" and wanted(workload, ()).number == 0:
        state = "NoReplicas"
    key = workload.metadata
    pod = waiting[0] if waiting else ""
    return PodSource(
        kind=workload.kind, namespace=key.namespace, name=key.name, state=state, pod=pod, pods=len(waiting)
    )
