"""Look-ups over an inventory: claims and templates by name, generated claims, controllers, who uses which claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from dra_plan.api.core import Pod, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.api.workloads import AnyWorkload, CustomWorkload, pod_template

from .absentpods import AbsentPods
from .generated import GeneratedClaims
from .ownership import DEPLOYMENT, MOST_OWNERS, Controllers, Dependents, deployment_of
from .sets import Owner

POD = "Pod"


def pod_owner(pod: Pod) -> Owner:
    """The owner of a pod's claim set: the pod."""
    return Owner(POD, pod.metadata.namespace, pod.metadata.name)


def workload_owner(workload: AnyWorkload) -> Owner:
    """The owner of a workload's claim set: the workload."""
    return Owner(workload.kind, workload.metadata.namespace, workload.metadata.name)


def template_spec(workload: AnyWorkload) -> PodSpec:
    """The spec of the pods that a workload makes."""
    return pod_template(workload).spec


class Index:
    """What making claim sets and admitting pods look up. Each look-up is built once, when it is first asked."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory

    @cached_property
    def _claims(self) -> dict[tuple[str, str], ResourceClaim]:
        return {(c.metadata.namespace, c.metadata.name): c for c in reversed(self.inventory.claims)}

    @cached_property
    def _templates(self) -> dict[tuple[str, str], ResourceClaimTemplate]:
        return {(t.metadata.namespace, t.metadata.name): t for t in reversed(self.inventory.templates)}

    def claim(self, namespace: str, name: str) -> ResourceClaim | None:
        """The claim of that name."""
        return self._claims.get((namespace, name))

    def template(self, namespace: str, name: str | None) -> ResourceClaimTemplate | None:
        """The claim template of that name."""
        return self._templates.get((namespace, name or ""))

    @cached_property
    def generated_claims(self) -> GeneratedClaims:
        """The claims that were already made for pods' entries."""
        return GeneratedClaims(self.inventory.claims)

    @cached_property
    def controllers(self) -> Controllers[Pod | AnyWorkload]:
        """Everything in the input that controls pods or workloads in a way that is known here."""
        known = [workload for workload in self.inventory.workloads if not isinstance(workload, CustomWorkload)]
        return Controllers([*known, *self.inventory.pods])

    @cached_property
    def owners(self) -> Controllers[Pod | AnyWorkload]:
        """Everything in the input that controls pods or workloads, objects of unknown kinds included."""
        return Controllers([*self.inventory.workloads, *self.inventory.pods])

    def is_planned_elsewhere(self, workload: AnyWorkload) -> bool:
        """Whether the workload's pods are those of its controller or, of a kind unknown here, of what it has made."""
        if isinstance(workload, CustomWorkload) and (
            any(self.dependent_pods.of(workload)) or any(self.dependent_workloads.of(workload))
        ):
            return True
        return self.controllers.of(workload.metadata) is not None

    def is_made_for_pod(self, claim: ResourceClaim) -> bool:
        """Whether the claim was made for a pod of the input, or for the one that stood there under that name before.

        A pod that is made anew gets new claims. Those of the old one, whose uid they name, are left for nobody.
        """
        reference, namespace = claim.metadata.controller, claim.metadata.namespace
        if reference is None or reference.kind != POD:
            return False
        named = (namespace, reference.name) in self._pod_names
        return named or isinstance(self.controllers.of(claim.metadata), Pod)

    @cached_property
    def _pod_names(self) -> frozenset[tuple[str, str]]:
        return frozenset((pod.metadata.namespace, pod.metadata.name) for pod in self.inventory.pods)

    @cached_property
    def dependent_claims(self) -> Dependents[ResourceClaim]:
        """The claims by what controls them."""
        return Dependents(self.inventory.claims)

    @cached_property
    def dependent_pods(self) -> Dependents[Pod]:
        """The pods by what controls them."""
        return Dependents(self.inventory.pods)

    @cached_property
    def _deployments(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (w.metadata.namespace, w.metadata.name) for w in self.inventory.workloads if w.kind == DEPLOYMENT
        )

    def is_controlled(self, metadata: ObjectMeta) -> bool:
        """Whether a pod or workload of the input controls the object, be it through a ReplicaSet not in the input."""
        if self.controllers.of(metadata) is not None:
            return True
        return (metadata.namespace, deployment_of(metadata)) in self._deployments

    @cached_property
    def _of_unseen_replica_sets(self) -> dict[tuple[str, str], list[Pod]]:
        """(namespace, name) of a Deployment to its pods whose ReplicaSet is not in the input."""
        found: dict[tuple[str, str], list[Pod]] = defaultdict(list)
        for pod in self.inventory.pods if self._deployments else ():
            if self.controllers.of(pod.metadata) is None:
                found[pod.metadata.namespace, deployment_of(pod.metadata)].append(pod)
        return found

    def pods_of(self, workload: AnyWorkload) -> list[Pod]:
        """The pods of the input that belong to the workload, directly or through a workload that it owns."""
        return list(self._pods_below(workload, MOST_OWNERS))

    def _pods_below(self, workload: AnyWorkload, deepest: int) -> Iterator[Pod]:
        yield from self.dependent_pods.of(workload)
        if deepest:
            for owned in self.dependent_workloads.of(workload):
                yield from self._pods_below(owned, deepest - 1)
        if workload.kind == DEPLOYMENT:
            yield from self._of_unseen_replica_sets.get((workload.metadata.namespace, workload.metadata.name), ())

    @cached_property
    def dependent_workloads(self) -> Dependents[AnyWorkload]:
        """The workloads by what controls them."""
        return Dependents(self.inventory.workloads)

    @cached_property
    def served_resources(self) -> frozenset[str]:
        """The names of extended resources that a device class of the input serves."""
        classes = self.inventory.classes
        explicit = {c.spec.extended_resource_name for c in classes if c.spec.extended_resource_name}
        return frozenset(explicit | {IMPLICIT_PREFIX + c.metadata.name for c in classes})

    @cached_property
    def used_claims(self) -> dict[tuple[str, str], list[Owner]]:
        """(namespace, name) of each claim that pods and workloads use, with its users in input order."""
        users: dict[tuple[str, str], dict[Owner, None]] = defaultdict(dict)
        for owner, claim_name in self._uses():
            users[owner.namespace, claim_name][owner] = None
        return {key: list(owners) for key, owners in users.items()}

    @cached_property
    def absent_pods(self) -> AbsentPods:
        """The pods that claims are reserved for and that the input lacks."""
        return AbsentPods(self.inventory)

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
                elif (claim := self.generated_claims.of(pod, entry.name)) is not None:
                    yield owner, claim.metadata.name
        for workload in self.inventory.workloads:
            for entry in template_spec(workload).resource_claims:
                if entry.resource_claim_name:
                    yield workload_owner(workload), entry.resource_claim_name
