"""The parts of the scheduler that an input uses and that were not recorded with the release's own scheduler.

`releases.coverage` lists what was recorded for each release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.releases import SchedulerPart, Target

from .attempts import PodRecord

_VOLUMES = ("persistentVolumeClaim", "ephemeral")


class _Touched:
    """The pods for which an attempt was made, and the input around them."""

    def __init__(self, inventory: Inventory, records: Sequence[PodRecord]) -> None:
        self.inventory = inventory
        self.records = [record for record in records if record.attempts]
        self.pods = [record.pod for record in self.records]

    def any_pod(self, has: Callable[[Pod], object]) -> bool:
        """Return whether the condition is true for any of the pods."""
        return any(has(pod) for pod in self.pods)


_PARTS: Mapping[SchedulerPart, Callable[[_Touched], object]] = {
    SchedulerPart.POD_ORDER: lambda touched: len(touched.pods) > 1,
    SchedulerPart.NODE_CHOICE: lambda touched: touched.pods and len(touched.inventory.nodes) > 1,
    SchedulerPart.MESSAGES: lambda touched: any(record.message for record in touched.records),
    SchedulerPart.PREEMPTION: lambda touched: (
        len({pod.spec.priority or 0 for pod in touched.pods + touched.inventory.pods}) > 1
    ),
    SchedulerPart.SPREADING: lambda touched: touched.any_pod(
        lambda pod: (
            pod.spec.topology_spread_constraints
            or (pod.spec.affinity and (pod.spec.affinity.pod_affinity or pod.spec.affinity.pod_anti_affinity))
        )
    ),
    SchedulerPart.VOLUMES: lambda touched: touched.any_pod(
        lambda pod: any(volume.get(kind) for volume in pod.spec.volumes for kind in _VOLUMES)
    ),
    SchedulerPart.BINDING_CONDITIONS: lambda touched: any(
        device.binding_conditions for slice_ in touched.inventory.slices for device in slice_.spec.devices
    ),
}
"""The parts of the scheduler, each with a test of whether an input uses it."""


def of_scheduler(target: Target, inventory: Inventory, records: Sequence[PodRecord]) -> list[Notice]:
    """Return a notice about rules that affected the result but were not recorded for this release."""
    known = target.coverage
    if not known.scheduler:
        return []
    asked = _Touched(inventory, records)
    touched = [part for part, is_touched in _PARTS.items() if is_touched(asked)]
    if not touched:
        return []
    changed = [part for part in touched if part in known.changed]
    others = f"; {target.version} changes {_listed(changed)}" if changed else ""
    text = (
        f"dra-plan has recorded kube-scheduler {known.scheduler}, not {target.release}, and uses its rules for"
        f" {_listed(touched)}{others} (docs/releases.md)"
    )
    return [Notice("rules-of-another-release", text)]


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
