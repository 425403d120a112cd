"""What the API server and controllers do before the scheduler runs: priorities, replicas and generated claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodResourceClaim, PodResourceClaimStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.scheduling import PodGroup, PodGroupResourceClaimStatus
from dra_plan.api.workloads import AnyWorkload, Workload
from dra_plan.claims.expand import is_of_group
from dra_plan.claims.index import Index
from dra_plan.claims.owners import counts_for, ended, is_over, is_ready, wanted
from dra_plan.claims.pod_claims import ClaimOwner, is_unmade, make_claim
from dra_plan.errors import InputError
from dra_plan.releases import Features
from dra_plan.scheduler.cluster.claims import StoredClaims, with_uid
from dra_plan.scheduler.cluster.keys import ClaimKey, claim_key, group_key
from dra_plan.scheduler.groups.admission import GroupAdmission, times_are_a_servers

from . import runtime_classes
from .clock import parse_time
from .new_pods import is_ordered, new_pods

SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""The PriorityClasses that every cluster has."""
ARRIVAL = "arrival"
NAME = "name"
ORDERS = (ARRIVAL, NAME)
"""The orders in which the scheduler sees pods: as they arrive, or listed by name after a restart."""

NO_GATES = Features()
"""No optional features except those that every release enables."""

_MOST_DIGITS = 20
"""The maximum number of digits in a resource version, which is a 64-bit number."""
MOST_PODS_MADE = 150_000
"""The maximum number of pods created for an input's workloads. Kubernetes supports no more pods in a cluster."""


class Admission:
    """The pods and claims that the scheduler sees, created from an input's pods and workloads."""

    def __init__(
        self,
        inventory: Inventory,
        order: str = ARRIVAL,
        features: Features = NO_GATES,
        *,
        makes: bool = True,
        ordered: bool = False,
        stored: StoredClaims | None = None,
    ) -> None:
        """Set up the admission. `stored` is shared by admissions of related inputs.

        If `makes` is set, the pods of workloads and the claims of pods exist from the start. If `ordered` is set,
        StatefulSets create their pods one by one, and only the first exists at the start. The same is true of
        StatefulSets with pods that are `returning`.
        """
        self._inventory = inventory
        self._makes, self._ordered, self._stored = makes, ordered, StoredClaims() if stored is None else stored
        self.ordered_sets: list[AnyWorkload] = []
        """The StatefulSets that create their pods one by one, in the order in which `pods` found them."""
        self._order = order
        self._groups = GroupAdmission(features, inventory.priority_classes)
        self.groups = self._groups.groups(inventory.pod_groups)
        """The pod groups in the API server."""
        self._priorities = {c.metadata.name: c for c in inventory.priority_classes}
        self._runtimes = runtime_classes.by_name(inventory.runtime_classes)
        self._default = next((c for c in inventory.priority_classes if c.global_default), None)
        self._index = Index(inventory)
        self.returning = {_name(pod): pod for pod in self._returning_in_order()}
        """The pods in the input that do not exist until their StatefulSet creates them, by namespace and name."""
        self._room = MOST_PODS_MADE
        """The number of pods that may still be created for workloads."""

    def _returning_in_order(self) -> Iterator[Pod]:
        for workload in self._inventory.workloads if self._ordered and self._inventory.returning else ():
            if is_ordered(workload) and not self._index.is_planned_elsewhere(workload):
                yield from (pod for pod in self._index.pods_of(workload) if self._is_returning(pod))

    def _is_returning(self, pod: Pod) -> bool:
        return not pod.spec.node_name and (pod.metadata.namespace, pod.metadata.name) in self._inventory.returning

    not_kept = ("_stored",)

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        return (self._claims,)

    def pods(self, *, without_node: bool = False) -> list[Pod]:
        """Return the pods in the input and those that its workloads have not created yet, in scheduling order.

        If `without_node` is set, pods that have a node are left out.

        In the order ARRIVAL, pods are sorted by creationTimestamp (pods without one come last), then by resource
        version, then by position in the input. If the times were not written by an API server, only the position
        counts. Pods that workloads have not created yet come last. In the order NAME, all pods are listed by namespace
        and name when the scheduler starts; the random suffix of a generated name is unknown. Raises InputError if
        workloads would create more than `MOST_PODS_MADE` pods.
        """
        given = [pod for pod in self._inventory.pods if _name(pod) not in self.returning]
        in_time = self._order == ARRIVAL and times_are_a_servers(self.groups, given)
        if without_node:
            given = [pod for pod in given if not pod.spec.node_name]
        if in_time:
            given.sort(key=_arrival)
        self._room = MOST_PODS_MADE
        workloads = self._inventory.workloads if self._makes else ()
        made = [self._returned(pod) for workload in workloads for pod in self._replicas(workload)]
        pods = [*given, *made]
        if self._order == NAME:
            pods.sort(key=_name)
        return [self.admitted(pod) for pod in pods]

    def arranged(self, pods: Iterable[Pod]) -> list[Pod]:
        """Return pods of the input in scheduling order."""
        if self._order == NAME:
            return sorted(pods, key=_name)
        in_time = times_are_a_servers(self.groups, self._inventory.pods)
        return sorted(pods, key=_arrival) if in_time else list(pods)

    def yet_to_be_made(self, pods: Iterable[Pod]) -> Iterator[tuple[Pod, AnyWorkload]]:
        """Yield the `returning` pods that a StatefulSet still needs, each with its workload, except those in `pods`."""
        there = set(map(_name, pods)) if self.returning else ()
        for name, pod in self.returning.items():
            owner = self._index.controllers.of(pod.metadata)
            if name not in there and isinstance(owner, Workload) and not is_over(owner):
                count = wanted(owner, ()).number
                if any(pod.metadata.name == f"{owner.metadata.name}-{ordinal}" for ordinal in range(count)):
                    yield pod, owner

    def _returned(self, pod: Pod) -> Pod:
        """Return the pod as it is in the input if a StatefulSet recreates it; otherwise the pod itself."""
        return self.returning.get(_name(pod), pod)

    def admitted(self, pod: Pod) -> Pod:
        """Return the pod with a UID, its priority, its preemption policy, and what its RuntimeClass adds."""
        pod = runtime_classes.admitted(self._groups.pod(pod), self._runtimes)
        if not pod.metadata.uid:
            pod = replace(pod, metadata=replace(pod.metadata, uid=self._uid(pod)))
        spec = pod.spec
        named = self._priorities.get(spec.priority_class_name) if spec.priority_class_name else self._default
        if spec.priority is None:
            value = named.value if named is not None else SYSTEM_PRIORITIES.get(spec.priority_class_name)
            if value is not None:
                spec = replace(spec, priority=value)
        if spec.preemption_policy is None and named is not None and named.preemption_policy:
            spec = replace(spec, preemption_policy=named.preemption_policy)
        return pod if spec is pod.spec else replace(pod, spec=spec)

    def _uid(self, pod: Pod) -> str:
        """Return a UID for a pod without one: the owner UID in its generated claims, or a UID built from its name."""
        for entry in pod.spec.resource_claims:
            made = self._index.generated_claims.of(pod, entry.name)
            if made is not None and made.metadata.controller is not None and made.metadata.controller.uid:
                return made.metadata.controller.uid
        return f"pod:{pod.key}"

    # Workloads

    def _replicas(self, workload: AnyWorkload) -> Iterator[Pod]:
        """Yield the pods that the workload's controller would still create."""
        if is_over(workload) or self._index.is_planned_elsewhere(workload):
            return
        pods = [pod for pod in self._index.pods_of(workload) if _name(pod) not in self.returning]
        if workload.kind != "DaemonSet":
            field, count = wanted(workload, pods)
            self._room -= max(0, count - sum(counts_for(pod, workload.kind) for pod in pods))
            if self._room < 0:
                raise self._too_many(workload, field, count)
        ready = is_ready if self._ordered else None
        if self._ordered and is_ordered(workload):
            self.ordered_sets.append(workload)
        yield from new_pods(workload, pods, self._inventory.nodes, is_ready=ready)

    def _too_many(self, workload: AnyWorkload, field: str, count: int) -> InputError:
        kind, metadata = workload.kind, workload.metadata
        origin = self._inventory.origins.get((kind, metadata.namespace, metadata.name))
        where = f"{origin}: " if origin is not None else ""
        limit = f"at most {MOST_PODS_MADE} pods are made for the workloads of an input"
        return InputError(f"{where}{kind} {metadata.namespace}/{metadata.name}: {field}: {count} is too many: {limit}")

    # Claims

    def claims(self, pods: Iterable[Pod]) -> tuple[list[Pod], list[ResourceClaim]]:
        """Return the pods and all claims. The status of each pod names its generated claims.

        Claims in the input come first.
        """
        self.groups = [self._with_group_claims(group) for group in self.groups]
        done = [self._with_claims(pod, self._claims) for pod in pods]
        return done, list(self._claims.by_key.values())

    def arriving(self, pod: Pod) -> tuple[Pod, list[ResourceClaim]]:
        """Return a pod that is created after those in the input, and the claims that are created for it."""
        self._claims.new.clear()
        return self._with_claims(self.admitted(self._returned(pod)), self._claims), list(self._claims.new)

    def arriving_group(self, group: PodGroup) -> tuple[PodGroup, list[ResourceClaim]]:
        """Return a pod group that is created after those in the input, and the claims that are created for it."""
        self._claims.new.clear()
        group = self._with_group_claims(self._groups.group(group))
        self.groups.append(group)
        return group, list(self._claims.new)

    @cached_property
    def _claims(self) -> _Claims:
        later = {id(each) for pod in self.returning.values() for each in self._index.dependent_claims.of(pod)}
        given = self._inventory.claims
        if later:
            given = [each for each in given if id(each) not in later]
        return _Claims(self._stored.by_key(given))

    def _with_group_claims(self, group: PodGroup) -> PodGroup:
        """Return the group with its generated claims recorded in its status."""
        noted = {status.name for status in group.status.resource_claim_statuses}
        listed = list(group.status.resource_claim_statuses)
        for entry in group.spec.resource_claims:
            template = entry.resource_claim_template_name
            if template is not None and entry.name not in noted:
                claim = self._generated(group, entry.name, template, self._claims)
                if claim is not None:
                    listed.append(PodGroupResourceClaimStatus(name=entry.name, resource_claim_name=claim.metadata.name))
        return replace(group, status=replace(group.status, resource_claim_statuses=listed))

    def _group(self, pod: Pod) -> PodGroup | None:
        key = group_key(pod)
        return next((g for g in self.groups if (g.metadata.namespace, g.metadata.name) == key), None)

    def _with_claims(self, pod: Pod, claims: _Claims) -> Pod:
        if pod.spec.node_name or pod.metadata.deletion_timestamp is not None or ended(pod) or not self._makes:
            return pod
        group = self._group(pod) if pod.spec.scheduling_group is not None else None
        added = [
            PodResourceClaimStatus(name=entry.name, resource_claim_name=name)
            for entry in pod.spec.resource_claims
            if is_unmade(pod, entry) and (name := self._made_for(pod, entry, group, claims)) is not None
        ]
        if not added:
            return pod
        listed = [*pod.status.resource_claim_statuses, *added]
        return replace(pod, status=replace(pod.status, resource_claim_statuses=listed))

    def _made_for(self, pod: Pod, entry: PodResourceClaim, group: PodGroup | None, claims: _Claims) -> str | None:
        """Return the name of the claim for the entry: the group's claim for a group's entry, otherwise the pod's."""
        if group is not None and is_of_group(entry, group):
            made = (status for status in group.status.resource_claim_statuses if status.name == entry.name)
            return next((status.resource_claim_name for status in made), None)
        claim = self._generated(pod, entry.name, entry.resource_claim_template_name, claims)
        return claim.metadata.name if claim is not None else None

    def _generated(
        self, owner: ClaimOwner, entry: str, template_name: str | None, claims: _Claims
    ) -> ResourceClaim | None:
        """Return the entry's claim, which is created if necessary; None if its template does not exist."""
        claim = self._index.generated_claims.of(owner, entry)
        if claim is None:
            template = self._index.template(owner.metadata.namespace, template_name)
            if template is None:
                return None
            claim = claims.renamed(make_claim(template, owner, entry))
        return claims.put(claim)


class _Claims:
    """All claims by key, in order of arrival. Each has a UID, which identifies claims in flight."""

    def __init__(self, by_key: dict[ClaimKey, ResourceClaim]) -> None:
        """Begin with stored claims, to which others are added."""
        self.by_key = by_key
        self.new: list[ResourceClaim] = []
        """The claims added since this list was last emptied."""
        self._copies: Counter[ClaimKey] = Counter()

    def put(self, claim: ResourceClaim) -> ResourceClaim:
        """Store the claim, and return the stored claim."""
        claim = with_uid(claim)
        key = claim_key(claim)
        if key not in self.by_key:
            self.new.append(claim)
        self.by_key[key] = claim
        return claim

    def renamed(self, claim: ResourceClaim) -> ResourceClaim:
        """Return the claim with a unique name. If the claim's own name is already used, a number is appended."""
        namespace, name = claim_key(claim)
        free = name
        while (namespace, free) in self.by_key:
            self._copies[namespace, name] += 1
            free = f"{name}-{self._copies[namespace, name] + 1}"
        return claim if free == name else replace(claim, metadata=replace(claim.metadata, name=free))


def _name(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name


def _arrival(pod: Pod) -> tuple[float, int]:
    """Return the pod's arrival time; within the same second, pods are ordered by when they were written.

    A waiting pod is written when it is rejected, so the pod rejected first comes first. Times are in whole seconds.
    Resource versions grow with each write (KEP-5504).
    """
    created = parse_time(pod.metadata.creation_timestamp)
    version = pod.metadata.resource_version
    number = int(version) if version.isascii() and version.isdecimal() and len(version) <= _MOST_DIGITS else 0
    return math.inf if created is None else created, number
