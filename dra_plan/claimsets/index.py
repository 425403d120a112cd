"""Look-ups over an inventory: claims and templates by name, generated claims by pod, who uses which claim."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator

from dra_plan.api.core import Pod, PodResourceClaim, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.workloads import AnyWorkload, CronJob

from .generated import claim_prefix, is_generated_for, pod_clue
from .sets import Owner

_IMPLICIT_RESOURCE = "deviceclass.resource.kubernetes.io/"
"""Before a class's name: the resource that every class serves."""


def pod_owner(pod: Pod) -> Owner:
    """The owner of a pod's claim set: the pod."""
    return Owner("Pod", pod.metadata.namespace, pod.metadata.name)


def workload_owner(workload: AnyWorkload) -> Owner:
    """The owner of a workload's claim set: the workload."""
    return Owner(workload.kind, workload.metadata.namespace, workload.metadata.name)


def template_spec(workload: AnyWorkload) -> PodSpec:
    """The spec of the pods that a workload makes."""
    job = workload.spec.job_template if isinstance(workload, CronJob) else workload
    return job.spec.template.spec


class Index:
    """Everything that making claim sets looks up, built once per inventory."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self._claims = {(c.metadata.namespace, c.metadata.name): c for c in reversed(inventory.claims)}
        self._templates = {(t.metadata.namespace, t.metadata.name): t for t in reversed(inventory.templates)}
        self._generated: dict[tuple[str, str], list[ResourceClaim]] = defaultdict(list)
        for claim in inventory.claims:
            if (clue := pod_clue(claim)) is not None:
                self._generated[claim.metadata.namespace, clue].append(claim)
        self._controllers = self._list_controllers()

    def _list_controllers(self) -> dict[Owner, str]:
        """Everything in the input that may control pods or workloads, with its uid."""
        found = {workload_owner(workload): workload.metadata.uid for workload in self.inventory.workloads}
        found.update((pod_owner(pod), pod.metadata.uid) for pod in self.inventory.pods)
        return found

    def claim(self, namespace: str, name: str) -> ResourceClaim | None:
        """The claim of that name."""
        return self._claims.get((namespace, name))

    def template(self, namespace: str, name: str) -> ResourceClaimTemplate | None:
        """The claim template of that name."""
        return self._templates.get((namespace, name))

    def generated_claim(self, pod: Pod, entry: PodResourceClaim) -> ResourceClaim | None:
        """The claim that was already made for this entry of the pod, by owner or annotation."""
        for clue in (pod.metadata.name, claim_prefix(pod.metadata.name, entry.name)):
            for claim in self._generated.get((pod.metadata.namespace, clue), ()):
                if is_generated_for(claim, pod, entry.name):
                    return claim
        return None

    def controller_is_known(self, metadata: ObjectMeta) -> bool:
        """Whether the object that controls this one is in the input."""
        reference = metadata.controller
        if reference is None:
            return False
        uid = self._controllers.get(Owner(reference.kind, metadata.namespace, reference.name))
        return uid is not None and same_uid(reference, uid)

    @functools.cached_property
    def served_resources(self) -> frozenset[str]:
        """The names of extended resources that a device class of the input serves."""
        classes = self.inventory.classes
        explicit = {c.spec.extended_resource_name for c in classes if c.spec.extended_resource_name}
        return frozenset(explicit | {_IMPLICIT_RESOURCE + c.metadata.name for c in classes})

    @functools.cached_property
    def used_claims(self) -> dict[tuple[str, str], list[Owner]]:
        """(namespace, name) of each claim that pods and workloads use, with its users in input order."""
        users: dict[tuple[str, str], list[Owner]] = defaultdict(list)
        for owner, claim_name in self._uses():
            key = (owner.namespace, claim_name)
            if owner not in users[key]:
                users[key].append(owner)
        return dict(users)

    def _uses(self) -> Iterator[tuple[Owner, str]]:
        for pod in self.inventory.pods:
            owner = pod_owner(pod)
            for status in pod.status.resource_claim_statuses:
                if status.resource_claim_name:
                    yield owner, status.resource_claim_name
            special = pod.status.extended_resource_claim_status
            if special is not None and special.resource_claim_name:
                yield owner, special.resource_claim_name
            for entry in pod.spec.resource_claims:
                if entry.resource_claim_name:
                    yield owner, entry.resource_claim_name
                elif (claim := self.generated_claim(pod, entry)) is not None:
                    yield owner, claim.metadata.name
        for workload in self.inventory.workloads:
            for entry in template_spec(workload).resource_claims:
                if entry.resource_claim_name:
                    yield workload_owner(workload), entry.resource_claim_name


def same_uid(reference: OwnerReference, uid: str) -> bool:
    """Whether a reference means the object with that uid; manifests written by hand have none, then names decide."""
    return not reference.uid or not uid or reference.uid == uid
