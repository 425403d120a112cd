"""Which claim sets an input has: those of pods, of workloads' pod templates, and lone claims."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from dra_plan.api.core import Pod, PodResourceClaim
from dra_plan.api.inventory import Inventory, Notice, ObjectKey, Origin
from dra_plan.api.meta import LabelSelector, ObjectMeta
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import labels_match
from dra_plan.api.workloads import AnyWorkload, CustomWorkload

from . import notices
from .generated import GeneratedClaims, make_claim
from .groupclaims import GroupClaims
from .index import Index, pod_owner, workload_owner
from .podclaims import PodClaimError, check_not_deleted, entry_claim, is_unmade, not_created
from .podstate import is_waiting
from .replicas import is_over, is_served, missing, pod_name, pod_spec
from .sets import ClaimSet, Expansion, Owner, joined


def expand(
    inventory: Inventory,
    *,
    namespace: str | None = None,
    selector: LabelSelector | None = None,
    together: bool = False,
    named: Collection[ObjectKey] | None = None,
    group_claims: bool = False,
) -> Expansion:
    """The claim sets to plan, in the order pods, workloads, lone claims, each in input order.

    `namespace` and `selector` (on the labels of pod, workload or lone claim) choose what is planned; or `named` are the
    objects to plan, each by itself, whoever controls or uses it: pods without a node, workloads, pending claims.
    With `together` there is exactly one set: the claims of all these sets, each once. `group_claims`: pod groups have
    claims, which their pods share (gate DRAWorkloadResourceClaims).
    """
    index = Index(inventory)
    chosen = _Choice(namespace, selector, named)
    builder = _Builder(index, chosen, GroupClaims(index) if group_claims else None)
    sets = [*builder.of_pods(), *builder.of_workloads(), *builder.of_lone_claims()]
    if together:
        return Expansion([joined(sets)], builder.notices)
    return Expansion(sets, [*builder.notices, *notices.shared_claims(sets, index)])


class _Choice:
    """What `-n` and `-l` choose, or names do."""

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

    def of_pods(self) -> Iterator[ClaimSet]:
        """The sets of the pods that wait for a node and are not planned with their workload."""
        for pod in self._index.inventory.pods:
            owner, named = pod_owner(pod), self._chosen.named
            if owner in named if named is not None else self._plans_pod(pod):
                yield from self._of_pod(pod, owner, self._index.generated_claims)

    def _plans_pod(self, pod: Pod) -> bool:
        metadata = pod.metadata
        chosen = self._chosen(metadata.namespace, metadata.labels)
        return chosen and is_waiting(pod) and not self._index.is_controlled(metadata)

    def of_workloads(self) -> Iterator[ClaimSet]:
        """The sets of workloads that want pods without a node: what the next pod of each would ask for."""
        for workload in self._index.inventory.workloads:
            owner, named = workload_owner(workload), self._chosen.named
            if owner in named if named is not None else self._plans_workload(workload):
                yield from self._of_workload(workload, owner)

    def _plans_workload(self, workload: AnyWorkload) -> bool:
        metadata = workload.metadata
        if not self._chosen(metadata.namespace, metadata.labels) or is_over(workload):
            return False
        return not self._index.is_planned_elsewhere(workload) and not is_served(workload, self._index.pods_of(workload))

    def _of_workload(self, workload: AnyWorkload, owner: Owner) -> Iterator[ClaimSet]:
        metadata = ObjectMeta(name=pod_name(workload), namespace=owner.namespace)
        next_pod = Pod(metadata=metadata, spec=pod_spec(workload))
        part = workload.part if isinstance(workload, CustomWorkload) else ""
        copies = max(1, missing(workload, self._index.pods_of(workload)))
        for claim_set in self._of_pod(next_pod, owner, None):
            yield replace(claim_set, part=part, copies=copies)

    def _of_pod(self, pod: Pod, owner: Owner, made: GeneratedClaims | None) -> Iterator[ClaimSet]:
        origin = self._index.inventory.origins.get(owner)
        self.notices.extend(notices.of_pod_spec(pod.spec, owner, origin, self._index))
        if not pod.spec.resource_claims:
            return
        try:
            found = [self._claim(pod, entry, made) for entry in pod.spec.resource_claims]
        except PodClaimError as error:
            if error.missing is not None and error.missing[0] == "ResourceClaimTemplate":
                self.notices.append(notices.missing_template(owner, error.missing, self._index))
            yield ClaimSet(owner=owner, pods=(pod,), error=error, origin=origin)
        else:
            yield _set_of(owner, pod, [claim for claim in found if claim is not None], origin)

    def _claim(self, pod: Pod, entry: PodResourceClaim, made: GeneratedClaims | None) -> ResourceClaim | None:
        """The claim of one entry: existing or, as the claim controller would, made from its template."""
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
        """A set for each pending claim that nobody uses and that was made for no pod of the input."""
        origins, named = self._index.inventory.origins, self._chosen.named
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
