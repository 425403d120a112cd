"""`explain`: changes that help if a node has too little of a resource, or none of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import DeviceClass
from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.documents.cluster_changes import ResourceLowered, ResourceRenamed, ResourceServed
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.near import misspelt
from dra_plan.questions.explain.claimed_resources import by_claims
from dra_plan.questions.explain.editing import OwnedPods, Remedy
from dra_plan.questions.explain.peaks import asked_of, containers_ask, overhead_of, peak, pod_level
from dra_plan.questions.explain.spec_edits import asking_for_other, lowering
from dra_plan.questions.explain.vendors import classes_for, same_family
from dra_plan.scheduler.cluster.pod_requests import amount_text, amounts

MOST_RENAMED = 2
"""The maximum number of other resources of the same family that are suggested."""

MOST_CLASSES = 2
"""The maximum number of device classes that are suggested for a resource."""

_WORDS = re.compile(r"[^\W_]+")

_LEAST_CPU, _LEAST = Fraction(1, 4), Fraction(1, 3)
"""The shares to which requests for cpu, and for anything else, may be lowered: a pod with less cpu is only slower."""

_ROUND = 1 << 20
"""A mebibyte: the smallest unit for requests of memory and ephemeral storage."""


class ResourceRemedies:
    """A search for changes to what the pods of one owner request."""

    def __init__(self, inventory: Inventory, pods: OwnedPods) -> None:
        self._inventory, self._pods = inventory, pods

    def of(self, one: NodeObstacle) -> Iterator[Remedy]:
        """Yield other resources to request, and a request lowered to the free amount if little is missing."""
        if one.room == "0" and one.resource.startswith(IMPLICIT_PREFIX):
            yield from self._of_other_class(one.resource)  # only the class with this name serves it
        elif one.room == "0" and "/" in one.resource:
            yield from self._renamed(one.resource)
            yield from by_claims(self._inventory, self._pods, one.resource)
            yield from self._served(one.resource)
        spec, own = self._pods.spec_as_created, self._pods.spec
        if spec is None or own is None or not one.left:
            return
        need, left = amounts({one.resource: one.need})[one.resource], amounts({one.resource: one.left})[one.resource]
        whole = pod_level(spec, one.resource)
        asking = (
            [("", whole)]
            if whole is not None
            else [(container.name, asked_of(container, one.resource)) for container in peak(spec, one.resource)]
        )
        known = sum(each for _, each in asking) + overhead_of(spec, one.resource) == need
        if not asking or not known or left < (_LEAST_CPU if one.resource == "cpu" else _LEAST) * need:
            return
        name, most = max(asking, key=lambda each: each[1])
        to = most - (need - left)
        to -= to % (_ROUND if to > _ROUND and one.resource in ("memory", "ephemeral-storage") else 1)
        if to <= 0 or (whole is not None and to < containers_ask(spec, one.resource)):
            return
        text = amount_text(one.resource, to)
        if lowering(own, name, one.resource, text) == own:
            return  # a webhook added the container to the pod
        told = ResourceLowered(
            code="lower-request", container=name, resource=one.resource, from_=amount_text(one.resource, most), to=text
        )
        yield from self._pods.changed(told, lambda spec: lowering(spec, name, one.resource, text), fixed=True)

    def _renamed(self, resource: str) -> Iterator[Remedy]:
        """Yield resources that a class serves or a node has: one with a similar name, or else others of its family."""
        names = {name for node in self._inventory.nodes for name, has in node.status.allocatable.items() if has != "0"}
        there = resource in names
        names |= {one.spec.extended_resource_name for one in self._inventory.classes if one.spec.extended_resource_name}
        near = misspelt(resource, names - {resource})
        others = [near] if near is not None else [] if there else same_family(resource, names)
        for other in others[:MOST_RENAMED]:
            told = ResourceRenamed(code="rename-resource", resource=resource, to=other)
            yield from self._pods.changed(told, partial(asking_for_other, resource=resource, other=other), fixed=True)

    def _of_other_class(self, resource: str) -> Iterator[Remedy]:
        """Yield the resources of existing classes whose names share words with that of a class that does not exist."""
        words = {*_WORDS.findall(resource.removeprefix(IMPLICIT_PREFIX))}
        names = sorted(one.metadata.name for one in self._inventory.classes)
        alike = {name: len(words.intersection(_WORDS.findall(name))) for name in names}
        for name in sorted(filter(alike.__getitem__, names), key=lambda each: -alike[each])[:MOST_CLASSES]:
            other = f"{IMPLICIT_PREFIX}{name}"
            told = ResourceRenamed(code="rename-resource", resource=resource, to=other)
            yield from self._pods.changed(told, partial(asking_for_other, resource=resource, other=other), fixed=True)

    def _served(self, resource: str) -> Iterator[Remedy]:
        """Yield device classes that serve no resource yet, and that are about devices of the same vendor."""
        free = [one for one in self._inventory.classes if not one.spec.extended_resource_name]
        for one in classes_for(resource, free)[:MOST_CLASSES]:
            told = ResourceServed(code="serve-resource", class_=one.metadata.name, resource=resource)
            yield Remedy((told,), _serving(one.metadata.name, resource))


def _serving(name: str, resource: str) -> Callable[[Inventory], Inventory]:
    def edited(of: DeviceClass) -> DeviceClass:
        return structs.replace(of, spec=structs.replace(of.spec, extended_resource_name=resource))

    return lambda of: replace(of, classes=[edited(one) if one.metadata.name == name else one for one in of.classes])
