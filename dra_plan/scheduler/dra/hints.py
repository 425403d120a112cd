"""Which events may make a pod schedulable that DynamicResources rejected."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.pod_claims import PodClaimError, pod_claims
from dra_plan.scheduler.claimstore import ClaimStore
from dra_plan.scheduler.events import Action, Hint, Interest, Resource


def interests(store: ClaimStore) -> Sequence[Interest]:
    """Nodes, claims, classes and slices that come or change; never pods, slices or classes that go."""

    def after_claim(pod: Pod, old: ResourceClaim | None, new: ResourceClaim | None) -> Hint:
        return claim_hint(store, pod, old, new)

    def after_pod(pod: Pod, _old: Pod | None, new: Pod | None) -> Hint:
        return pod_hint(store, pod, new)

    return [
        Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE),
        Interest(Resource.CLAIM, Action.ADD | Action.UPDATE_OTHER, after_claim),
        Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, after_pod),
        Interest(Resource.CLASS, Action.ADD | Action.UPDATE_OTHER),
        Interest(Resource.SLICE, Action.ADD | Action.UPDATE_OTHER),
    ]


def claim_hint(store: ClaimStore, pod: Pod, old: ResourceClaim | None, new: ResourceClaim | None) -> Hint:
    """A claim that lost its allocation frees devices for everybody; otherwise only the pod's own claims matter."""
    if new is None:
        return Hint.SKIP
    try:
        claims = pod_claims(pod, store.get)
    except PodClaimError:
        return Hint.SKIP
    if old is not None and old.allocation is not None and new.allocation is None:
        return Hint.QUEUE
    if all(claim.metadata.uid != new.metadata.uid for claim in claims):
        return Hint.SKIP
    if old is None:
        return Hint.QUEUE
    return Hint.SKIP if old.status == new.status else Hint.QUEUE


def pod_hint(store: ClaimStore, pod: Pod, new: Pod | None) -> Hint:
    """The pod's own generated claims were noted in its status."""
    if new is None or new.metadata.uid != pod.metadata.uid:
        return Hint.SKIP
    try:
        pod_claims(new, store.get)
    except PodClaimError:
        return Hint.SKIP
    return Hint.QUEUE
