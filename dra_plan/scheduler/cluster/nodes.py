"""The scheduler's view of pods and nodes, with totals that are updated as pods come and go.

Contents: affinity terms, pods and nodes (upstream: PodInfo, NodeInfo), and the order in which nodes are examined.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from msgspec import Struct

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
# Terms are ready for matching, with namespaces and label keys filled in.

NamespaceLabels = Callable[[str], Mapping[str, str]]
"""A function that returns the labels of a namespace, or {} if it is unknown."""


class Term(Struct, frozen=True):
    """An affinity term of a pod.

    It selects pods by label in `namespaces` and in the namespaces that `namespace_selector` selects.
    """

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


class AffinityTerms(Struct, frozen=True):
    """The affinity terms of a pod."""

    required: tuple[Term, ...] = ()
    required_anti: tuple[Term, ...] = ()
    preferred: tuple[Term, ...] = ()
    preferred_anti: tuple[Term, ...] = ()

    @property
    def any(self) -> bool:
        """Whether the pod has any affinity rule."""
        return bool(self.required or self.required_anti or self.preferred or self.preferred_anti)


_NONE = AffinityTerms()


def parse_terms(pod: Pod) -> AffinityTerms:
    """Return the pod's affinity terms."""
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
    """Return the selector with the requirements that the API server adds for matchLabelKeys and mismatchLabelKeys."""
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
    """The names of changed nodes in the order of their changes, for code that caches results for nodes.

    A node that changes twice in a row is named once, unless the journal was read in between. `objects` is a journal of
    the nodes whose Node objects were replaced. `kept` has, for each open fork, the earlier states of the nodes that
    have changed since it began.
    """

    __slots__ = ("_names", "_seen", "kept", "objects")
    not_kept = __slots__

    def __init__(self, objects: Journal | None = None) -> None:
        self._names: list[str] = []
        self._seen = 0
        self.objects = objects
        self.kept: list[dict[NodeInfo, NodeInfo]] = []

    def end(self) -> int:
        """Return the number of entries. Pass it to `since` later to get the nodes that changed in the meantime."""
        self._seen = len(self._names)
        return self._seen

    def note(self, name: str) -> None:
        """Record that a node has changed."""
        if self._seen == len(self._names) or self._names[-1] != name:
            self._names.append(name)

    def after(self, read: int) -> Sequence[str]:
        """Return the nodes that changed after the journal had `read` entries. A node may be listed several times."""
        return self._names[read:]

    def since(self, read: int) -> Iterable[str]:
        """Yield the nodes that changed after the journal had `read` entries, without duplicates."""
        return dict.fromkeys(self.after(read))

    def forked(self) -> None:
        """Start a fork: save the earlier state of each node that changes from now on."""
        self.kept.append({})

    def committed(self) -> None:
        """End the last fork and keep the changes since its start."""
        kept = self.kept.pop()
        if self.kept:
            self.kept[-1] = kept | self.kept[-1]

    def reverted(self) -> None:
        """End the last fork and undo the changes since its start."""
        for node, before in self.kept.pop().items():
            if self.objects is not None and node.node is not before.node:
                self.objects.note(node.name)
            node.become(before)
            self.note(node.name)


class PodInfo:
    """A pod with everything that the scheduler derives from its spec.

    If `devices_count` is set, the node resources that the pod's status lists for devices also count for a pod on a
    node.
    """

    def __init__(self, pod: Pod, *, devices_count: bool = False) -> None:
        self.pod = pod
        self.claimed = pod.status.node_allocatable_resource_claim_statuses if devices_count else []

    def bound(self, pod: Pod) -> PodInfo:
        """Return the information about the pod once it is bound. Its requests do not change."""
        other = object.__new__(PodInfo)
        vars(other).update(vars(self), pod=pod)
        vars(other).pop("claim_names", None)
        return other

    def restated(self, pod: Pod) -> PodInfo | None:
        """Return the information about the pod with a new status.

        Return None if more than the status has changed, or if the node resources that its devices use have changed.
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
        """The UID of the pod, or its key if it has none."""
        return self.pod.metadata.uid or self.pod.key

    @cached_property
    def claim_names(self) -> frozenset[str]:
        """The names of all claims that the pod may use."""
        return named_claims(self.pod)

    @property
    def priority(self) -> int:
        """The priority of the pod, or 0 if it has none."""
        return self.pod.spec.priority or 0

    @property
    def profile(self) -> str:
        """The name of the scheduler that the pod requests, which is also the name of a profile."""
        return self.pod.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def terminating(self) -> bool:
        """Whether the pod is being deleted."""
        return self.pod.metadata.deletion_timestamp is not None

    @cached_property
    def group(self) -> GroupKey | None:
        """The key of the group that the pod is scheduled with, or None if it has no group."""
        return group_key(self.pod)

    @cached_property
    def requests(self) -> Amounts:
        """The pod's resource requests."""
        return pod_requests(self.pod)

    @property
    def placed_requests(self) -> Amounts:
        """The resources that the pod uses on its node."""
        return pod_requests(self.pod, claimed=self.claimed) if self.claimed else self.requests

    @cached_property
    def defaulted(self) -> Amounts:
        """The resources that the pod uses on its node, with defaults for missing requests."""
        return pod_requests(self.pod, defaults=True, claimed=self.claimed)

    @cached_property
    def scored_requests(self) -> tuple[int, int]:
        """The CPU and memory that scores count for a pod on a node, with defaults for missing requests."""
        found = self.defaulted
        return found.get(CPU, DEFAULT_MILLI_CPU), found.get(MEMORY, DEFAULT_MEMORY)

    @cached_property
    def volumes(self) -> PodVolumes:
        """The volumes of the pod, as far as scheduling needs them."""
        return pod_volumes(self.pod)

    @cached_property
    def ports(self) -> list[Port]:
        """The host ports of the pod's containers and sidecars."""
        spec = self.pod.spec
        sidecars = [c for c in spec.init_containers if c.is_sidecar]
        return host_ports((*sidecars, *spec.containers))

    @cached_property
    def terms(self) -> AffinityTerms:
        """The affinity rules of the pod, with namespaces and label keys filled in."""
        return parse_terms(self.pod)

    @cached_property
    def start_time(self) -> float:
        """The time when the pod started, or infinity if it has not."""
        started = parse_time(self.pod.status.start_time)
        return float("inf") if started is None else started


_NO_PODS: dict[str, PodInfo] = {}
_NO_AMOUNTS: Amounts = {}
_NO_PORTS: dict[Port, int] = {}
"""What nodes without pods share; never changed."""


class NodeInfo:
    """A node, its pods, and the total of their requests.

    `version` changes whenever a result for the node may change, and the journal, if there is one, records this.
    `position` is the node's position in scheduling order.
    """

    __slots__ = ("_is_shared", "_labelled", "affinity_pods", "allocatable", "allowed_pods", "anti_affinity_pods",
                 "journal", "labels", "name", "node", "pods", "ports", "position", "requested", "scored_cpu",
                 "scored_memory", "version", "volume_pods")  # fmt: skip

    def __init__(self, node: Node, journal: Journal | None = None) -> None:
        self.journal = journal
        self.position = 0
        self._is_shared = True
        """Whether a copy has the same dictionaries, which are then copied before the next change."""
        self.pods: dict[str, PodInfo] = _NO_PODS
        self.requested: Amounts = _NO_AMOUNTS
        self.scored_cpu = 0
        self.scored_memory = 0
        self.ports: dict[Port, int] = _NO_PORTS
        self.affinity_pods: dict[str, PodInfo] = _NO_PODS
        self.anti_affinity_pods: dict[str, PodInfo] = _NO_PODS
        self.volume_pods: dict[str, PodInfo] = _NO_PODS
        self._labelled: dict[tuple[str, str], list[PodInfo]] | None = None
        self.set_node(node)

    def set_node(self, node: Node) -> None:
        """Replace the Node object with a new version."""
        self._keep()
        self.node = node
        self.name = node.metadata.name
        self.labels: dict[str, str] = node.metadata.labels or {}
        self.allocatable = amounts(node.status.allocatable or node.status.capacity)
        self.allowed_pods = self.allocatable.get(PODS, 0)
        """The number of pods that the node accepts, or 0 if it is not specified."""
        self.touch()
        if self.journal is not None and self.journal.objects is not None:
            self.journal.objects.note(self.name)

    def touch(self) -> None:
        """Invalidate the cached results for this node."""
        self._keep()
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

    def _keep(self) -> None:
        """Keep the node as it is for a revert, unless an earlier state is kept already."""
        kept = self.journal.kept if self.journal is not None else None
        if kept and self not in kept[-1] and hasattr(self, "version"):
            kept[-1][self] = self.copy(None)

    def _begin_change(self) -> None:
        """Keep the node as it is for a revert, and have dictionaries of its own."""
        self._keep()
        if not self._is_shared:
            return
        self._is_shared = False
        self.pods, self.requested, self.ports = self.pods.copy(), self.requested.copy(), self.ports.copy()
        self.affinity_pods, self.anti_affinity_pods = self.affinity_pods.copy(), self.anti_affinity_pods.copy()
        self.volume_pods = self.volume_pods.copy()

    def add(self, info: PodInfo) -> None:
        """Add a pod to the node and to its totals."""
        self._begin_change()
        self.pods[info.uid] = info
        self._count(info, 1)

    def remove(self, uid: str) -> PodInfo | None:
        """Remove a pod from the node and from its totals. Return the pod, or None if it is not on the node.

        As in upstream's list, the last pod takes the position of the removed pod.
        """
        info = self.pods.get(uid)
        if info is None:
            return None
        self._begin_change()
        last, last_info = self.pods.popitem()
        if last != uid:
            self.pods = {last if u == uid else u: last_info if u == uid else i for u, i in self.pods.items()}
        self._count(info, -1)
        return info

    def renew(self, info: PodInfo) -> None:
        """Replace a pod on the node with a version that has the same requests.

        The pods end up in the same order as after `remove` and `add`.
        """
        if next(reversed(self.pods)) != info.uid:
            self.remove(info.uid)
            self.add(info)
            return
        self._begin_change()
        self.pods[info.uid] = info
        for index in (self.affinity_pods, self.anti_affinity_pods, self.volume_pods):
            if index.pop(info.uid, None) is not None:
                index[info.uid] = info
        self._labelled = None
        self.touch()

    def restate(self, info: PodInfo) -> None:
        """Replace a pod on the node with a version that differs only in its status.

        The pods end up in the same order as after `remove` and `add`.
        """
        self._begin_change()
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
        """Return a copy for a trial, which has its own versions. Changes to the copy do not affect the original."""
        other = self.copy(None)
        other.touch()
        return other

    def copy(self, journal: Journal | None) -> NodeInfo:
        """Return a copy whose changes are recorded in the given journal.

        It keeps the version of the original until it changes.
        """
        other = object.__new__(NodeInfo)
        other.journal = journal
        other.become(self)
        return other

    def become(self, other: NodeInfo) -> None:
        """Take over the state of the other node, but not its journal."""
        self.position, self.version = other.position, other.version
        self.node, self.name, self.labels, self.allocatable = other.node, other.name, other.labels, other.allocatable
        self.allowed_pods = other.allowed_pods
        self._is_shared = other._is_shared = True
        self.pods, self.requested, self.ports = other.pods, other.requested, other.ports
        self.scored_cpu, self.scored_memory = other.scored_cpu, other.scored_memory
        self.affinity_pods, self.anti_affinity_pods = other.affinity_pods, other.anti_affinity_pods
        self.volume_pods = other.volume_pods
        self._labelled = None


class PassedNodes(Sequence[NodeInfo]):
    """The nodes that passed, stored as positions among all nodes. A node is looked up only when it is accessed."""

    __slots__ = ("all", "positions")

    def __init__(self, nodes: Sequence[NodeInfo], positions: Sequence[int]) -> None:
        self.all, self.positions = nodes, positions

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> NodeInfo: ...
    @overload
    def __getitem__(self, index: slice) -> list[NodeInfo]: ...
    def __getitem__(self, index: int | slice) -> NodeInfo | list[NodeInfo]:
        if isinstance(index, slice):
            return [self.all[at] for at in self.positions[index]]
        return self.all[self.positions[index]]

    def __iter__(self) -> Iterator[NodeInfo]:
        return map(self.all.__getitem__, self.positions)


# -- the order of nodes ------------------------------------------------------------------------------------------------
# The order is round robin over zones, and order of arrival within a zone (upstream: node_tree.go).


def _label(labels: Mapping[str, str], old: str, new: str) -> str:
    return labels.get(old) or labels.get(new, "")


def zone_of(node: Node) -> str:
    """Return the region and zone of the node, or "" if it has neither."""
    labels = node.metadata.labels
    if not labels:
        return ""
    region, zone = _label(labels, BETA_REGION, REGION), _label(labels, BETA_ZONE, ZONE)
    return f"{region}:\x00:{zone}" if region or zone else ""


def scheduling_order(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes in an order that takes one node from each zone in turn.

    The order of zones, and of the nodes in a zone, does not change.
    """
    zones: dict[str, list[Node]] = {}
    for node in nodes:
        zones.setdefault(zone_of(node), []).append(node)
    if len(zones) == 1:
        return next(iter(zones.values()))
    ordered: list[Node] = []
    for turn in range(max(map(len, zones.values()), default=0)):
        ordered += [members[turn] for members in zones.values() if turn < len(members)]
    return ordered
