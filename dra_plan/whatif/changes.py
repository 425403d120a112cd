"""Edits of a single field: a node's labels, a workload's replicas, or a device's taints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from dra_plan.allocator import DeviceID
from dra_plan.api.go_text import label_key_problems, label_value_problems
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import Device, DeviceTaint, ResourceSlice
from dra_plan.api.workloads import CronJob, CustomWorkload, Job
from dra_plan.documents.base import AppliedEdit, AppliedObject
from dra_plan.errors import UsageError

from .edits import Edited, Without, node_named, unknown, with_node

EFFECTS = ("NoSchedule", "NoExecute", "None")
"""The effects of a device taint."""


def _applied(obj: Any, was: Any) -> AppliedEdit:
    metadata = obj.metadata
    change = "Unchanged" if obj == was else "Changed"
    written = AppliedObject(kind=obj.kind, namespace=metadata.namespace, name=metadata.name, change=change)
    return AppliedEdit(edit="Apply", applied=[written])


@dataclass(frozen=True)
class Label:
    """An edit that sets labels on a node. The value None removes a label, as `kubectl label node NODE KEY-` does."""

    node: str
    labels: Mapping[str, str | None]

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster with the labels set. Raises UsageError for an unknown node or an invalid label."""
        for key, value in self.labels.items():
            problems = [*label_key_problems(key), *label_value_problems(value or "")]
            if problems:
                raise UsageError(f"label {key}={value}: {problems[0]}")
        was = node_named(inventory, self.node)
        labels = {**(was.metadata.labels or {}), **self.labels}
        kept = {key: value for key, value in labels.items() if value is not None}
        node = structs.replace(was, metadata=structs.replace(was.metadata, labels=kept))
        return Edited(replace(inventory, nodes=with_node(inventory, node)), _applied(node, was))


@dataclass(frozen=True)
class Scale:
    """An edit that sets the replicas of the workload KIND/NAME or KIND/NAMESPACE/NAME, or the parallelism of a Job.

    Additional replicas become pending pods. If the number decreases, all running pods stay, because only the controller
    can choose which pods to delete.
    """

    workload: str
    replicas: int

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster with the workload scaled.

        Raises UsageError if the workload is unknown or cannot be scaled, or if the number is negative.
        """
        if self.replicas < 0:
            raise UsageError(f"replicas: {self.replicas} is not a number of pods: it must be at least 0")
        was = Without.parse(self.workload).target(inventory)
        spec: Any = getattr(was, "spec", None)
        if isinstance(was, CronJob | CustomWorkload) or was.kind == "DaemonSet" or was not in inventory.workloads:
            raise UsageError(f"{self.workload}: a {was.kind} has no replicas that can be set")
        field = "parallelism" if isinstance(was, Job) else "replicas"
        made = structs.replace(was, spec=structs.replace(spec, **{field: self.replicas}))
        workloads = [made if each is was else each for each in inventory.workloads]
        return Edited(replace(inventory, workloads=workloads), _applied(made, was))


@dataclass(frozen=True)
class TaintDevice:
    """An edit that adds a taint to a device, as if the driver had published it.

    The taint replaces an existing taint with the same key and effect.
    """

    device: DeviceID
    taint: DeviceTaint

    @classmethod
    def parse(cls, device: DeviceID, text: str) -> TaintDevice:
        """Parse KEY:EFFECT or KEY=VALUE:EFFECT. Raises UsageError for other forms."""
        told, _, effect = text.rpartition(":")
        key, _, value = told.partition("=")
        if not key or effect not in EFFECTS or label_key_problems(key) or label_value_problems(value):
            raise UsageError(f"{text!r} is not KEY=VALUE:EFFECT; the effect is one of {', '.join(EFFECTS)}")
        return cls(device, DeviceTaint(key=key, value=value, effect=effect))

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster with the taint in every slice that lists the device.

        Raises UsageError for an unknown device.
        """
        slices = [self._tainted(slice_) for slice_ in inventory.slices]
        changed = [(new, old) for new, old in zip(slices, inventory.slices, strict=True) if new is not old]
        if not changed:
            raise unknown("device", str(self.device), _names(inventory.slices))
        entries = [_applied(new, old).applied[0] for new, old in changed]
        return Edited(replace(inventory, slices=slices), AppliedEdit(edit="Apply", applied=entries))

    def _tainted(self, slice_: ResourceSlice) -> ResourceSlice:
        spec, wanted = slice_.spec, self.device
        if (spec.driver, spec.pool.name) != (wanted.driver, wanted.pool):
            return slice_
        if all(device.name != wanted.device for device in spec.devices):
            return slice_
        devices = [self._with(each) if each.name == wanted.device else each for each in spec.devices]
        return structs.replace(slice_, spec=structs.replace(spec, devices=devices))

    def _with(self, device: Device) -> Device:
        own = self.taint.key, self.taint.effect
        kept = [taint for taint in device.taints if (taint.key, taint.effect) != own]
        return structs.replace(device, taints=[*kept, self.taint])


def _names(slices: Sequence[ResourceSlice]) -> list[str]:
    return [
        f"{each.spec.driver}/{each.spec.pool.name}/{device.name}" for each in slices for device in each.spec.devices
    ]
