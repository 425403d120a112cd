"""The effects of quotas and limits on pods that a command creates one after another, with their claims.

This module is for new pods that no simulation of controllers creates. In a cluster, chance decides which of a
workload's pods are created first, but not how many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from dra_plan.api.core import Pod, PodStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.storage import PersistentVolumeClaim
from dra_plan.api.workloads import Workload
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_new
from dra_plan.claims.pod_claims import is_unmade, make_claim
from dra_plan.documents.refusals import CLAIM_REFUSED, REFUSED
from dra_plan.scheduler.admission import ARRIVAL, NAME
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.pod_volumes import ephemeral_claim
from dra_plan.scheduler.runtime_classes import by_name, conflict

from .refused import RefusedOwner

if TYPE_CHECKING:
    from dra_plan.controllers.quota import QuotaLedger, Quotas
    from dra_plan.documents.refusals import OverQuota


class NotCreated(Struct, frozen=True):
    """A pod that was not created because the API server rejected it or one of its claims, with the message."""

    pod: Pod
    message: str
    claim: str = ""
    """The pod's entry for the rejected claim, or the name of the rejected claim on a volume."""
    reason: str = ""
    """The message without the pod's name, because most pods are named only when they are created."""
    over: tuple[OverQuota, ...] = ()
    """The exceeded quota amounts."""

    @property
    def why(self) -> str:
        """The exceeded quota amounts as text or, if there are none, the API server's message."""
        from dra_plan.controllers.over_quota import in_words

        what = CLAIM_REFUSED if self.claim else REFUSED
        return f"{what}: {in_words(self.over, self.pod.metadata.namespace) if self.over else self.message}"

    @property
    def record(self) -> PodRecord:
        """The pod as a record of the simulation."""
        return PodRecord(self.pod, message=self.message, refused=True)

    def as_refused(self) -> RefusedOwner:
        """Return the rejection as a finding, in the form of `validate`'s findings."""
        from dra_plan.validation.quotas import BEYOND_QUOTA
        from dra_plan.validation.rule import Finding

        name = f"Pod {self.pod.metadata.namespace}/{self.pod.metadata.name}"
        return RefusedOwner.of(self.pod, (Finding(BEYOND_QUOTA, self.message, object=name),))


def has_quotas(inventory: Inventory) -> bool:
    """Return whether the input has quotas or limit ranges. If so, simulations start without the new objects."""
    return bool(inventory.quotas or inventory.limit_ranges)


def as_created(inventory: Inventory, order: str = ARRIVAL) -> tuple[Inventory, list[NotCreated]]:
    """Return the cluster after the API server has created the new pods, and the pods that it rejected.

    The pods are in the order of their creation. Pods evicted by a drain or a restart count as new, because controllers
    create them again.
    """
    if not (has_quotas(inventory) or inventory.runtime_classes):
        return inventory, []
    from dra_plan.controllers.quota import Quotas

    new = [pod for pod in inventory.pods if is_new(inventory, pod)]
    refused = not_created(inventory, sorted(new, key=_name) if order == NAME else new, claims=False)
    if not new:
        return inventory, []
    quotas, gone, made = Quotas(inventory), {id(each.pod) for each in refused}, set(map(id, new))
    kept = (pod for pod in inventory.pods if id(pod) not in gone)
    return replace(inventory, pods=[quotas.limited(pod) if id(pod) in made else pod for pod in kept]), refused


def _name(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name


def not_created(inventory: Inventory, pods: Sequence[Pod], *, claims: bool = True) -> list[NotCreated]:
    """Return the pods that quotas and limit ranges reject, or whose RuntimeClass requires other nodes than they do.

    Existing objects are charged first. Then the new pods are created in the given order and, if `claims` is set, their
    claims after them.
    """
    if not (has_quotas(inventory) or inventory.runtime_classes):
        return []
    from dra_plan.controllers.quota import QuotaLedger, Quotas, without_name

    quotas = Quotas(inventory)
    there = {pod.key for pod in inventory.pods if not is_new(inventory, pod)}
    created = {pod.key for pod in pods} - there
    made: list[Pod | ResourceClaim] = []
    quotas.watch(lambda: inventory.classes, lambda namespace: _charged(inventory, namespace, created, made))
    ledger, runtimes = QuotaLedger(quotas), by_name(inventory.runtime_classes)
    found, taken = [], []
    for pod in pods:
        limited = quotas.limited(pod)
        said = (conflict(pod, runtimes) or ledger.refuses(limited)) if pod.key in created else ""
        if said:
            found.append(
                NotCreated(pod, said, reason=without_name(pod, said), over=tuple(quotas.exceeded.get(said, ())))
            )
        else:
            taken.append(pod)
            made += [limited] if pod.key in created else []
    return [*found, *_without_claims(inventory, taken, ledger, quotas, made)] if claims else found


def _volume_claims(index: Index, pod: Pod) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims on volumes that are created for the pod by its StatefulSet, and for its ephemeral volumes."""
    of, name, namespace = index.controllers.of(pod.metadata), pod.metadata.name, pod.metadata.namespace
    templates = of.spec.volume_claim_templates if isinstance(of, Workload) and of.kind == "StatefulSet" else []
    for each in templates:
        metadata = ObjectMeta(name=f"{each.metadata.name}-{name}", namespace=namespace)
        yield PersistentVolumeClaim(metadata=metadata, spec=each.spec)
    for volume in pod.spec.volumes:
        made = ephemeral_claim(volume)
        if made is not None:
            metadata = ObjectMeta(name=f"{name}-{volume.get('name', '')}", namespace=namespace)
            yield PersistentVolumeClaim(metadata=metadata, spec=made)


def _without_volumes(
    inventory: Inventory, index: Index, pod: Pod, ledger: QuotaLedger, quotas: Quotas
) -> Iterator[NotCreated]:
    there = {claim.key for claim in inventory.volume_claims}
    for claim in _volume_claims(index, pod):
        if claim.key not in there and (said := ledger.refuses(claim)):
            yield NotCreated(pod, said, claim.metadata.name, over=tuple(quotas.exceeded.get(said, ())))


def _without_claims(
    inventory: Inventory,
    pods: Iterable[Pod],
    ledger: QuotaLedger,
    quotas: Quotas,
    made: list[Pod | ResourceClaim],
) -> Iterator[NotCreated]:
    """Yield the pods whose claims are rejected; a pod's first claim that fails stops the rest.

    The other claims are added to `made`.
    """
    from dra_plan.controllers.settle import claim_failure

    index, given = Index(inventory), {pod.key: pod for pod in inventory.pods}
    for pod in pods:
        lacking = next(_without_volumes(inventory, index, pod, ledger, quotas), None)
        if lacking is not None:
            yield lacking
            continue
        as_given = given.get(pod.key) or structs.replace(pod, status=PodStatus())
        for entry in pod.spec.resource_claims:
            template = index.template(pod.metadata.namespace, entry.resource_claim_template_name or "")
            is_made = not is_unmade(as_given, entry) or index.generated_claims.of(as_given, entry.name) is not None
            if template is None or is_made:
                continue
            claim = make_claim(template, pod, entry.name)
            said = ledger.refuses(claim)
            if not said:
                made.append(claim)
            else:
                over = tuple(quotas.exceeded.get(said, ()))
                yield NotCreated(pod, claim_failure(entry.name, said), entry.name, over=over)
                break


def _charged(
    inventory: Inventory, namespace: str, created: Set[str], made: Sequence[Pod | ResourceClaim]
) -> Iterator[object]:
    """Yield the objects in a namespace that exist before anything is created, and those that were `made` since."""
    from dra_plan.controllers.quota import CHARGED

    for holder in CHARGED:
        for each in getattr(inventory, holder):
            if each.metadata.namespace == namespace and not (holder == "pods" and each.key in created):
                yield each
    yield from (each for each in made if each.metadata.namespace == namespace)
