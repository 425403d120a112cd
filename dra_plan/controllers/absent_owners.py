"""The actions of controllers whose object is not in the input, such as a ReplicaSet missing from a dump of its pods.

Such a controller is assumed to want as many pods as it had at the start. It creates each pod like the one that it
replaces. A missing claim template is derived from one of its claims, since the spec of a claim is immutable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaimTemplate, ResourceClaimTemplateSpec
from dra_plan.claims.index import Index
from dra_plan.claims.owners import counts_for, deployment_of
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.whatif.edits import belongs_to_node

from .state import AbsentOwner, ClusterState, CreatePod
from .workloads import JOB_BACKOFF_SECONDS

_NAMED_AT_RANDOM = ("ReplicaSet", "ReplicationController", "Job")
"""Controllers whose pods get a new name each time; pods of other controllers keep theirs."""

OwnerKey = tuple[str, str, str]
"""The kind, namespace and name of a controller."""


def absent_owners(inventory: Inventory) -> list[AbsentOwner]:
    """Return the controllers that recreate pods in the input but are not in it, in the order of the pods.

    Owners of static pods and of DaemonSet pods are left out, because nothing recreates such pods on another node.
    """
    index = Index(inventory)
    found: dict[OwnerKey, list[Pod]] = defaultdict(list)
    for pod in inventory.pods:
        owner = pod.metadata.controller
        if owner is None or belongs_to_node(pod) or index.is_controlled(pod.metadata):
            continue
        if counts_for(pod, owner.kind):
            found[_key(pod.metadata)].append(pod)
    return [AbsentOwner(kind, name, tuple(pods)) for (kind, _, name), pods in found.items()]


def _key(metadata: ObjectMeta) -> OwnerKey:
    owner = metadata.controller
    assert owner is not None
    return owner.kind, metadata.namespace, owner.name


def step(state: ClusterState) -> Iterator[CreatePod]:
    """Yield the pods that the absent controllers recreate."""
    if not state.absent_owners:
        return
    living: dict[OwnerKey, list[Pod]] = defaultdict(list)
    for pod in state.inventory.pods:
        if pod.metadata.controller is not None:
            living[_key(pod.metadata)].append(pod)
    for owner in state.absent_owners:
        yield from _lacking(state, owner, living.get(_key(owner.pods[0].metadata), ()))


def _lacking(state: ClusterState, owner: AbsentOwner, pods: Sequence[Pod]) -> Iterator[CreatePod]:
    """Yield the missing pods, which are like the pods at the start that are gone."""
    staying = [pod for pod in pods if counts_for(pod, owner.kind) or pod.status.phase == "Succeeded"]
    number = len(owner.pods) - len(staying)
    if number <= 0:
        return
    at_random = owner.kind in _NAMED_AT_RANDOM
    uids, names = {pod_uid(pod) for pod in staying}, {pod.metadata.name for pod in pods}
    gone = [pod for pod in owner.pods if (pod_uid(pod) not in uids if at_random else pod.metadata.name not in names)]
    taken = names | {each.pod.metadata.name for each in state.ended}
    for pod in gone[:number]:
        name = _free_name(deployment_of(pod.metadata) or owner.name, taken) if at_random else pod.metadata.name
        taken.add(name)
        yield CreatePod(_made_again(pod, name), (owner.kind, owner.name), _due(state, owner))


def _made_again(pod: Pod, name: str) -> Pod:
    metadata = ObjectMeta(
        name=name,
        namespace=pod.metadata.namespace,
        labels=pod.metadata.labels,
        annotations=pod.metadata.annotations,
        owner_references=pod.metadata.owner_references,
    )
    return Pod(metadata=metadata, spec=replace(pod.spec, node_name=""))


def _free_name(prefix: str, taken: set[str]) -> str:
    number = 0
    while f"{prefix}-{number}" in taken:
        number += 1
    return f"{prefix}-{number}"


def _due(state: ClusterState, owner: AbsentOwner) -> float:
    """Return the time at which the pod is created; a Job delays the replacement of a failed pod.

    The number of earlier failures is unknown.
    """
    if owner.kind != "Job":
        return 0.0
    key = _key(owner.pods[0].metadata)
    own = [each.moment for each in state.ended if each.pod.metadata.controller and _key(each.pod.metadata) == key]
    return max(own, default=0.0) + JOB_BACKOFF_SECONDS if own else 0.0


# -- claim templates ---------------------------------------------------------------------------------------------------


def unlisted_templates(inventory: Inventory) -> Mapping[tuple[str, str], ResourceClaimTemplate]:
    """Return the claim templates that are missing from the input although its pods have claims from them.

    The keys are the namespace and name. The content of a template is that of a claim created from it.
    """
    index = Index(inventory)
    found: dict[tuple[str, str], ResourceClaimTemplate] = {}
    for pod in inventory.pods:
        if pod.metadata.controller is None:
            continue
        for entry in pod.spec.resource_claims:
            name = entry.resource_claim_template_name
            key = (pod.metadata.namespace, name or "")
            if name is None or key in found or index.template(*key) is not None:
                continue
            claim = index.generated_claims.of(pod, entry.name)
            if claim is not None:
                spec = ResourceClaimTemplateSpec(metadata=ObjectMeta(labels=claim.metadata.labels), spec=claim.spec)
                metadata = ObjectMeta(namespace=key[0], name=name)
                found[key] = ResourceClaimTemplate(metadata=metadata, spec=spec)
    return found
