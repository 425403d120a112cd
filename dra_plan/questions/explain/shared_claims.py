"""`explain`: claims that several pods share, and a separate claim for each pod instead.

A ResourceClaim in a pod template (`resourceClaimName`) is one claim for all pods, which share its devices and must run
on nodes that can access them. Most users want a ResourceClaimTemplate instead. A template also helps a pod whose claim
is bound to a node that the pod cannot use, because of other pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from dra_plan.api.core import Pod, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.workloads import AnyWorkload, CronJob, CustomWorkload
from dra_plan.claims.index import Index
from dra_plan.claims.owners import controller_names, ended, wanted
from dra_plan.claims.sets import Owner, is_in_reach
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.cluster_changes import ClaimTemplated
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.documents.stories import SharedClaim
from dra_plan.documents.verdict_parts import FullClaim
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.questions.explain.claim_templates import created, new_template, same_template
from dra_plan.questions.explain.editing import OwnedPods, Remedy, found, spec_of
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.dra.binding import MOST_CONSUMERS


def shared_claims(index: Index, owner: Owner, *, would_bind: bool = False) -> list[SharedClaim]:
    """Return the claims that the owner's pods share with other pods of the same controller.

    The claims already have devices or, if `would_bind` is set because some of the pods would be bound, get devices
    then.
    """
    asked = found(index.inventory, owner)
    spec = spec_of(asked)
    if asked is None or spec is None or not any(entry.resource_claim_name for entry in spec.resource_claims):
        return []
    by = _controller(index, asked)
    if by is None:
        return []
    made = []
    for name in dict.fromkeys(entry.resource_claim_name for entry in spec.resource_claims):
        claim = index.claim(owner.namespace, name) if name else None
        if claim is not None and (claim.allocation is not None or would_bind) and (pods := _pods(index, by, claim)) > 1:
            made.append(
                SharedClaim(claim=claim.metadata.name, by=by, pods=pods, node=_only_node(index.inventory, claim))
            )
    return made


def full_claims(inventory: Inventory, pod: Pod, claims: Iterable[ResourceClaim]) -> list[FullClaim]:
    """Return the pod's claims that cannot be reserved for more pods after others have been scheduled.

    `claims` are the claims at the end of the run.
    """
    named = {entry.resource_claim_name for entry in pod.spec.resource_claims}
    if pod.spec.scheduling_group is not None:
        return []  # claims may be reserved for the group
    now = {claim.key: len(claim.reserved_for) for claim in inventory.claims}
    return [
        FullClaim(claim=claim.metadata.name, pods=now.get(claim.key, 0), most=MOST_CONSUMERS)
        for claim in claims
        if claim.metadata.namespace == pod.metadata.namespace
        and claim.metadata.name in named
        and len(users := claim.reserved_for) >= MOST_CONSUMERS
        and pod_uid(pod) not in {user.uid for user in users}
    ]


def _controller(index: Index, asked: Pod | AnyWorkload) -> ObjectName | None:
    """Return the topmost controller that creates the pods, or its name if it is not in the input."""
    above = [*([] if isinstance(asked, Pod) else [asked]), *index.controllers.above(asked.metadata)]
    workloads = [one for one in above if not isinstance(one, Pod | CronJob | CustomWorkload)]
    names = [(one.kind, one.metadata.name) for one in workloads] or controller_names(asked.metadata)
    if not names:
        return None
    kind, name = names[-1]
    return ObjectName(kind=kind, namespace=asked.metadata.namespace, name=name)


def _pods(index: Index, by: ObjectName, claim: ResourceClaim) -> int:
    """Return the number of pods that the controller wants, or that exist and name the claim, if these are more."""
    owner = Owner(by.kind, by.namespace, by.name)
    workload = found(index.inventory, owner)
    number = 0
    if workload is not None and not isinstance(workload, Pod):
        number = wanted(workload, [pod for pod in index.pods_of(workload) if _stays(pod)]).number
    same = [
        pod
        for pod in index.inventory.pods
        if pod.metadata.namespace == by.namespace
        and _stays(pod)
        and any(entry.resource_claim_name == claim.metadata.name for entry in pod.spec.resource_claims)
        and _controller(index, pod) == by
    ]
    return max(number, len(same))


def _stays(pod: Pod) -> bool:
    return not ended(pod) and not pod.metadata.deletion_timestamp


def _only_node(inventory: Inventory, claim: ResourceClaim) -> str:
    nodes = [one.metadata for one in inventory.nodes]
    near = [one.name for one in nodes if is_in_reach(claim, one.name, one.labels)]
    return near[0] if len(near) == 1 and len(nodes) > 1 else ""


def claim_per_pod(inventory: Inventory, pods: OwnedPods, verdict: OwnerVerdict) -> Iterator[Remedy]:
    """Yield changes with a template for each claim that the verdict names as shared.

    After such a change, the pods name the template instead of the claim.
    """
    if not verdict.shared_claims:
        return
    claims = {one.metadata.name: one for one in inventory.claims if one.metadata.namespace == verdict.namespace}
    yield from (_templated(inventory, pods, claims[shared.claim]) for shared in verdict.shared_claims)


def own_claim(inventory: Inventory, pods: OwnedPods, verdict: OwnerVerdict, one: NodeObstacle) -> Iterator[Remedy]:
    """Yield a change that replaces a claim by a template, if others use the claim and its devices are elsewhere."""
    if one.devices is None or one.devices.code != "claim-elsewhere" or pods.spec is None:
        return
    namespace, shared = verdict.namespace, {each.claim for each in verdict.shared_claims}
    named = {entry.resource_claim_name for entry in pods.spec.resource_claims} - shared
    own = {verdict.name, *(waiting.name for waiting in pods.waiting)}
    for claim in inventory.claims:
        name = claim.metadata.name
        if claim.metadata.namespace != namespace or name not in named or name != one.devices.name:
            continue
        kept_by = [user.name for user in claim.reserved_for if user.name not in own]
        if claim.allocation is not None and kept_by:
            yield _templated(inventory, pods, claim, kept_by, _only_node(inventory, claim))


def _templated(
    inventory: Inventory, pods: OwnedPods, claim: ResourceClaim, kept_by: Sequence[str] = (), on: str = ""
) -> Remedy:
    """Return the change of the pods to a template with the spec of the claim: an existing one, or a new one."""
    namespace, name = claim.metadata.namespace, claim.metadata.name
    known = same_template(inventory, namespace, claim.spec)
    template = known or new_template(inventory, namespace, name, claim.spec, end="-of-each-pod")
    told = ClaimTemplated(
        code="use-claim-template",
        shared=ClaimName(namespace=namespace, name=name),
        template=template.metadata.name,
        exists=known is not None,
        kept_by=list(kept_by),
        on=on,
    )
    edit = _templating(pods, name, template.metadata.name)
    if known is not None:
        return Remedy((told,), edit, fixed=True)
    made = (created(template),)
    return Remedy((told,), lambda of: edit(replace(of, templates=[*of.templates, template])), fixed=True, patches=made)


def _templating(pods: OwnedPods, claim: str, template: str) -> Callable[[Inventory], Inventory]:
    def edited(spec: PodSpec) -> PodSpec:
        entries = [
            structs.replace(entry, resource_claim_name=None, resource_claim_template_name=template)
            if entry.resource_claim_name == claim
            else entry
            for entry in spec.resource_claims
        ]
        return structs.replace(spec, resource_claims=entries)

    return pods.editing(edited)
