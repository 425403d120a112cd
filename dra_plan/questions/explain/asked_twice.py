"""`explain`: changes to a pod whose requests for devices cannot all be met on one node.

The pod gives up one of its claims, or an extended resource that devices provide. A pod often has both by mistake: a
manifest written for a device plugin keeps the extended resource when it gets a claim. The requests that compete are
known from the obstacles on the nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.core import PodResourceClaim, PodSpec
from dra_plan.api.resource import DeviceRequest
from dra_plan.claims.index import Index
from dra_plan.documents.base import ClaimName, ServedResource
from dra_plan.documents.cluster_changes import ClaimDropped, ResourceDropped
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.documents.reasons import BlockingRequest
from dra_plan.questions.explain.editing import OwnedPods, Remedy
from dra_plan.questions.explain.spec_edits import without_claim, without_resource


class _Entry(NamedTuple):
    """A claim of the pod that competes, and its place in the pod's resourceClaims."""

    name: str
    claim: ClaimName


def without_one(index: Index, pods: OwnedPods, one: NodeObstacle) -> Iterator[Remedy]:
    """Yield changes that each give up one of the requests that cannot be met together on a node.

    A claim is given up only if all its requests compete, each with something else of the pod that asks for devices of
    the same kind: of the same driver or class.
    """
    spec = pods.spec_as_created
    asked = [each for each in one.together.elements if isinstance(each, BlockingRequest)] if one.together else []
    if spec is None or len(asked) < 2:
        return
    served = [each.serves for each in asked if each.serves is not None]
    entries = [*_entries(index, spec, asked)]
    for of in served:
        yield _without_resource(pods, spec, of, [entry.name for entry in entries])
    for entry in entries:
        yield _without_claim(pods, spec, entry, served)


def _entries(index: Index, spec: PodSpec, asked: Collection[BlockingRequest]) -> Iterator[_Entry]:
    """Yield the claims that may be given up; of those from one template, only the last."""
    competing = {(one.claim.namespace, one.claim.name): one for one in asked if one.serves is None}
    found: dict[tuple[str, str], _Entry] = {}
    for (_, name), one in competing.items():
        entry = next((each for each in spec.resource_claims if _is_of(each, one)), None)
        if entry is None:
            continue
        template = entry.resource_claim_template_name
        own = [each for each in asked if each.claim == one.claim]
        others = [_kinds(index, spec, each) for each in asked if each.claim != one.claim]
        is_whole = {each.request for each in own}.issuperset(each.name for each in _requests(index, spec, one))
        if is_whole and all(any(_kinds(index, spec, each) & kinds for kinds in others) for each in own):
            told = one.claim if template is None else structs.replace(one.claim, template=template)
            found[(template or "", "" if template else name)] = _Entry(entry.name, told)
    yield from found.values()


def _kinds(index: Index, spec: PodSpec, one: BlockingRequest) -> set[str]:
    """Return the drivers and classes of the devices that a request asks for."""
    found = {each.driver for each in one.left_devices or ()}
    if one.serves is not None:
        return found | {one.serves.class_}
    for each in _requests(index, spec, one):
        if each.name == one.request:
            options = [*([each.exactly] if each.exactly is not None else ()), *each.first_available]
            found |= {option.device_class_name for option in options}
    return found


def _requests(index: Index, spec: PodSpec, one: BlockingRequest) -> Sequence[DeviceRequest]:
    """Return the requests of the claim of a request, or of the template that it comes from."""
    entry = next((each for each in spec.resource_claims if _is_of(each, one)), None)
    template = entry.resource_claim_template_name if entry is not None else None
    made, from_ = index.claim(one.claim.namespace, one.claim.name), index.template(one.claim.namespace, template)
    whole = made.spec if made is not None else from_.spec.spec if from_ is not None else None
    return whole.devices.requests if whole is not None else ()


def _is_of(entry: PodResourceClaim, one: BlockingRequest) -> bool:
    return entry.name == one.entry or entry.resource_claim_name == one.claim.name


def _without_resource(pods: OwnedPods, spec: PodSpec, of: ServedResource, entries: Collection[str]) -> Remedy:
    """Return the removal of an extended resource from the containers that request it."""
    containers = [one for one in spec.all_containers if one.name in of.containers]
    told = ResourceDropped(
        code="drop-resource",
        resource=of.resource,
        amount=of.amount,
        containers=of.containers,
        class_=of.class_,
        uses_claim=all(any(each.name in entries for each in one.resources.claims) for one in containers),
    )
    edit = pods.editing(lambda spec: without_resource(spec, of.resource, of.containers))
    return Remedy((told,), edit, fixed=True)


def _without_claim(pods: OwnedPods, spec: PodSpec, entry: _Entry, served: Collection[ServedResource]) -> Remedy:
    """Return the removal of a claim from the pod and its containers."""
    users = {one.name for one in spec.all_containers if any(each.name == entry.name for each in one.resources.claims)}
    beside = next((one.resource for one in served if users and users.issubset(one.containers)), "")
    told = ClaimDropped(code="drop-claim", entry=entry.name, claim=entry.claim, beside=beside)
    return Remedy((told,), pods.editing(lambda spec: without_claim(spec, entry.name)), fixed=True)
