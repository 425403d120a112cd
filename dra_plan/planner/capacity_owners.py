"""`capacity`: what an owner that is copied has already: pods, their claims, and replicas that have a node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from dra_plan.api.core import Pod
from dra_plan.api.workloads import AnyWorkload, CronJob
from dra_plan.claims.index import Index
from dra_plan.claims.owners import missing, wanted
from dra_plan.documents.capacity import CopiedOwner, OwnerReplicas


class OwnPods:
    """The pods that owners have in the input."""

    def __init__(self, index: Index) -> None:
        self._index = index
        inventory = index.inventory
        self._workloads: dict[tuple[str, str, str], list[AnyWorkload]] = defaultdict(list)
        for each in inventory.workloads:
            self._workloads[each.kind, each.metadata.namespace, each.metadata.name].append(each)
        self._pods = {(pod.metadata.namespace, pod.metadata.name): pod for pod in inventory.pods}

    def of(self, owner: CopiedOwner) -> list[Pod]:
        """Its pods; those of a pod are all of the workload that it belongs to."""
        workload = self._workload(owner)
        pod = self._pods.get((owner.namespace, owner.name)) if owner.kind == "Pod" else None
        if pod is not None:
            workload = self._top(pod)
        return self._index.pods_of(workload) if workload is not None else [pod] if pod is not None else []

    def _workload(self, owner: CopiedOwner) -> AnyWorkload | None:
        found = self._workloads.get((owner.kind, owner.namespace, owner.name), ())
        return next((each for each in found if getattr(each, "part", "") == owner.part), None)

    def _top(self, pod: Pod) -> AnyWorkload | None:
        """The workload that the pod belongs to and that nothing of the input controls."""
        found: AnyWorkload | None = None
        for above in self._index.owners.above(pod.metadata):
            if isinstance(above, Pod):
                break
            found = above
        return found

    def claims(self, owners: Iterable[CopiedOwner]) -> frozenset[str]:
        """The keys of the claims that pods of the owners have: one of them given back is a copy less."""
        pods = (pod for owner in owners for pod in self.of(owner))
        return frozenset(claim for pod in pods for claim in self._claims[pod.metadata.namespace, pod.metadata.name])

    @cached_property
    def _claims(self) -> dict[tuple[str, str], list[str]]:
        """The keys of claims by namespace and name of the pods that use them."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for key, users in self._index.used_claims.items():
            for user in (user for user in users if user.kind == "Pod"):
                found[user.namespace, user.name].append("/".join(key))
        return found

    def replicas(self, owner: CopiedOwner) -> OwnerReplicas | None:
        """How many pods a workload is to have, and how many of them have no node; None for what has no such number.

        Of pods of an object with several templates nobody can tell of which they were made: None if there are any.
        """
        workload = self._workload(owner)
        if workload is None or isinstance(workload, CronJob) or workload.kind == "DaemonSet":
            return None
        pods = self._index.pods_of(workload)
        if owner.part and pods:
            return None
        number = wanted(workload, pods).number
        return OwnerReplicas(wanted=number, missing=min(number, missing(workload, pods)))
