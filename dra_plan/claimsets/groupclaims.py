"""Claims of a pod group: which entries of its pods stand for them (gate DRAWorkloadResourceClaims, KEP-5729)."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.core import Pod, PodResourceClaim
from dra_plan.api.podgroups import PodGroup


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
