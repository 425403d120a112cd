"""The pods, workloads and gangs that `capacity` copies, and the objects that they already have in the input.

A pod in a gang is never copied alone. Each copy is a new pod group with all its pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.workloads import AnyWorkload, CronJob, CustomWorkload, Job, pod_template
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended, is_over, is_waiting, missing, wanted
from dra_plan.errors import UsageError
from dra_plan.planner.owners import CLAIM, Known, find
from dra_plan.questions.capacity.document import CopiedOwner, OwnerReplicas
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import GroupKey, group_key
from dra_plan.scheduler.refusals import CopyTemplate

GROUP = "PodGroup"


class OwnPods:
    """Finds the existing pods of owners."""

    def __init__(self, index: Index) -> None:
        self._index = index
        inventory = index.inventory
        self._workloads: dict[tuple[str, str, str], list[AnyWorkload]] = defaultdict(list)
        for each in inventory.workloads:
            self._workloads[each.kind, each.metadata.namespace, each.metadata.name].append(each)
        self._pods = {(pod.metadata.namespace, pod.metadata.name): pod for pod in inventory.pods}

    def of(self, owner: CopiedOwner) -> list[Pod]:
        """Return the owner's pods, or all pods of the workload if the owner is one of its pods."""
        if owner.kind == GROUP:
            return [pod for pod in self._pods.values() if group_key(pod) == (owner.namespace, owner.name)]
        workload = self._workload(owner)
        pod = self._pods.get((owner.namespace, owner.name)) if owner.kind == "Pod" else None
        if pod is not None:
            workload = self._index.top_of(pod)
        return self._index.pods_of(workload) if workload is not None else [pod] if pod is not None else []

    def _workload(self, owner: CopiedOwner) -> AnyWorkload | None:
        found = self._workloads.get((owner.kind, owner.namespace, owner.name), ())
        return next((each for each in found if getattr(each, "part", "") == owner.part), None)

    def claims(self, owners: Iterable[CopiedOwner]) -> frozenset[str]:
        """Return the keys of the claims that the owners' pods use.

        Freeing the devices of such a claim makes no room, because the owner's own pod would need them again.
        """
        pods = (pod for owner in owners for pod in self.of(owner))
        return frozenset(claim for pod in pods for claim in self._claims[pod.metadata.namespace, pod.metadata.name])

    def waiting(self, owners: Iterable[CopiedOwner]) -> frozenset[tuple[str, str]]:
        """Return the namespace and name of each pending pod of the owners. The copies replace these pods."""
        pods = (pod for owner in owners for pod in self.of(owner))
        return frozenset((pod.metadata.namespace, pod.metadata.name) for pod in pods if is_waiting(pod))

    @cached_property
    def _claims(self) -> dict[tuple[str, str], list[str]]:
        """Return the keys of claims by namespace and name of the pods that use them."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for key, users in self._index.used_claims.items():
            for user in (user for user in users if user.kind == "Pod"):
                found[user.namespace, user.name].append("/".join(key))
        return found

    def replicas(self, owner: CopiedOwner) -> OwnerReplicas | None:
        """Return how many replicas the workload should have, and how many of them have no node.

        Returns None for an owner without replicas, and for an object with several pod templates, because it is not
        known which pods belong to which template.
        """
        workload = self._workload(owner)
        if workload is None or isinstance(workload, CronJob) or workload.kind == "DaemonSet":
            return None
        pods = self._index.pods_of(workload)
        if owner.part and pods:
            return None
        number = wanted(workload, pods).number
        return OwnerReplicas(wanted=number, missing=min(number, missing(workload, pods)))


@dataclass(frozen=True)
class Copied:
    """A pod to copy, and its owner."""

    owner: CopiedOwner
    pod: Pod
    workload: AnyWorkload | None = None
    """The workload that creates the pod; None for a bare pod."""
    gang: CopyTemplate | None = None
    """The pod's gang, which is copied as a whole."""

    @property
    def template(self) -> CopyTemplate:
        """Return what each copy is created from."""
        return self.gang if self.gang is not None else CopyTemplate((self.pod,))

    @classmethod
    def of_pod(cls, pod: Pod) -> Copied:
        """Return what to copy for this pod. The pod's own state does not matter, because copies are new pods."""
        return cls(CopiedOwner(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name), pod)

    @classmethod
    def of_workload(cls, workload: AnyWorkload) -> Copied:
        """Return what to copy for this workload: the pod that it would create."""
        metadata, template = workload.metadata, pod_template(workload)
        pod = Pod(
            metadata=ObjectMeta(
                name=metadata.name,
                namespace=metadata.namespace,
                labels=template.metadata.labels,
                annotations=template.metadata.annotations,
            ),
            spec=template.spec,
        )
        part = workload.part if isinstance(workload, CustomWorkload) else ""
        return cls(
            CopiedOwner(kind=workload.kind, namespace=metadata.namespace, name=metadata.name, part=part), pod, workload
        )


def choose_copied(inventory: Inventory, names: Sequence[str], namespace: str | None) -> list[Copied]:
    """Return the pods and workloads with these names, in input order.

    Without names, returns the pending pods and the workloads that have no controller in the input. Raises UsageError
    for an unknown name, and for the name of a claim.
    """
    index = Index(inventory)
    named = set(find(names, Known(inventory), namespace)) if names else None
    if named is not None and any(kind == CLAIM for kind, _, _ in named):
        raise UsageError("capacity counts copies of pods and workloads; a claim without a pod does not need a node")

    def is_meant(found: Pod | AnyWorkload, *, waits: bool) -> bool:
        metadata = found.metadata
        if named is not None:
            return (found.kind, metadata.namespace, metadata.name) in named
        return waits and namespace in (None, metadata.namespace) and index.controllers.of(metadata) is None

    pods = (pod for pod in inventory.pods if is_meant(pod, waits=is_waiting(pod)))
    workloads = (each for each in inventory.workloads if is_meant(each, waits=not is_over(each)))
    return [*map(Copied.of_pod, pods), *map(Copied.of_workload, workloads)]


# -- gangs -------------------------------------------------------------------------------------------------------------


def with_gangs(copied: Sequence[Copied], index: Index, target: Target) -> list[Copied]:
    """Return the owners, with the whole gang in place of a pod that belongs to one.

    If several workloads share a pod group, the group becomes the owner. If the feature gates for gang scheduling are
    off, the owners are returned unchanged.
    """
    if not target.features.gang_scheduling:
        return list(copied)
    gangs = _Gangs(index)
    found: dict[CopiedOwner, Copied] = {}
    for each in copied:
        made = gangs.of(each)
        found.setdefault(made.owner, made)
    return list(found.values())


class _Gangs:
    """The gangs of the input, and their members."""

    def __init__(self, index: Index) -> None:
        self._index = index
        groups = index.inventory.pod_groups
        self._groups = {(g.metadata.namespace, g.metadata.name): g for g in groups if g.min_count}

    def of(self, copied: Copied) -> Copied:
        """Return the owner. If the owner has a gang, the gang is added."""
        group = self._groups.get(self._key(copied.pod, copied.workload) or ("", ""))
        if group is None:
            return copied
        key = (group.metadata.namespace, group.metadata.name)
        workloads, pods = self._members[key]
        members = [pod for each in workloads for pod in _all_pods(each)] + pods
        if not members:
            members = [copied.pod] * group.min_count
        numbered = tuple(_numbered(pod, number) for number, pod in enumerate(members))
        gang = CopyTemplate(numbered, group)
        if copied.workload is not None and not pods and len(workloads) == 1:
            return replace(copied, gang=gang)
        owner = CopiedOwner(kind=GROUP, namespace=group.metadata.namespace, name=group.metadata.name)
        return Copied(owner, numbered[0], gang=gang)

    @cached_property
    def _members(self) -> dict[GroupKey, tuple[list[AnyWorkload], list[Pod]]]:
        """Return by group the workloads whose pods are its members, and other unfinished member pods."""
        found: dict[GroupKey, tuple[list[AnyWorkload], list[Pod]]] = defaultdict(lambda: ([], []))
        index = self._index
        made: set[tuple[str, str]] = set()
        for workload in index.inventory.workloads:
            key = self._key(Copied.of_workload(workload).pod, workload)
            if key is not None and not index.is_planned_elsewhere(workload):
                found[key][0].append(workload)
                made.update((pod.metadata.namespace, pod.metadata.name) for pod in index.pods_of(workload))
        for pod in index.inventory.pods:
            key = group_key(pod)
            if key is not None and not ended(pod) and (pod.metadata.namespace, pod.metadata.name) not in made:
                found[key][1].append(pod)
        return found

    def _key(self, pod: Pod, workload: AnyWorkload | None) -> GroupKey | None:
        """Return the group that the pod names; for a workload whose template names none, the only group of its pods."""
        if workload is None or pod.spec.scheduling_group is not None:
            return group_key(pod)
        keys = {group_key(each) for each in self._index.pods_of(workload) if not ended(each)}
        return keys.pop() if len(keys) == 1 else None


def _all_pods(workload: AnyWorkload) -> list[Pod]:
    """Return the initial number of pods of the workload."""
    if isinstance(workload, Job):
        parallel = 1 if workload.spec.parallelism is None else workload.spec.parallelism
        number = parallel if workload.spec.completions is None else min(parallel, workload.spec.completions)
    else:
        number = wanted(workload, ()).number
    return [Copied.of_workload(workload).pod] * number


def _numbered(pod: Pod, number: int) -> Pod:
    """Return a pod of a gang as a copy: with a unique name, on no node."""
    metadata = pod.metadata
    named = ObjectMeta(
        name=f"{metadata.name}-{number}",
        namespace=metadata.namespace,
        labels=metadata.labels,
        annotations=metadata.annotations,
    )
    return structs.replace(pod, metadata=named, spec=structs.replace(pod.spec, node_name=""))
