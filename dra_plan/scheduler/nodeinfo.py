"""What the scheduler knows of a node and of a pod: parsed once, aggregated as pods come and go."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property

from dra_plan.api.core import Node, Pod

from .affinityterms import AffinityTerms, parse_terms
from .clock import parse_time
from .keys import GroupKey, group_key
from .podrequest import CPU, DEFAULT_MEMORY, DEFAULT_MILLI_CPU, MEMORY, PODS, Amounts, amounts, host_ports, pod_requests
from .podvolumes import PodVolumes, pod_volumes

_versions = itertools.count(1)

DEFAULT_SCHEDULER = "default-scheduler"

Port = tuple[str, str, int]


class Journal:
    """The names of nodes that changed, one after the other, for those who remember what they were told of them.

    A node that goes on changing while nobody reads is named once.
    """

    __slots__ = ("_names", "_seen")

    def __init__(self) -> None:
        self._names: list[str] = []
        self._seen = 0

    def end(self) -> int:
        """How many entries there are; who asks will see whatever comes after them."""
        self._seen = len(self._names)
        return self._seen

    def note(self, name: str) -> None:
        """A node has changed."""
        if self._seen == len(self._names) or self._names[-1] != name:
            self._names.append(name)

    def since(self, read: int) -> Iterable[str]:
        """The nodes that changed since the journal had so many entries, each once."""
        return dict.fromkeys(self._names[read:])


class PodInfo:
    """A pod with everything that scheduling derives from its specification.

    Where `devices_count`, a placed pod also counts for what its status says that devices take from the node.
    """

    def __init__(self, pod: Pod, *, devices_count: bool = False) -> None:
        self.pod = pod
        self.claimed = pod.status.node_allocatable_resource_claim_statuses if devices_count else []

    def bound(self, pod: Pod) -> PodInfo:
        """The same for the pod as it is once it is bound: all that it asks for stays, and is not derived again."""
        other = copy(self)
        other.pod = pod
        return other

    @property
    def uid(self) -> str:
        """The pod's uid, or its key if it has none: what identifies it."""
        return self.pod.metadata.uid or self.pod.key

    @property
    def priority(self) -> int:
        """The priority, 0 if unset."""
        return self.pod.spec.priority or 0

    @property
    def profile(self) -> str:
        """The scheduler that the pod names; its profile goes by the same name."""
        return self.pod.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def terminating(self) -> bool:
        """Whether the pod is being deleted."""
        return self.pod.metadata.deletion_timestamp is not None

    @cached_property
    def group(self) -> GroupKey | None:
        """The group that the pod is scheduled with; None for a lone pod."""
        return group_key(self.pod)

    @cached_property
    def requests(self) -> Amounts:
        """What the pod asks for."""
        return pod_requests(self.pod)

    @property
    def placed_requests(self) -> Amounts:
        """What the pod counts for on its node."""
        return pod_requests(self.pod, claimed=self.claimed) if self.claimed else self.requests

    @cached_property
    def scored_requests(self) -> tuple[int, int]:
        """(cpu, memory) that a placed pod counts for in scores, defaults filled in."""
        found = pod_requests(self.pod, defaults=True, claimed=self.claimed)
        return found.get(CPU, DEFAULT_MILLI_CPU), found.get(MEMORY, DEFAULT_MEMORY)

    @cached_property
    def volumes(self) -> PodVolumes:
        """What the pod's volumes ask."""
        return pod_volumes(self.pod)

    @cached_property
    def ports(self) -> list[Port]:
        """Host ports of containers and sidecars."""
        spec = self.pod.spec
        sidecars = [c for c in spec.init_containers if c.restart_policy == "Always"]
        return host_ports((*sidecars, *spec.containers))

    @cached_property
    def terms(self) -> AffinityTerms:
        """The pod's affinity rules, namespaces and label keys filled in."""
        return parse_terms(self.pod)

    @cached_property
    def start_time(self) -> float:
        """When the pod was started; a pod that was not started yet counts as started last."""
        started = parse_time(self.pod.status.start_time)
        return float("inf") if started is None else started


class NodeInfo:
    """A node, the pods on it and their sums. `version` changes whenever an answer about the node may change.

    The journal, if there is one, gets the node's name at each of these changes. `position` is the node's place in
    scheduling order.
    """

    __slots__ = ("_labelled", "affinity_pods", "allocatable", "anti_affinity_pods", "journal", "labels", "name", "node",
                 "pods", "ports", "position", "requested", "scored_cpu", "scored_memory", "version",
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
        """Take over a new version of the node object."""
        self.node = node
        self.name = node.metadata.name
        self.labels: dict[str, str] = node.metadata.labels or {}
        self.allocatable = amounts(node.status.allocatable or node.status.capacity)
        self.touch()

    def touch(self) -> None:
        """Declare that remembered answers about this node are no longer valid."""
        self.version = next(_versions)
        if self.journal is not None:
            self.journal.note(self.name)

    @property
    def allowed_pods(self) -> int:
        """How many pods the node takes; none if it does not say."""
        return self.allocatable.get(PODS, 0)

    def labelled(self, key: str, value: str) -> Sequence[PodInfo]:
        """The pods on the node with this label, in whichever namespace."""
        if self._labelled is None:
            self._labelled = {}
            for info in self.pods.values():
                for label in (info.pod.metadata.labels or {}).items():
                    self._labelled.setdefault(label, []).append(info)
        return self._labelled.get((key, value), ())

    def add(self, info: PodInfo) -> None:
        """Count a pod in."""
        self.pods[info.uid] = info
        self._count(info, 1)

    def remove(self, uid: str) -> PodInfo | None:
        """Count a pod out; None if it is not on the node. The last pod takes its place, as in upstream's list."""
        info = self.pods.get(uid)
        if info is None:
            return None
        last, last_info = self.pods.popitem()
        if last != uid:
            self.pods = {last if u == uid else u: last_info if u == uid else i for u, i in self.pods.items()}
        self._count(info, -1)
        return info

    def renew(self, info: PodInfo) -> None:
        """What `remove` and `add` do for a pod that is on the node and counts for the same as before."""
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
        """A copy for a trial: changes to it are not seen by the original. Its version is its own."""
        other = self.copy(None)
        other.touch()
        return other

    def copy(self, journal: Journal | None) -> NodeInfo:
        """A copy whose changes go into that journal. It has the same version as long as it does not change."""
        other = object.__new__(NodeInfo)
        other.journal, other.position, other.version = journal, self.position, self.version
        other.node, other.name, other.labels, other.allocatable = self.node, self.name, self.labels, self.allocatable
        other.pods = dict(self.pods)
        other.requested = dict(self.requested)
        other.scored_cpu, other.scored_memory = self.scored_cpu, self.scored_memory
        other.ports = dict(self.ports)
        other.affinity_pods = dict(self.affinity_pods)
        other.anti_affinity_pods = dict(self.anti_affinity_pods)
        other.volume_pods = dict(self.volume_pods)
        other._labelled = None
        return other
