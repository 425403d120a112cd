"""Build the claim sets of an input: for pods, for the pod templates of workloads, and for standalone claims.

The first part decides which of a pod's claims belong to its pod group; the second part is `expand`. `claims/sets.py`
defines claim sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodResourceClaim
from dra_plan.api.inventory import Inventory, Notice, ObjectKey, Origin
from dra_plan.api.meta import LabelSelector, ObjectMeta
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.selectors import labels_match
from dra_plan.api.workloads import AnyWorkload, CustomWorkload

from .index import Index, missing_template, of_pod_spec, owner_of, shared_claims
from .owners import is_over, is_served, is_waiting, missing, pod_name, pod_spec
from .pod_claims import (
    GeneratedClaims,
    PodClaimError,
    check_not_deleted,
    entry_claim,
    is_unmade,
    make_claim,
    missing_claim,
    not_created,
)
from .sets import ClaimSet, Expansion, Owner, joined

# -- claims of pod groups ----------------------------------------------------------------------------------------------
# This rule decides which of a pod's entries stand for its group's claims (the DRAWorkloadResourceClaims gate,
# KEP-5729).


def is_of_group(entry: PodResourceClaim, group: PodGroup | None) -> bool:
    """Return whether an entry in a pod's resourceClaims belongs to the pod's group.

    It does if the group has an entry with the same name and the same claim or template.
    """
    return group is not None and any(
        (entry.name, entry.resource_claim_name, entry.resource_claim_template_name)
        == (own.name, own.resource_claim_name, own.resource_claim_template_name)
        for own in group.spec.resource_claims
    )


def reservers(pod: Pod, group: PodGroup | None, has_claim: Iterable[bool], *, shifted: bool) -> list[bool]:
    """Return, for each claim of the pod in order, whether it is reserved for the group instead of the pod.

    `has_claim` says for each entry whether it needs a claim. If `shifted` is set, entries without a claim are counted
    too, which reproduces an upstream bug.
    """
    entries = zip(pod.spec.resource_claims, has_claim, strict=True)
    kept = [(is_of_group(entry, group), needed) for entry, needed in entries]
    whole = [of_group for of_group, needed in kept if needed or shifted]
    return whole[: sum(needed for _, needed in kept)]


class GroupClaims:
    """The claims of the pod groups in an input, including claims that have not been created yet.

    All pods in a group share the same claim objects.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._groups = {group.key: group for group in index.inventory.pod_groups}
        self._given: dict[tuple[str, str], ResourceClaim | None] = {}

    def of(self, pod: Pod, entry: PodResourceClaim) -> tuple[bool, ResourceClaim | None]:
        """Return whether the pod's entry belongs to the pod's group, and the claim for the entry.

        `entry` must name a template. The claim is None if the entry does not belong to the group or needs no claim.
        Raises `PodClaimError` if the claim or its template is missing, or if the claim is being deleted.
        """
        named = pod.spec.scheduling_group
        group = self._groups.get(f"{pod.metadata.namespace}/{named.pod_group_name}") if named is not None else None
        if group is None or not is_of_group(entry, group):
            return False, None
        key = group.key, entry.name
        if key not in self._given:
            self._given[key] = self._claim(pod, group, entry)
        claim = self._given[key]
        if claim is not None:
            check_not_deleted(claim)
        return True, claim

    @property
    def given(self) -> frozenset[tuple[str, str]]:
        """The namespace and name of each claim that `of` has returned."""
        claims = (claim for claim in self._given.values() if claim is not None)
        return frozenset((claim.metadata.namespace, claim.metadata.name) for claim in claims)

    def _claim(self, pod: Pod, group: PodGroup, entry: PodResourceClaim) -> ResourceClaim | None:
        namespace = group.metadata.namespace
        for status in group.status.resource_claim_statuses:
            if status.name == entry.name:
                if status.resource_claim_name is None:
                    return None
                found = self._index.claim(namespace, status.resource_claim_name)
                if found is None:
                    raise missing_claim(namespace, status.resource_claim_name)
                return found
        made = self._index.generated_claims.of(group, entry.name)
        if made is not None:
            return made
        template = self._index.template(namespace, entry.resource_claim_template_name)
        if template is None:
            raise not_created(pod, entry.resource_claim_template_name)
        return make_claim(template, group, entry.name)


# -- expanding an input to claim sets ----------------------------------------------------------------------------------


def expand(
    inventory: Inventory,
    *,
    namespace: str | None = None,
    selector: LabelSelector | None = None,
    together: bool = False,
    named: Collection[ObjectKey] | None = None,
    group_claims: bool = False,
    index: Index | None = None,
) -> Expansion:
    """Return the claim sets to plan: those of pods, then those of workloads, then those of standalone claims.

    Sets of the same kind are in input order. `namespace` and `selector` select pods, workloads and standalone claims;
    the selector applies to their labels. Alternatively, `named` lists the objects to plan: pods without a node,
    workloads, or pending claims. Each of them is planned by itself, even if another object controls or uses it. If
    `together` is set, all sets are joined into one, without duplicate claims. If `group_claims` is set, the pods in a
    pod group share the group's claims (the DRAWorkloadResourceClaims gate). `index` is the index of the input, if one
    already exists.
    """
    index = Index(inventory) if index is None else index
    chosen = _Choice(namespace, selector, named)
    builder = _Builder(index, chosen, GroupClaims(index) if group_claims else None)
    sets = [*builder.of_pods(), *builder.of_workloads(), *builder.of_lone_claims()]
    if together:
        return Expansion([joined(sets)], builder.notices)
    return Expansion(sets, [*builder.notices, *shared_claims(sets, index)])


def waiting_owners(
    inventory: Inventory, *, namespace: str | None = None, selector: LabelSelector | None = None
) -> list[Owner]:
    """Return the pods and workloads that `expand` would plan if they used claims, in input order."""
    builder = _Builder(Index(inventory), _Choice(namespace, selector, None), None)
    return builder.waiting()


class _Choice:
    """The selection by `-n` and `-l`, or by names."""

    def __init__(
        self, namespace: str | None, selector: LabelSelector | None, named: Collection[ObjectKey] | None
    ) -> None:
        self._namespace = namespace
        self._selector = selector
        self.named = named

    def __call__(self, namespace: str, labels: Mapping[str, str] | None) -> bool:
        if self._namespace is not None and namespace != self._namespace:
            return False
        return self._selector is None or labels_match(self._selector, labels)


class _Builder:
    def __init__(self, index: Index, chosen: _Choice, group_claims: GroupClaims | None) -> None:
        self._index = index
        self._chosen = chosen
        self._group_claims = group_claims
        self.notices: list[Notice] = []

    def waiting(self) -> list[Owner]:
        """Return the selected pods and workloads that need nodes, whether they use claims or not."""
        inventory = self._index.inventory
        return [
            *(owner_of(pod) for pod in inventory.pods if self._plans_pod(pod)),
            *(owner_of(workload) for workload in inventory.workloads if self._plans_workload(workload)),
        ]

    def of_pods(self) -> Iterator[ClaimSet]:
        """Yield the sets for pods that wait for a node and are not planned with their workload."""
        for pod in self._index.inventory.pods:
            owner, named = owner_of(pod), self._chosen.named
            if owner in named if named is not None else self._plans_pod(pod):
                yield from self._of_pod(pod, owner, self._index.generated_claims)

    def _plans_pod(self, pod: Pod) -> bool:
        metadata = pod.metadata
        chosen = self._chosen(metadata.namespace, metadata.labels)
        return chosen and is_waiting(pod) and not self._index.is_controlled(metadata)

    def of_workloads(self) -> Iterator[ClaimSet]:
        """Yield the sets for workloads with pods that have no node.

        Each set has the requests of the workload's next pod.
        """
        for workload in self._index.inventory.workloads:
            owner, named = owner_of(workload), self._chosen.named
            if owner in named if named is not None else self._plans_workload(workload):
                yield from self._of_workload(workload, owner)

    def _plans_workload(self, workload: AnyWorkload) -> bool:
        if not self._chooses(workload) or is_over(workload):
            return False
        return not self._index.is_planned_elsewhere(workload) and not is_served(workload, self._index.pods_of(workload))

    def _chooses(self, workload: AnyWorkload) -> bool:
        """Return whether the choice includes the workload, or one of its waiting pods: their labels may differ."""
        if self._chosen(workload.metadata.namespace, workload.metadata.labels):
            return True
        waiting = filter(is_waiting, self._index.pods_of(workload))
        return any(self._chosen(pod.metadata.namespace, pod.metadata.labels) for pod in waiting)

    def _of_workload(self, workload: AnyWorkload, owner: Owner) -> Iterator[ClaimSet]:
        metadata = ObjectMeta(name=pod_name(workload), namespace=owner.namespace)
        next_pod = Pod(metadata=metadata, spec=pod_spec(workload))
        part = workload.part if isinstance(workload, CustomWorkload) else ""
        copies = max(1, missing(workload, self._index.pods_of(workload)))
        for claim_set in self._of_pod(next_pod, owner, None):
            yield replace(claim_set, part=part, copies=copies)

    def _of_pod(self, pod: Pod, owner: Owner, made: GeneratedClaims | None) -> Iterator[ClaimSet]:
        origin = self._index.inventory.origins.get(owner)
        self.notices.extend(of_pod_spec(pod.spec, owner, origin, self._index))
        if not pod.spec.resource_claims:
            return
        try:
            found = [self._claim(pod, entry, made) for entry in pod.spec.resource_claims]
        except PodClaimError as error:
            if error.missing is not None and error.missing[0] == "ResourceClaimTemplate":
                self.notices.append(missing_template(owner, error.missing, self._index))
            yield ClaimSet(owner=owner, pods=(pod,), error=error, origin=origin)
        else:
            yield _set_of(owner, pod, [claim for claim in found if claim is not None], origin)

    def _claim(self, pod: Pod, entry: PodResourceClaim, made: GeneratedClaims | None) -> ResourceClaim | None:
        """Return the claim of one entry: the existing one, or one from its template, as the claim controller does."""
        if not is_unmade(pod, entry):
            return entry_claim(pod, entry, self._index.claim, of_groups=self._group_claims is not None)
        if self._group_claims is not None:
            is_groups, shared = self._group_claims.of(pod, entry)
            if is_groups:
                return shared
        claim = made.of(pod, entry.name) if made is not None else None
        if claim is not None:
            check_not_deleted(claim)
            return claim
        template = self._index.template(pod.metadata.namespace, entry.resource_claim_template_name)
        if template is None:
            raise not_created(pod, entry.resource_claim_template_name)
        return make_claim(template, pod, entry.name)

    def of_lone_claims(self) -> Iterator[ClaimSet]:
        """Yield a set for each pending claim that is not used and was not created for a pod in the input."""
        origins, named = self._index.inventory.origins, self._chosen.named
        if named is not None and not any(kind == "ResourceClaim" for kind, _, _ in named):
            return
        for claim in self._index.inventory.claims:
            key = ("ResourceClaim", claim.metadata.namespace, claim.metadata.name)
            if key in named if named is not None else self._plans_claim(claim):
                yield ClaimSet(claims=(claim,), origin=origins.get(key))

    def _plans_claim(self, claim: ResourceClaim) -> bool:
        metadata = claim.metadata
        key = metadata.namespace, metadata.name
        is_lone = _is_pending(claim) and key not in self._index.used_claims and not self._index.is_made_for_pod(claim)
        if self._group_claims is not None and key in self._group_claims.given:
            return False
        return is_lone and self._chosen(metadata.namespace, metadata.labels)


def _set_of(owner: Owner, pod: Pod, claims: list[ResourceClaim], origin: Origin | None) -> ClaimSet:
    return ClaimSet(
        owner=owner,
        pods=(pod,),
        claims=tuple(claim for claim in claims if claim.allocation is None),
        allocated=tuple(claim for claim in claims if claim.allocation is not None),
        origin=origin,
    )


def _is_pending(claim: ResourceClaim) -> bool:
    return claim.allocation is None and not claim.metadata.deletion_timestamp
