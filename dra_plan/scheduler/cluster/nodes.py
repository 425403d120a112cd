"""The scheduler's view of a node and of a pod: parsed once, and summed up as pods are added and removed.

Affinity terms come first, then pods and nodes with their sums (upstream: PodInfo, NodeInfo), then the order in which
nodes are examined.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from dra_plan.api.core import (
    Node,
    Pod,
    PodAffinity,
    PodAffinityTerm,
)
from dra_plan.api.meta import LabelSelector, LabelSelectorRequirement
from dra_plan.api.selectors import labels_match
from dra_plan.api.well_known import BETA_REGION, BETA_ZONE, REGION, ZONE
from dra_plan.claims.pod_claims import named_claims
from dra_plan.scheduler.clock import parse_time

from .keys import GroupKey, group_key
from .pod_requests import (
    CPU,
    DEFAULT_MEMORY,
    DEFAULT_MILLI_CPU,
    MEMORY,
    PODS,
    Amounts,
    amounts,
    host_ports,
    pod_requests,
)
from .pod_volumes import PodVolumes, pod_volumes

# -- pod affinity terms ------------------------------------------------------------------------------------------------
# Ready for matching: namespaces and label keys are filled in.

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
        """Return whether the term selects this pod."""
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
        """Return whether the pod has any rule."""
        return bool(self.required or self.required_anti or self.preferred or self.preferred_anti)


_NONE = AffinityTerms()


def parse_terms(pod: Pod) -> AffinityTerms:
    """Return the affinity terms of a pod."""
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
    """Return the term ready for matching.

    The term applies to the pod's own namespace if it has neither namespaces nor a namespace selector.
    """
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
    """Return the selector with matchLabelKeys and mismatchLabelKeys turned into requirements, like the API server."""
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


# -- pods and nodes with their sums ------------------------------------------------------------------------------------

_versions = itertools.count(1)

DEFAULT_SCHEDULER = "default-scheduler"

Port = tuple[str, str, int]


class Journal:
    """The names of nodes that changed, in order, for code that remembers answers about nodes.

    A node that keeps changing while no code reads the journal is named once.
    """

    __slots__ = ("_names", "_seen")

    def __init__(self) -> None:
        self._names: list[str] = []
        self._seen = 0

    def end(self) -> int:
        """Return the number of entries: pass it to `since` later to get the entries added after them."""
        self._seen = len(self._names)
        return self._seen

    def note(self, name: str) -> None:
        """Note that a node has changed."""
        if self._seen == len(self._names) or self._names[-1] != name:
            self._names.append(name)

    def since(self, read: int) -> Iterable[str]:
        """Yield the nodes that changed since the journal had this many entries, each once."""
        return dict.fromkeys(self._names[read:])


class PodInfo:
    """A pod with everything that scheduling derives from its specification.

    If `devices_count` is true, the node resources that a placed pod's status lists for devices are also counted.
    """

    def __init__(self, pod: Pod, *, devices_count: bool = False) -> None:
        self.pod = pod
        self.claimed = pod.status.node_allocatable_resource_claim_statuses if devices_count else []

    def bound(self, pod: Pod) -> PodInfo:
        """Return this info for the pod after it is bound.

        The derived requests stay the same and are not derived again.
        """
        other = copy(self)
        other.pod = pod
        vars(other).pop("claim_names", None)
        return other

    def restated(self, pod: Pod) -> PodInfo | None:
        """Return this info for the pod with a different status.

        Return None if anything else changed, or the resources that devices take.
        """
        told = "node_allocatable_resource_claim_statuses"
        if pod.spec is not self.pod.spec or pod.metadata is not self.pod.metadata:
            return None
        if getattr(pod.status, told) != getattr(self.pod.status, told):
            return None
        other = self.bound(pod)
        vars(other).pop("start_time", None)
        return other

    @property
    def uid(self) -> str:
        """The pod's uid, or its key if it has none: its identity."""
        return self.pod.metadata.uid or self.pod.key

    @cached_property
    def claim_names(self) -> frozenset[str]:
        """The names of all claims that the pod may use."""
        return named_claims(self.pod)

    @property
    def priority(self) -> int:
        """The priority, 0 if unset."""
        return self.pod.spec.priority or 0

    @property
    def profile(self) -> str:
        """The scheduler that the pod names; its profile has the same name."""
        return self.pod.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def terminating(self) -> bool:
        """Return whether the pod is being deleted."""
        return self.pod.metadata.deletion_timestamp is not None

    @cached_property
    def group(self) -> GroupKey | None:
        """The group that the pod is scheduled with; None for a pod without a group."""
        return group_key(self.pod)

    @cached_property
    def requests(self) -> Amounts:
        """The requests of the pod."""
        return pod_requests(self.pod)

    @property
    def placed_requests(self) -> Amounts:
        """The amounts that are counted for the pod on its node."""
        return pod_requests(self.pod, claimed=self.claimed) if self.claimed else self.requests

    @cached_property
    def scored_requests(self) -> tuple[int, int]:
        """The cpu and memory that are counted for a placed pod in scores, with defaults filled in."""
        found = pod_requests(self.pod, defaults=True, claimed=self.claimed)
        return found.get(CPU, DEFAULT_MILLI_CPU), found.get(MEMORY, DEFAULT_MEMORY)

    @cached_property
    def volumes(self) -> PodVolumes:
        """The requirements of the pod's volumes."""
        return pod_volumes(self.pod)

    @cached_property
    def ports(self) -> list[Port]:
        """The host ports of containers and sidecars."""
        spec = self.pod.spec
        sidecars = [c for c in spec.init_containers if c.restart_policy == "Always"]
        return host_ports((*sidecars, *spec.containers))

    @cached_property
    def terms(self) -> AffinityTerms:
        """The pod's affinity rules, namespaces and label keys filled in."""
        return parse_terms(self.pod)

    @cached_property
    def start_time(self) -> float:
        """The time when the pod was started; a pod that has not started yet is treated as the one that started last."""
        started = parse_time(self.pod.status.start_time)
        return float("inf") if started is None else started


class NodeInfo:
    """A node, the pods on it and their sums.

    `version` changes whenever an answer about the node may change.

    The journal, if there is one, gets the node's name at each of these changes. `position` is the node's position in
    scheduling order.
    """

    __slots__ = ("_labelled", "affinity_pods", "allocatable", "allowed_pods", "anti_affinity_pods", "journal", "labels",
                 "name", "node", "pods", "ports", "position", "requested", "scored_cpu", "scored_memory", "version",
                 "volume_pods")  # fmt: skip

    def __init__(self, node: Node, journal: Journal | None = None) -> None:
        self.journal = journal
        self.position = 0
        self.pods: dict[str, PodInfo] = {}
        self.requested: Amounts = {}
        self.scored_cpu = 0
        self.scored_memory = 0
        self.ports: dict[Port, int] = {}
        self.affinity_pods: dict[str, PodInfo] = {}
        self.anti_affinity_pods: dict[str, PodInfo] = {}
        self.volume_pods: dict[str, PodInfo] = {}
        self._labelled: dict[tuple[str, str], list[PodInfo]] | None = None
        self.set_node(node)

    def set_node(self, node: Node) -> None:
        """Replace the node object by a new version."""
        self.node = node
        self.name = node.metadata.name
        self.labels: dict[str, str] = node.metadata.labels or {}
        self.allocatable = amounts(node.status.allocatable or node.status.capacity)
        self.allowed_pods = self.allocatable.get(PODS, 0)
        """The number of pods that the node accepts; 0 if it is not specified."""
        self.touch()

    def touch(self) -> None:
        """Declare that remembered answers about this node are no longer valid."""
        self.version = next(_versions)
        if self.journal is not None:
            self.journal.note(self.name)

    def labelled(self, key: str, value: str) -> Sequence[PodInfo]:
        """Return the pods on the node with this label, in any namespace."""
        if self._labelled is None:
            self._labelled = {}
            for info in self.pods.values():
                for label in (info.pod.metadata.labels or {}).items():
                    self._labelled.setdefault(label, []).append(info)
        return self._labelled.get((key, value), ())

    def add(self, info: PodInfo) -> None:
        """Add a pod to the sums."""
        self.pods[info.uid] = info
        self._count(info, 1)

    def remove(self, uid: str) -> PodInfo | None:
        """Remove a pod from the sums; None if it is not on the node.

        The last pod moves to its position, as in upstream's list.
        """
        info = self.pods.get(uid)
        if info is None:
            return None
        last, last_info = self.pods.popitem()
        if last != uid:
            self.pods = {last if u == uid else u: last_info if u == uid else i for u, i in self.pods.items()}
        self._count(info, -1)
        return info

    def renew(self, info: PodInfo) -> None:
        """Replace a pod on the node by a version with the same requests, with the effects of `remove` and `add`."""
        if next(reversed(self.pods)) != info.uid:
            self.remove(info.uid)
            self.add(info)
            return
        self.pods[info.uid] = info
        for index in (self.affinity_pods, self.anti_affinity_pods, self.volume_pods):
            if index.pop(info.uid, None) is not None:
                index[info.uid] = info
        self._labelled = None
        self.touch()

    def restate(self, info: PodInfo) -> None:
        """Replace a pod on the node by one that differs only in its status, in the order of `remove` and `add`."""
        uid = info.uid
        last, last_info = self.pods.popitem()
        if last != uid:
            self.pods = {last if u == uid else u: last_info if u == uid else i for u, i in self.pods.items()}
        self.pods[uid] = info
        for index in (self.affinity_pods, self.anti_affinity_pods, self.volume_pods):
            if index.pop(uid, None) is not None:
                index[uid] = info
        self._labelled = None

    def _count(self, info: PodInfo, sign: int) -> None:
        self._labelled = None
        for name, value in info.placed_requests.items():
            self.requested[name] = self.requested.get(name, 0) + sign * value
        cpu, memory = info.scored_requests
        self.scored_cpu += sign * cpu
        self.scored_memory += sign * memory
        for port in info.ports:
            left = self.ports.get(port, 0) + sign
            if left:
                self.ports[port] = left
            else:
                del self.ports[port]
        self._index(self.affinity_pods, info, sign, info.terms.any)
        self._index(self.anti_affinity_pods, info, sign, bool(info.terms.required_anti))
        self._index(self.volume_pods, info, sign, bool(info.volumes))
        self.touch()

    @staticmethod
    def _index(index: dict[str, PodInfo], info: PodInfo, sign: int, belongs: bool) -> None:
        if not belongs:
            return
        if sign > 0:
            index[info.uid] = info
        else:
            index.pop(info.uid, None)

    def clone(self) -> NodeInfo:
        """Return a copy for a trial: changes to it do not affect the original. Its versions are its own."""
        other = self.copy(None)
        other.touch()
        return other

    def copy(self, journal: Journal | None) -> NodeInfo:
        """Return a copy whose changes go into that journal. It has the same version until it changes."""
        other = object.__new__(NodeInfo)
        other.journal, other.position, other.version = journal, self.position, self.version
        other.node, other.name, other.labels, other.allocatable = self.node, self.name, self.labels, self.allocatable
        other.allowed_pods = self.allowed_pods
        other.pods = dict(self.pods)
        other.requested = dict(self.requested)
        other.scored_cpu, other.scored_memory = self.scored_cpu, self.scored_memory
        other.ports = dict(self.ports)
        other.affinity_pods = dict(self.affinity_pods)
        other.anti_affinity_pods = dict(self.anti_affinity_pods)
        other.volume_pods = dict(self.volume_pods)
        other._labelled = None
        return other


# -- the order of nodes ------------------------------------------------------------------------------------------------
# Round robin over zones, in order of arrival inside a zone (upstream: node_tree.go).


def _label(labels: Mapping[str, str], old: str, new: str) -> str:
    return labels.get(old) or labels.get(new, "")


def zone_of(node: Node) -> str:
    """Return the node's region and zone, or "" if it has neither."""
    labels = node.metadata.labels or {}
    region, zone = _label(labels, BETA_REGION, REGION), _label(labels, BETA_ZONE, ZONE)
    return f"{region}:\x00:{zone}" if region or zone else ""


def scheduling_order(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes, taking one from each zone in turn; zones, and nodes within a zone, keep the given order."""
    zones: dict[str, list[Node]] = {}
    for node in nodes:
        zones.setdefault(zone_of(node), []).append(node)
    ordered: list[Node] = []
    for turn in range(max(map(len, zones.values()), default=0)):
        ordered += [members[turn] for members in zones.values() if turn < len(members)]
    return ordered
