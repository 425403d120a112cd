"""Runs one allocator over objects given as dicts, with selectors that are simple enough to need no engine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from dra_plan import releases
from dra_plan.allocator import Allocator, NodeOutcome, Probe, View
from dra_plan.allocator.pruning_rules import USUAL, Pruning
from dra_plan.api.core import Node
from dra_plan.api.resource import Device, DeviceClass, ResourceClaim, ResourceSlice

from .random_searches import DRIVERS

KINDS = {"Node": Node, "DeviceClass": DeviceClass, "ResourceSlice": ResourceSlice, "ResourceClaim": ResourceClaim}


class Equals:
    """`driver=D`, or `ATTRIBUTE=V`, which fails on a device without the attribute as CEL does; `true`; `broken`."""

    reads: frozenset[tuple[str, str, str]] = frozenset([("driver", "", "")])

    def __init__(self, expression: str) -> None:
        if expression == "broken":
            raise ValueError("does not compile")
        self._name, _, self._value = expression.partition("=")
        domain, slash, identifier = self._name.partition("/")
        if slash:
            self.reads = frozenset([("attributes", domain, identifier)])
        elif self._name != "driver":
            self.reads = frozenset(("attributes", driver, self._name) for driver in DRIVERS)

    def matches(self, device: Device, driver: str) -> bool:
        if self._name == "true":
            return True
        if self._name == "driver":
            return driver == self._value
        attribute = device.attributes.get(self._name)
        if attribute is None:
            raise ValueError(f"no such key: {self._name}")
        value = attribute.string_value if attribute.string_value is not None else attribute.int_value
        return str(value) == self._value


class SimpleView(View):
    """A view whose selectors need no engine."""

    def compile(self, expression: str) -> Equals:
        return Equals(expression)


class Cluster(NamedTuple):
    """Objects by kind."""

    nodes: list[Node]
    classes: dict[str, DeviceClass]
    slices: list[ResourceSlice]
    claims: list[ResourceClaim]

    @classmethod
    def of(cls, objects: Sequence[dict[str, Any]]) -> Cluster:
        found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        for document in objects:
            found[document["kind"]].append(msgspec.convert(document, KINDS[document["kind"]]))
        classes = {device_class.metadata.name: device_class for device_class in found["DeviceClass"]}
        return cls(found["Node"], classes, found["ResourceSlice"], found["ResourceClaim"])


def allocator(
    cluster: Cluster, target: releases.Target, *, pruning: Pruning, max_steps: int, shares_answers: bool = False
) -> Allocator:
    pending = [claim for claim in cluster.claims if claim.status is None or claim.status.allocation is None]
    view = SimpleView(target, classes=cluster.classes, slices=cluster.slices, claims=cluster.claims)
    return Allocator(pending, view, max_steps=max_steps, pruning=pruning, shares_answers=shares_answers)


def answers(
    cluster: Cluster,
    target: releases.Target,
    *,
    pruning: Pruning = USUAL,
    max_steps: int = 5_000,
    probe: Probe | None = None,
    shares_answers: bool = False,
) -> list[NodeOutcome]:
    """The answers for all nodes, asked in order of one allocator."""
    asked = allocator(cluster, target, pruning=pruning, max_steps=max_steps, shares_answers=shares_answers)
    return [asked.allocate(node, probe) for node in cluster.nodes]


_ON = dict.fromkeys(
    ("DRAPartitionableDevices", "DRADeviceTaints", "DRAConsumableCapacity", "DRADeviceBindingConditions"), True
)
_LISTS = {"DRAListTypeAttributes": True}
TARGETS = {
    "upstream": releases.target("1.36.2"),
    "fixed": releases.target("1.36", quirks="fixed"),
    "1.36.3": releases.target("1.36.3"),
    "upstream, lists": releases.target("1.36.2", _LISTS),
    "fixed, lists": releases.target("1.36", _LISTS, quirks="fixed"),
    "1.37": releases.target("1.37"),
    "1.37 fixed": releases.target("1.37", quirks="fixed"),
    "1.35": releases.target("1.35", _ON),
    "1.35 fixed": releases.target("1.35", _ON, quirks="fixed"),
    "1.34": releases.target("1.34", _ON),
}
"""Both modes of defects, with and without lists, and every variant of the allocator that has all features."""


def some_defects(r: random.Random) -> releases.Target:
    """1.36.2 with some of its defects repaired, so that each is also met without the others."""
    target = TARGETS["upstream, lists"]
    return target.repaired(*[name for name in target.quirks.__struct_fields__ if r.random() < 0.4])
