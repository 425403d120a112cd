"""`explain`: an input with changed pods of one owner: the owner, and its pods without a node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from typing import Any

from msgspec import Struct, structs

from dra_plan.api.core import Container, Namespace, Pod, PodSpec
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.well_known import ADMIN_ACCESS, TEMPLATE_HASH
from dra_plan.api.workloads import (
    AnyWorkload,
    CronJob,
    CustomWorkload,
    Job,
    ReplicationController,
    Workload,
    pod_template,
)
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import ended
from dra_plan.claims.sets import Owner
from dra_plan.documents.suggestions import ObjectPatch, SuggestedChange
from dra_plan.questions.explain.set_elsewhere import SetElsewhere
from dra_plan.scheduler.cluster.pod_volumes import is_claim

EditSpec = Callable[[PodSpec], PodSpec]

CONTAINER_LISTS = {"containers": "containers", "initContainers": "init_containers"}
"""The lists of containers of a pod spec: the field of the API, and the attribute."""


class Remedy(Struct, frozen=True):
    """One or more changes that were found together, and the function that applies them to an input.

    If it is unknown how to apply the changes, the function returns None. `fixed` means that the changes are not
    possible on an existing pod. `patches` are the patches of a change that was found elsewhere.
    """

    told: tuple[SuggestedChange, ...]
    apply: Callable[[Inventory], Inventory | None]
    fixed: bool = False
    patches: tuple[ObjectPatch, ...] = ()


class OwnedPods:
    """A pod or workload in an input, and the location of its pod spec. For a custom kind, the location is unknown."""

    def __init__(self, index: Index, owner: Owner) -> None:
        self._index, self._owner = index, owner
        self.object = found(index.inventory, owner)

    @property
    def inventory(self) -> Inventory:
        """The input, which is not changed."""
        return self._index.inventory

    @property
    def spec(self) -> PodSpec | None:
        """The spec of the owner's pods, or None if its location is unknown."""
        return spec_of(self.object)

    @cached_property
    def waiting(self) -> list[Owner]:
        """The workload's pods that have no node. The list is empty for a pod."""
        if self.object is None or isinstance(self.object, Pod):
            return []
        pods = self._index.pods_of(self.object)
        return [owner_of(pod) for pod in pods if not (pod.spec.node_name or ended(pod))]

    @property
    def spec_as_created(self) -> PodSpec | None:
        """The spec of the first pod without a node, which has the requests of a LimitRange; without one, the spec."""
        first = found(self._index.inventory, self.waiting[0]) if self.waiting else None
        return first.spec if isinstance(first, Pod) else self.spec

    def sets_again(self, change: SuggestedChange) -> bool:
        """Return whether a change of the pods has no effect, because something else sets it again in each new pod."""
        return self._set_elsewhere is not None and self._set_elsewhere.sets_again(change)

    @cached_property
    def _set_elsewhere(self) -> SetElsewhere | None:
        """What neither the first of the pending pods nor its controller decides."""
        pods = [self.object] if isinstance(self.object, Pod) else [found(self.inventory, one) for one in self.waiting]
        return next((SetElsewhere(self._index, pod) for pod in pods if isinstance(pod, Pod)), None)

    def changed(self, told: SuggestedChange, edit: EditSpec, *, fixed: bool = False) -> Iterator[Remedy]:
        """Yield a change of the pod spec, if its location is known."""
        if self.spec is not None:
            yield Remedy((told,), self.editing(edit), fixed=fixed)

    @property
    def workload(self) -> AnyWorkload | None:
        """The workload itself, or the topmost one that controls the pod; None if there is none in the input."""
        return self._index.top_of(self.object) if isinstance(self.object, Pod) else self.object

    @property
    def own_labels(self) -> dict[str, str]:
        """The labels by which the workload of the pods selects them; empty if it does not do so by labels alone.

        A ReplicaSet selects by the hash of its template as well, unlike its Deployment.
        """
        workload = self.workload
        if isinstance(workload, ReplicationController):
            return dict(workload.spec.selector)
        if not isinstance(workload, Workload) or workload.spec.selector is None:
            return {}
        labels = workload.spec.selector.match_labels or {}
        is_plain = not workload.spec.selector.match_expressions
        return {key: value for key, value in labels.items() if key != TEMPLATE_HASH} if is_plain else {}

    @property
    def cron_job(self) -> str:
        """The name of the CronJob that created the Job, or the Job of the pod; "" if there is none."""
        job = self.object
        if isinstance(job, Pod):
            job = self._index.controllers.of(job.metadata)
        controller = job.metadata.controller if isinstance(job, Job) else None
        return controller.name if controller is not None and controller.kind == "CronJob" else ""

    def claims_from(self, template: str) -> list[ObjectKey]:
        """Return the claims without devices that the workload's pending pods got from this template.

        Claims with a spec that differs from the template's spec are left out.
        """
        made = self._index.template(self._owner.namespace, template)
        names = {(owner.namespace, owner.name) for owner in self.waiting} if made is not None else set()
        pods = (pod for pod in self.inventory.pods if (pod.metadata.namespace, pod.metadata.name) in names)
        generated = self._index.generated_claims
        claims = (
            generated.of(pod, entry.name)
            for pod in pods
            for entry in pod.spec.resource_claims
            if entry.resource_claim_template_name == template
        )
        return [
            (ResourceClaim.__name__, claim.metadata.namespace, claim.metadata.name)
            for claim in claims
            if claim is not None and made is not None and claim.allocation is None and claim.spec == made.spec.spec
        ]

    def editing(self, edit: EditSpec) -> Callable[[Inventory], Inventory]:
        """Return a function that edits the pod spec of the owner and of the owner's pending pods.

        The pending pods are recreated.
        """
        keys = {self._owner, *self.waiting}
        return lambda of: edited(of, keys, lambda one: _with_spec(one, edit))

    def preempting(self) -> Inventory:
        """Return the input in which the pods may preempt other pods, regardless of their preemptionPolicy or class."""
        return self._with(preemption_policy="PreemptLowerPriority")

    def freed(self, held_by: str, held: Sequence[str]) -> Inventory | None:
        """Return the input without what holds the pods back, so that other obstacles can be found.

        Scheduling gates are removed, the scheduler is kube-scheduler's default, and claims that do not exist are not
        requested. If it is unknown how to remove what holds the pods back, return None.
        """
        match held_by:
            case "SchedulingGates":
                return self._with(scheduling_gates=[])
            case "OtherScheduler":
                return self._with(scheduler_name="")
            case "MissingClaim" if held:
                names = {one.rpartition("/")[2] for one in held}
                return self.editing(lambda spec: _without_claims(spec, names))(self.inventory)
        return None

    def without_volume_claims(self) -> Inventory:
        """Return the input in which the pods have no PersistentVolumeClaims, including generated ones."""

        def without(spec: PodSpec) -> PodSpec:
            return structs.replace(spec, volumes=[each for each in spec.volumes if not is_claim(each)])

        return self.editing(without)(self.inventory)

    def without_claims(self) -> Inventory:
        """Return the input in which the pods have no resource claims."""
        return self._with(resource_claims=[])

    def _with(self, **fields: object) -> Inventory:
        return self.editing(lambda spec: structs.replace(spec, **fields))(self.inventory)


def with_admin_access(inventory: Inventory, namespace: str) -> Inventory:
    """Return the input in which the namespace allows claims with admin access."""

    def labelled(of: Namespace) -> Namespace:
        if of.metadata.name != namespace:
            return of
        labels = {**(of.metadata.labels or {}), ADMIN_ACCESS: "true"}
        return structs.replace(of, metadata=structs.replace(of.metadata, labels=labels))

    return replace(inventory, namespaces=list(map(labelled, inventory.namespaces)))


def found(inventory: Inventory, owner: Owner) -> Pod | AnyWorkload | None:
    """Return the pod or workload in the input, or None if it is not there."""
    return next((each for each in (*inventory.pods, *inventory.workloads) if owner_of(each) == owner), None)


def edited(inventory: Inventory, keys: AbstractSet[Owner], edit: Callable[[Any], Any]) -> Inventory:
    """Return the input after some of its pods and workloads have been edited."""

    def one(of: Any) -> Any:
        return edit(of) if owner_of(of) in keys else of

    return replace(inventory, pods=list(map(one, inventory.pods)), workloads=list(map(one, inventory.workloads)))


def spec_of(owner: Pod | AnyWorkload | None) -> PodSpec | None:
    """Return the spec of the owner's pods, or None if its location is unknown."""
    if owner is None or isinstance(owner, CustomWorkload):
        return None
    return owner.spec if isinstance(owner, Pod) else pod_template(owner).spec


def _with_spec(owner: Any, edit: EditSpec) -> Any:
    """Return the owner with an edited pod spec."""
    if isinstance(owner, CustomWorkload):
        return owner
    if isinstance(owner, Pod):
        return structs.replace(owner, spec=edit(owner.spec))
    if isinstance(owner, CronJob):
        job = _with_spec(owner.spec.job_template, edit)
        return structs.replace(owner, spec=structs.replace(owner.spec, job_template=job))
    template = owner.spec.template
    template = structs.replace(template, spec=edit(template.spec))
    return structs.replace(owner, spec=structs.replace(owner.spec, template=template))


def with_containers(spec: PodSpec, edit: Callable[[Container], Container]) -> PodSpec:
    """Return the spec after each container and init container has been edited."""
    return structs.replace(spec, **{name: list(map(edit, getattr(spec, name))) for name in CONTAINER_LISTS.values()})


def _without_claims(spec: PodSpec, names: AbstractSet[str]) -> PodSpec:
    there = [
        entry
        for entry in spec.resource_claims
        if names.isdisjoint((entry.resource_claim_name, entry.resource_claim_template_name))
    ]
    return structs.replace(spec, resource_claims=there)


def departed(inventory: Inventory, pods: Collection[str]) -> Inventory:
    """Return the input without these pods and without what they held.

    Pods are given as NAMESPACE/NAME.
    """
    if not pods:
        return inventory
    from dra_plan.whatif.edits import depart  # most inputs have no such pods, and start-up time matters

    return depart(inventory, [pod for pod in inventory.pods if pod.key in pods]).inventory
