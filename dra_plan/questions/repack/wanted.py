"""The goal of `repack` as pending pods: an owner's pods, copies of them, or placeholders that request whole devices."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.core import Container, Pod, PodResourceClaim, PodSpec, PodStatus, Toleration
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta, QuantityText
from dra_plan.api.quantity import parse
from dra_plan.api.resource import (
    CapacityRequirements,
    CELDeviceSelector,
    Device,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_waiting
from dra_plan.errors import UsageError
from dra_plan.near import nearest
from dra_plan.planner.pools import MODEL_ATTRIBUTES
from dra_plan.planner.waves import PodKey, pod_key
from dra_plan.questions.capacity.answer import Copied, choose_copied
from dra_plan.questions.repack.document import AskedRoom
from dra_plan.scheduler.refusals import copy_of

MOST_ROOMS = 1_000
"""The maximum number of wanted pods."""

ROOM = "dra-plan-room"
"""The name of the placeholder pods that request the devices to be freed."""


@dataclass(frozen=True)
class RoomAsked:
    """The cluster with the wanted pods, and their keys in order.

    `made` are the placeholders and copies among them, which do not exist in the real cluster.
    """

    inventory: Inventory
    asked: AskedRoom
    said: str
    pods: tuple[PodKey, ...]
    made: frozenset[PodKey] = frozenset()

    @property
    def most(self) -> bool:
        """Return whether the goal is to place as many pods as possible."""
        return self.asked == "Most"


class FreeDevices(NamedTuple):
    """How many devices of a model must be free on a node, and on how many nodes."""

    devices: int
    model: str
    nodes: int

    @classmethod
    def parse(cls, text: str) -> FreeDevices:
        """Parse NxMODEL or NxMODEL=K. Raises UsageError for any other form."""
        found = re.fullmatch(r"([1-9]\d{0,3})x(.+?)(?:=([1-9]\d{0,3}))?", text)
        if found is None:
            raise UsageError(f"--free {text!r} is not NxMODEL=K, as in 8xH100=3: 8 free devices on a node, 3 times")
        return cls(int(found[1]), found[2], _number(found[3] or "1", text))


def _number(digits: str, text: str) -> int:
    if int(digits) > MOST_ROOMS:
        raise UsageError(f"{text}: room for more than {MOST_ROOMS:,} is not searched for")
    return int(digits)


def free_room(inventory: Inventory, text: str) -> RoomAsked:
    """Return a goal with placeholder pods for the devices to be freed.

    Raises UsageError for a model that no device has.
    """
    asked = FreeDevices.parse(text)
    expression, amounts = _devices(inventory, asked.model)
    device_class = DeviceClass(metadata=ObjectMeta(name=ROOM))
    exact = ExactDeviceRequest(
        device_class_name=ROOM,
        selectors=[DeviceSelector(cel=CELDeviceSelector(expression=expression))],
        allocation_mode="ExactCount",
        count=asked.devices,
        capacity=CapacityRequirements(requests=amounts) if amounts else None,
    )
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=[DeviceRequest(name="free", exactly=exact)]))
    tolerations = list(_tolerations(inventory))
    claims, pods = [], []
    for number in range(1, asked.nodes + 1):
        metadata = ObjectMeta(name=f"{ROOM}-{number}", namespace=ROOM, uid=f"{ROOM}-{number}")
        claims.append(ResourceClaim(metadata=structs.replace(metadata, uid=f"claim:{metadata.uid}"), spec=spec))
        pod_spec = PodSpec(
            containers=[Container(name="room")],
            resource_claims=[PodResourceClaim(name="free", resource_claim_name=metadata.name)],
            tolerations=tolerations,
            preemption_policy="Never",
            priority=0,
        )
        pods.append(Pod(metadata=metadata, spec=pod_spec, status=PodStatus(phase="Pending")))
    made = tuple(map(pod_key, pods))
    with_room = replace(
        inventory,
        pods=[*inventory.pods, *pods],
        claims=[*inventory.claims, *claims],
        classes=[*inventory.classes, device_class],
    )
    return RoomAsked(with_room, "Free", text, made, frozenset(made))


def _devices(inventory: Inventory, model: str) -> tuple[str, dict[str, QuantityText]]:
    """Return the selector for the devices of a model, and the total of each capacity of shareable ones."""
    named: dict[tuple[str, str], None] = {}
    shared: dict[str, QuantityText] = {}
    known: set[str] = set()
    for each in inventory.slices:
        driver = each.spec.driver
        for device in each.spec.devices:
            attribute = next((name for name in MODEL_ATTRIBUTES if _text(device, driver, name)), "")
            value = _text(device, driver, attribute) if attribute else ""
            known.add(value)
            if value == model:
                named[driver, attribute] = None
                _take_whole(device, shared)
    if not named:
        near = nearest(model, sorted(known - {""}))
        raise UsageError(f"--free: no device has the model {model!r}" + (f" (did you mean {near!r}?)" if near else ""))
    return " || ".join(_selecting(driver, attribute, model) for driver, attribute in named), shared


def _text(device: Device, driver: str, name: str) -> str:
    found = device.attributes.get(name) or device.attributes.get(f"{driver}/{name}")
    return (found.string_value or "") if found is not None else ""


def _selecting(driver: str, attribute: str, model: str) -> str:
    quoted = [part.replace("\\", "\\\\").replace('"', '\\"') for part in (driver, model)]
    return f'(device.driver == "{quoted[0]}" && device.attributes["{quoted[0]}"].{attribute} == "{quoted[1]}")'


def _take_whole(device: Device, shared: dict[str, QuantityText]) -> None:
    """Request the total of each capacity, so that no other claim can share the device."""
    if not device.allow_multiple_allocations:
        return
    for name, capacity in device.capacity.items():
        if capacity.request_policy is not None and (
            name not in shared or parse(shared[name]).nano < parse(capacity.value).nano
        ):
            shared[name] = capacity.value


def _tolerations(inventory: Inventory) -> Iterator[Toleration]:
    """Yield tolerations of all taints except those that make a node unavailable to all pods."""
    keys = {taint.key for node in inventory.nodes for taint in node.spec.taints}
    for key in sorted(keys):
        if not key.startswith("node.kubernetes.io/"):
            yield Toleration(key=key, operator="Exists")


def owners_room(inventory: Inventory, text: str, namespace: str | None) -> RoomAsked:
    """Return the goal of making room for an owner's pods: its pending pods, followed by copies.

    Raises UsageError for an unknown owner, and for an owner without pending pods if no number is given.
    """
    name, equals, digits = text.partition("=")
    if equals and not re.fullmatch(r"[1-9]\d{0,3}", digits):
        raise UsageError(f"--for {text!r} is not OWNER=N, as in deploy/serve=5: room for 5 pods of it")
    chosen = choose_copied(inventory, [name], namespace)
    if len(chosen) != 1:
        raise UsageError(f"--for {name!r} means {len(chosen)} owners: name one, with its namespace")
    waiting = [pod_key(pod) for pod in _pods_of(inventory, chosen[0]) if is_waiting(pod)]
    number = _number(digits, text) if digits else max(1, len(waiting))
    taken = {pod_key(pod) for pod in inventory.pods}
    copies = list(_copies(chosen[0].pod, number - len(waiting), taken))
    made = [pod_key(pod) for pod in copies]
    with_copies = replace(inventory, pods=[*inventory.pods, *copies])
    return RoomAsked(with_copies, "For", text, (*waiting[:number], *made), frozenset(made))


def _pods_of(inventory: Inventory, owner: Copied) -> list[Pod]:
    return [owner.pod] if owner.workload is None else Index(inventory).pods_of(owner.workload)


def _copies(template: Pod, number: int, taken: Collection[PodKey]) -> Iterator[Pod]:
    names = (copy_of(template, position) for position in range(number + len(taken)))
    free = (pod for pod in names if pod_key(pod) not in taken)
    for pod, _ in zip(free, range(number), strict=False):
        # a copy has no controller, so it does not count for the pod's controller
        yield structs.replace(pod, metadata=structs.replace(pod.metadata, owner_references=[]))


def room_for_all(inventory: Inventory, namespace: str | None) -> RoomAsked:
    """Return the goal of placing as many pending pods as possible."""
    waiting = [
        pod_key(pod) for pod in inventory.pods if is_waiting(pod) and namespace in (None, pod.metadata.namespace)
    ]
    return RoomAsked(inventory, "Most", "pods that wait", tuple(waiting[:MOST_ROOMS]))
