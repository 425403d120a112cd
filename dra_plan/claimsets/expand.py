"""Which claim sets an input has: those of pods, of workloads' pod templates, and lone claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_plan.api.core import Pod, PodResourceClaim
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import LabelSelector
from dra_plan.api.notice import Notice, Origin
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import labels_match
from dra_plan.api.workloads import AnyWorkload, Job

from . import notices
from .generated import is_controlled_by, make_claim
from .index import Index, pod_owner, template_spec, workload_owner
from .sets import ClaimSet, Expansion, Owner


def expand(
    inventory: Inventory,
    *,
    namespace: str | None = None,
    selector: LabelSelector | None = None,
    together: bool = False,
) -> Expansion:
    """The claim sets to plan, in the order pods, workloads, lone claims, each in input order.

    `namespace` and `selector` (on the labels of pod, workload or lone claim) choose what is planned.
    With `together` there is exactly one set: all pending claims of the input, in input order.
    """
    index = Index(inventory)
    chosen = _Choice(namespace, selector)
    if together:
        pending = tuple(
            c for c in inventory.claims if _is_pending(c) and chosen(c.metadata.namespace, c.metadata.labels)
        )
        return Expansion([ClaimSet(claims=pending)], [])
    builder = _Builder(index, chosen)
    sets = [*builder.of_pods(), *builder.of_workloads(), *builder.of_lone_claims()]
    return Expansion(sets, [*builder.notices, *notices.shared_claims(sets, index)])


class _Choice:
    """What `-n` and `-l` choose."""

    def __init__(self, namespace: str | None, selector: LabelSelector | None) -> None:
        self._namespace = namespace
        self._selector = selector

    def __call__(self, namespace: str, labels: Mapping[str, str] | None) -> bool:
        if self._namespace is not None and namespace != self._namespace:
            return False
        return self._selector is None or labels_match(self._selector, labels)


class _SetError(Exception):
    """The scheduler's reason why a pod's claims can't be told."""


class _Builder:
    def __init__(self, index: Index, chosen: _Choice) -> None:
        self._index = index
        self._chosen = chosen
        self.notices: list[Notice] = []

    # Pods

    def of_pods(self) -> Iterator[ClaimSet]:
        for pod in self._index.inventory.pods:
            metadata = pod.metadata
            if self._chosen(metadata.namespace, metadata.labels) and _is_waiting(pod):
                if self._index.controller_is_known(metadata):
                    continue
                yield from self._of_pod(pod)

    def _of_pod(self, pod: Pod) -> Iterator[ClaimSet]:
        owner = pod_owner(pod)
        origin = self._index.inventory.origins.get(owner)
        self.notices.extend(notices.of_pod_spec(pod.spec, owner, origin, self._index))
        if not pod.spec.resource_claims:
            return
        try:
            claims = [claim for entry in pod.spec.resource_claims if (claim := self._claim_of_pod(pod, entry))]
        except _SetError as error:
            yield ClaimSet(owner=owner, error=str(error), origin=origin)
        else:
            yield _set_of(owner, claims, origin)

    def _claim_of_pod(self, pod: Pod, entry: PodResourceClaim) -> ResourceClaim | None:
        """The claim of one entry: existing or to be made; None if the entry needs none. Raises `_SetError`."""
        namespace = pod.metadata.namespace
        if entry.resource_claim_name is not None:
            return self._existing(namespace, entry.resource_claim_name)
        if entry.resource_claim_template_name is None:
            raise _SetError(f'pod "{pod.key}", spec.resourceClaim "{entry.name}": none of the supported fields are set')
        status = next((s for s in pod.status.resource_claim_statuses if s.name == entry.name), None)
        if status is not None and status.resource_claim_name is None:
            return None
        if status is not None and status.resource_claim_name is not None:
            claim = self._existing(namespace, status.resource_claim_name)
            if not is_controlled_by(claim, pod):
                raise _SetError(f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)")
            return claim
        if (generated := self._index.generated_claim(pod, entry)) is not None:
            return self._existing(namespace, generated.metadata.name)
        return self._made(pod_owner(pod), pod.metadata.uid, entry)

    def _existing(self, namespace: str, name: str) -> ResourceClaim:
        claim = self._index.claim(namespace, name)
        if claim is None:
            raise _SetError(f'could not find ResourceClaim "{namespace}/{name}"')
        if claim.metadata.deletion_timestamp:
            raise _SetError(f'resourceclaim "{name}" is being deleted')
        return claim

    def _made(self, owner: Owner, uid: str, entry: PodResourceClaim) -> ResourceClaim:
        name = entry.resource_claim_template_name or ""
        template = self._index.template(owner.namespace, name)
        if template is None:
            self.notices.append(notices.missing_template(owner, name, self._index.inventory.origins.get(owner)))
            raise _SetError(f'pod "{owner.namespace}/{owner.name}": ResourceClaim not created yet')
        return make_claim(template, owner, uid, entry.name)

    # Workloads

    def of_workloads(self) -> Iterator[ClaimSet]:
        for workload in self._index.inventory.workloads:
            metadata = workload.metadata
            if not self._chosen(metadata.namespace, metadata.labels) or _is_over(workload):
                continue
            if not self._index.controller_is_known(metadata):
                yield from self._of_workload(workload)

    def _of_workload(self, workload: AnyWorkload) -> Iterator[ClaimSet]:
        owner = workload_owner(workload)
        origin = self._index.inventory.origins.get(owner)
        spec = template_spec(workload)
        self.notices.extend(notices.of_pod_spec(spec, owner, origin, self._index))
        if not spec.resource_claims:
            return
        try:
            claims = [self._claim_of_workload(owner, entry) for entry in spec.resource_claims]
        except _SetError as error:
            yield ClaimSet(owner=owner, error=str(error), origin=origin)
        else:
            yield _set_of(owner, claims, origin)

    def _claim_of_workload(self, owner: Owner, entry: PodResourceClaim) -> ResourceClaim:
        if entry.resource_claim_name is not None:
            return self._existing(owner.namespace, entry.resource_claim_name)
        if entry.resource_claim_template_name is not None:
            return self._made(owner, "", entry)
        pod = f"{owner.namespace}/{owner.name}"
        raise _SetError(f'pod "{pod}", spec.resourceClaim "{entry.name}": none of the supported fields are set')

    # Lone claims

    def of_lone_claims(self) -> Iterator[ClaimSet]:
        used = self._index.used_claims
        for claim in self._index.inventory.claims:
            metadata = claim.metadata
            if not _is_pending(claim) or (metadata.namespace, metadata.name) in used:
                continue
            if self._chosen(metadata.namespace, metadata.labels):
                origin = self._index.inventory.origins.get(("ResourceClaim", metadata.namespace, metadata.name))
                yield ClaimSet(claims=(claim,), origin=origin)


def _set_of(owner: Owner, claims: list[ResourceClaim], origin: Origin | None) -> ClaimSet:
    return ClaimSet(
        owner=owner,
        claims=tuple(claim for claim in claims if not is_allocated(claim)),
        allocated=tuple(claim for claim in claims if is_allocated(claim)),
        origin=origin,
    )


def is_allocated(claim: ResourceClaim) -> bool:
    """Whether the claim has its devices."""
    return claim.status is not None and claim.status.allocation is not None


def _is_pending(claim: ResourceClaim) -> bool:
    return not is_allocated(claim) and not claim.metadata.deletion_timestamp


def _is_over(workload: AnyWorkload) -> bool:
    """Whether the workload makes no more pods: it is being deleted, or a job that has ended."""
    if workload.metadata.deletion_timestamp:
        return True
    return isinstance(workload, Job) and any(
        condition.type in ("Complete", "Failed") and condition.status == "True"
        for condition in workload.status.conditions
    )


def _is_waiting(pod: Pod) -> bool:
    """Whether the scheduler has yet to find a node for the pod."""
    return not (pod.spec.node_name or pod.metadata.deletion_timestamp or pod.status.phase in ("Succeeded", "Failed"))
