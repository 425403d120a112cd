"""`explain`: devices for a pod that requests an extended resource of a device plugin, by a ResourceClaim instead.

A node whose devices a DRA driver publishes has no such resource, unless a device class serves it. The devices may be
free nevertheless: a pod gets them by a claim for a class of the same vendor (KEP-4381).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.allocator.reasons import AllocationError
from dra_plan.api.core import Container, Node, PodResourceClaim, PodSpec, ResourceClaimReference
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from dra_plan.documents.cluster_changes import ResourceClaimed
from dra_plan.documents.verdict_parts import ClaimableDevices
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.explanation.funnel import offer
from dra_plan.explanation.placement import Placements
from dra_plan.questions.explain.claim_templates import created, free_name, new_template, same_template
from dra_plan.questions.explain.editing import OwnedPods, Remedy, with_containers
from dra_plan.questions.explain.spec_edits import without_resource
from dra_plan.questions.explain.vendors import classes_for

MOST_CLASSES = 2
"""The number of device classes that a claim might name instead of a resource."""

MOST_NODES = 200
"""The number of nodes with slices whose free devices are counted."""


def claimable(inventory: Inventory, view: View, verdict: OwnerVerdict) -> list[ClaimableDevices]:
    """Return the free devices of classes that fit resources which nodes do not have, on these nodes."""
    lacking: dict[str, list[str]] = {}
    for group in verdict.nodes:
        for one in group.about:
            if one.kind == "Resource" and one.room == "0" and "/" in one.resource:
                lacking.setdefault(one.resource, []).extend(group.nodes)
    nodes = {node.metadata.name: node for node in inventory.nodes}
    publishing = {one.spec.node_name for one in inventory.slices}
    found = []
    for resource, names in lacking.items():
        there = [nodes[name] for name in sorted(names) if name in publishing]
        if len(there) <= MOST_NODES:
            classes = classes_for(resource, inventory.classes)[:MOST_CLASSES]
            found += [_free(view, resource, one.metadata.name, there) for one in classes]
    return [one for one in found if one.nodes]


def _free(view: View, resource: str, of_class: str, nodes: list[Node]) -> ClaimableDevices:
    """Return the devices of the class that nobody has on these nodes; their number, unless they are parts of others."""
    claim = ResourceClaim(metadata=ObjectMeta(name="r"), spec=_asking("r", of_class, 1))
    placements = Placements(view, [claim])
    having, number, in_parts = [], 0, False
    for node in nodes:
        try:
            [funnel] = offer(placements.on(node)).funnels
        except AllocationError:
            continue
        if funnel.left:
            having.append(node.metadata.name)
            number += len(funnel.left)
            in_parts = in_parts or any(each.device.consumes_counters for each in funnel.left)
    return ClaimableDevices(resource=resource, class_=of_class, devices=0 if in_parts else number, nodes=having)


def by_claims(inventory: Inventory, pods: OwnedPods, resource: str) -> Iterator[Remedy]:
    """Yield the change from a resource to a claim for each class, if only one of the pod's containers requests it."""
    spec, namespace = pods.spec, pods.object.metadata.namespace if pods.object is not None else ""
    asking = [one for one in spec.all_containers if _amount(one, resource)] if spec is not None else []
    if spec is None or len(asking) != 1:
        return
    [container] = asking
    name, number = resource.rpartition("/")[2].lower().replace(".", "-"), _amount(container, resource)
    entry = free_name(name, [one.name for one in spec.resource_claims])
    for of_class in classes_for(resource, inventory.classes)[:MOST_CLASSES]:
        asked = _asking(name, of_class.metadata.name, number)
        known = same_template(inventory, namespace, asked, any_name=True)
        template = known or new_template(inventory, namespace, f"{name}-{number}", asked)
        told = ResourceClaimed(
            code="claim-resource",
            resource=resource,
            amount=number,
            container=container.name,
            class_=of_class.metadata.name,
            entry=entry,
            namespace=namespace,
            template=template.metadata.name,
            exists=known is not None,
        )
        yield _remedy(pods, told, template)


def _remedy(pods: OwnedPods, told: ResourceClaimed, template: ResourceClaimTemplate) -> Remedy:
    edit = pods.editing(lambda spec: claiming(spec, told))
    if told.exists:
        return Remedy((told,), edit, fixed=True)
    made = (created(template),)
    return Remedy((told,), lambda of: edit(replace(of, templates=[*of.templates, template])), fixed=True, patches=made)


def claiming(spec: PodSpec, told: ResourceClaimed) -> PodSpec:
    """Return the spec in which the container has a claim from the template instead of the resource."""

    def edited(one: Container) -> Container:
        if one.name != told.container:
            return one
        claims = [*one.resources.claims, ResourceClaimReference(name=told.entry)]
        return structs.replace(one, resources=structs.replace(one.resources, claims=claims))

    without = without_resource(spec, told.resource, [told.container])
    entry = PodResourceClaim(name=told.entry, resource_claim_template_name=told.template)
    return with_containers(structs.replace(without, resource_claims=[*spec.resource_claims, entry]), edited)


def _asking(name: str, of_class: str, number: int) -> ResourceClaimSpec:
    asked = ExactDeviceRequest(device_class_name=of_class, allocation_mode="ExactCount", count=number)
    return ResourceClaimSpec(devices=DeviceClaim(requests=[DeviceRequest(name=name, exactly=asked)]))


def _amount(of: Container, resource: str) -> int:
    """Return how many of the resource the container requests; 0 if the amount is no number of devices."""
    text = str(of.resources.requests.get(resource, of.resources.limits.get(resource, "0")))
    return int(text) if text.isascii() and text.isdecimal() else 0
