"""Owners that were named and have nothing to plan: what they are instead, for the documents and as a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Notice, ObjectKey
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.quantity import QuantityError, make, parse
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index, template_spec
from dra_plan.claims.owners import ended, is_over
from dra_plan.claims.pod_claims import PodClaimError, claim_name
from dra_plan.documents.allocation import PlannedClaim
from dra_plan.documents.base import ClaimName, ObjectName, claim_allocation
from dra_plan.documents.owners import AskedResource, UnplannedOwner
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import class_names
from dra_plan.scheduler.cluster.nodes import exact_requests

_BINARY = ("memory", "ephemeral-storage", "hugepages-")
_NANO = -9


class OwnerStates:
    """Tells what named owners are that have nothing to plan."""

    def __init__(self, index: Index, target: Target) -> None:
        self._index, self._target = index, target
        inventory = index.inventory
        self._objects: dict[ObjectKey, Pod | AnyWorkload | ResourceClaim] = {
            (found.kind, found.metadata.namespace, found.metadata.name): found
            for found in (*inventory.claims, *inventory.workloads, *inventory.pods)
        }

    def of(self, key: ObjectKey) -> UnplannedOwner | None:
        """What the object is; None if it has claims that wait for devices, so that it can be planned."""
        found = self._objects.get(key)
        if isinstance(found, Pod):
            return self._of_pod(found)
        if isinstance(found, ResourceClaim):
            return self._of_claim(found)
        return self._of_workload(found) if found is not None else None

    def _of_pod(self, pod: Pod) -> UnplannedOwner | None:
        owner = _name(pod.kind, pod.metadata)
        if ended(pod):
            return UnplannedOwner(owner=owner, state="Finished", phase=pod.status.phase, node_name=pod.spec.node_name)
        if pod.metadata.deletion_timestamp:
            return UnplannedOwner(owner=owner, state="Deleting", node_name=pod.spec.node_name)
        if pod.spec.node_name:
            return self._bound(pod, owner)
        if pod.spec.resource_claims:
            return None
        return UnplannedOwner(owner=owner, state="WithoutClaims", asks=list(self._asks(pod)))

    def _bound(self, pod: Pod, owner: ObjectName) -> UnplannedOwner:
        found = list(self._claims(pod))
        return UnplannedOwner(
            owner=owner,
            state="Bound",
            node_name=pod.spec.node_name,
            claims=[_allocated(claim) for _, claim in found if claim is not None and claim.allocation is not None],
            pending_claims=[_claim(claim) for _, claim in found if claim is not None and claim.allocation is None],
            missing_claims=[entry for entry, claim in found if claim is None],
            asks=[] if pod.spec.resource_claims else list(self._asks(pod)),
        )

    def _claims(self, pod: Pod) -> Iterator[tuple[str, ResourceClaim | None]]:
        """The entries of the pod that need a claim, with the claims; the one for its extended resources, too."""
        namespace = pod.metadata.namespace
        for entry in pod.spec.resource_claims:
            try:
                name = claim_name(pod, entry)
            except PodClaimError:
                yield entry.name, self._index.generated_claims.of(pod, entry.name)
                continue
            if name is not None:
                yield entry.name, self._index.claim(namespace, name)
        special = pod.status.extended_resource_claim_status
        if special is not None and special.resource_claim_name:
            yield special.resource_claim_name, self._index.claim(namespace, special.resource_claim_name)

    def _of_workload(self, workload: AnyWorkload) -> UnplannedOwner | None:
        owner = _name(workload.kind, workload.metadata)
        if workload.metadata.deletion_timestamp:
            return UnplannedOwner(owner=owner, state="Deleting")
        if is_over(workload):
            return UnplannedOwner(owner=owner, state="Finished")
        spec = template_spec(workload)
        if spec.resource_claims:
            return None
        return UnplannedOwner(owner=owner, state="WithoutClaims", asks=list(self._asks(Pod(spec=spec))))

    def _of_claim(self, claim: ResourceClaim) -> UnplannedOwner | None:
        owner = _name(claim.kind, claim.metadata)
        if claim.metadata.deletion_timestamp:
            return UnplannedOwner(owner=owner, state="Deleting")
        if claim.allocation is None:
            return None
        namespace = claim.metadata.namespace
        reserved = claim.status.reserved_for if claim.status is not None else []
        users = [ObjectName(kind=_kind(who.resource), namespace=namespace, name=who.name) for who in reserved]
        return UnplannedOwner(owner=owner, state="Allocated", claims=[_allocated(claim)], used_by=users)

    def _asks(self, pod: Pod) -> Iterator[AskedResource]:
        """What the pod asks of its node, in the order of the names; nothing if a quantity can't be read."""
        try:
            requests = exact_requests(pod)
        except QuantityError:
            return
        for name, nano in sorted(requests.items()):
            if nano > 0:
                yield AskedResource(
                    name=name,
                    amount=make(nano, _NANO, "BinarySI" if name.startswith(_BINARY) else "DecimalSI").text,
                    device_class=self._classes.get(name, ""),
                    nodes=self._offering.get(name, 0),
                )

    @cached_property
    def _classes(self) -> Mapping[str, str]:
        """Extended resource to the class that serves it; empty with the gate off."""
        target = self._target
        if not target.features.extended_resources:
            return {}
        lost = target.quirks.losing_class_loses_implicit_name
        return class_names(self._index.inventory.classes, loser_loses_implicit=lost)

    @cached_property
    def _offering(self) -> dict[str, int]:
        """Resource to the number of nodes that have any of it."""
        found: dict[str, int] = {}
        for node in self._index.inventory.nodes:
            for name, amount in node.status.allocatable.items():
                try:
                    found[name] = found.get(name, 0) + (parse(amount).sign > 0)
                except QuantityError:
                    continue
        return found


def notice(of: UnplannedOwner) -> Notice:
    """The warning of a plan in which this owner has no part."""
    name = f"{of.owner.kind} {of.owner.namespace}/{of.owner.name}"
    return Notice("not-planned", f"nothing to plan: {_SAID[of.state](of)}", name)


_SAID: dict[str, Callable[[UnplannedOwner], str]] = {
    "Bound": lambda of: f"it has its node, {of.node_name} (`explain` says with which devices)",
    "Finished": lambda of: f"it has finished{f' ({of.phase})' if of.phase else ''}",
    "Deleting": lambda _of: "it is being deleted",
    "Allocated": lambda _of: "it has its devices (`explain` says which)",
    "WithoutClaims": lambda _of: "it has no claims (`explain` says what it asks for instead)",
}


def _name(kind: str, metadata: ObjectMeta) -> ObjectName:
    return ObjectName(kind=kind, namespace=metadata.namespace, name=metadata.name)


def _claim(claim: ResourceClaim) -> ClaimName:
    return ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name)


def _allocated(claim: ResourceClaim) -> PlannedClaim:
    assert claim.allocation is not None
    metadata = claim.metadata
    return PlannedClaim(namespace=metadata.namespace, name=metadata.name, allocation=claim_allocation(claim.allocation))


def _kind(resource: str) -> str:
    from dra_plan.manifests import kinds

    found = kinds.named(resource)
    return found.name if found is not None else resource
