"""Claims of a pod group: which entries of its pods stand for them (gate DRAWorkloadResourceClaims, KEP-5729)."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.core import Pod, PodResourceClaim
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.scheduling import PodGroup

from .generated import make_claim
from .index import Index
from .podclaims import check_not_deleted, missing_claim, not_created


def is_of_group(entry: PodResourceClaim, group: PodGroup | None) -> bool:
    """Whether the pod's entry is the group's: it has the same name and names the same claim or template."""
    return group is not None and any(
        (entry.name, entry.resource_claim_name, entry.resource_claim_template_name)
        == (own.name, own.resource_claim_name, own.resource_claim_template_name)
        for own in group.spec.resource_claims
    )


def reservers(pod: Pod, group: PodGroup | None, has_claim: Iterable[bool], *, shifted: bool) -> list[bool]:
    """For each claim of the pod, in order, whether it is reserved for the group instead of the pod.

    `has_claim` says of each entry whether it needs a claim. `shifted`: upstream counts those that need none, too.
    """
    entries = zip(pod.spec.resource_claims, has_claim, strict=True)
    kept = [(is_of_group(entry, group), needed) for entry, needed in entries]
    whole = [of_group for of_group, needed in kept if needed or shifted]
    return whole[: sum(needed for _, needed in kept)]


class GroupClaims:
    """The claims that pod groups of an input have, or would be made for them: one object, whichever pod asks."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._groups = {group.key: group for group in index.inventory.pod_groups}
        self._given: dict[tuple[str, str], ResourceClaim | None] = {}

    def of(self, pod: Pod, entry: PodResourceClaim) -> tuple[bool, ResourceClaim | None]:
        """Whether the pod's entry, which names a template, is its group's; and the claim, None if none is needed.

        Raises `PodClaimError` where the claim or its template is missing, or the claim is being deleted.
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
        """(namespace, name) of the claims that were asked for."""
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
