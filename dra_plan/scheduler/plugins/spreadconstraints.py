"""The spread constraints of a pod, its own or the defaults, and which pods and nodes each of them counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dra_plan.api.core import Pod, TopologySpreadConstraint
from dra_plan.api.meta import LabelSelector, LabelSelectorRequirement
from dra_plan.api.selectors import labels_match
from dra_plan.api.well_known import HOSTNAME, ZONE
from dra_plan.api.workloads import ReplicationController, Workload
from dra_plan.scheduler.affinityterms import with_label_keys
from dra_plan.scheduler.cluster import SimulatedCluster
from dra_plan.scheduler.nodeinfo import NodeInfo, PodInfo

from .nodeaffinity import matches as matches_affinity
from .tainttoleration import untolerated

SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable="ScheduleAnyway"),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway"),
)


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """One constraint of a pod, ready for counting."""

    key: str
    selector: LabelSelector | None
    max_skew: int
    min_domains: int
    honor_affinity: bool
    honor_taints: bool

    def counts(self, pod: Pod, node: NodeInfo) -> bool:
        """Whether the node's pods are counted for this pod."""
        if self.honor_affinity and not matches_affinity(pod, node.name, node.labels):
            return False
        return not self.honor_taints or untolerated(node.node.spec.taints, pod.spec.tolerations) is None

    def selects(self, pod: Pod, namespace: str) -> bool:
        """Whether a pod is one of those that are spread."""
        return pod.metadata.namespace == namespace and labels_match(self.selector, pod.metadata.labels)

    def count(self, node: NodeInfo, namespace: str) -> int:
        """How many pods on the node are spread by this constraint; those being deleted don't count.

        An empty selector counts nobody, although it selects every pod: so upstream.
        """
        if self.selector is None or not (self.selector.match_labels or self.selector.match_expressions):
            return 0
        label = next(iter((self.selector.match_labels or {}).items()), None)
        pods: Iterable[PodInfo] = node.pods.values() if label is None else node.labelled(*label)
        return sum(not info.terminating and self.selects(info.pod, namespace) for info in pods)


def constraints_of(pod: Pod, listed: Sequence[TopologySpreadConstraint], when: str) -> list[SpreadConstraint]:
    """The constraints with the given action, label keys filled in."""
    return [
        SpreadConstraint(
            key=c.topology_key,
            selector=with_label_keys(c.label_selector, pod, c.match_label_keys),
            max_skew=c.max_skew,
            min_domains=c.min_domains or 1,
            honor_affinity=(c.node_affinity_policy or "Honor") == "Honor",
            honor_taints=c.node_taints_policy == "Honor",
        )
        for c in listed
        if c.when_unsatisfiable == when
    ]


def default_selector(pod: Pod, cluster: SimulatedCluster) -> LabelSelector | None:
    """What selects the pod's like: services that select it and its owning controller; None if nothing does."""
    labels = pod.metadata.labels or {}
    wanted: dict[str, str] = {}
    for service in cluster.services.get(pod.metadata.namespace, ()):
        selector = service.spec.selector
        if selector and all(labels.get(key) == value for key, value in selector.items()):
            wanted.update(selector)
    expressions: list[LabelSelectorRequirement] = []
    owner = pod.metadata.controller
    workload = cluster.workloads.get((owner.kind, pod.metadata.namespace, owner.name)) if owner is not None else None
    if isinstance(workload, ReplicationController):
        wanted.update(workload.spec.selector)
    elif isinstance(workload, Workload) and workload.spec.selector is not None:
        wanted.update(workload.spec.selector.match_labels or {})
        expressions = workload.spec.selector.match_expressions or []
    if not wanted and not expressions:
        return None
    return LabelSelector(match_labels=wanted, match_expressions=expressions)


def has_all(labels: Mapping[str, str], constraints: Sequence[SpreadConstraint]) -> bool:
    """Whether a node with these labels has a value for every constraint."""
    return all(constraint.key in labels for constraint in constraints)
