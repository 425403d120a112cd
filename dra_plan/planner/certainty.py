"""Which pods certainly fit on no node, even if objects are missing from the input.

Without any DeviceClasses, ResourceSlices or PersistentVolumeClaims in the input, it is unknown whether a pod that needs
one fits. It certainly does not fit if each node rejects it for another reason, which neither the missing objects nor
preemption could change. `schedule` and `explain` use the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import ended
from dra_plan.manifests.kinds import named
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.pod_volumes import pod_volumes
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import Diagnosis
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import CycleState
from dra_plan.scheduler.node_refusals import NodeRefusals, refusals_of
from dra_plan.scheduler.simulation import Simulation

from .nodes import deciding, lacking_volumes

_CLASS, _SLICE, _CLAIM = "DeviceClass", "ResourceSlice", "PersistentVolumeClaim"

OF_VOLUMES = frozenset(
    [
        plugin_names.VOLUME_BINDING,
        plugin_names.VOLUME_ZONE,
        plugin_names.VOLUME_RESTRICTIONS,
        plugin_names.NODE_VOLUME_LIMITS,
    ]
)
"""The plugins for volumes. Their rejections are uncertain if the input lacks volume objects."""

_UNRESOLVABLE = frozenset(
    [
        plugin_names.NODE_UNSCHEDULABLE,
        plugin_names.NODE_NAME,
        plugin_names.TAINT_TOLERATION,
        plugin_names.NODE_AFFINITY,
    ]
)
"""The plugins whose rejections do not depend on which pods leave the node."""

_UNKNOWN = OF_VOLUMES | {plugin_names.DYNAMIC_RESOURCES}


class Certainty:
    """The rejected pods that certainly fit on no node, even if the input is incomplete."""

    def __init__(self, inventory: Inventory, priority: Callable[[Pod], int]) -> None:
        self._inventory, self._priority = inventory, priority
        self._deciding = deciding(inventory)

    def missing(self, record: PodRecord) -> list[str]:
        """Return the kinds, named as in kubectl, that are missing from the input and could change the pod's rejection.

        PersistentVolumes and StorageClasses are included only if PersistentVolumeClaims are missing too.
        """
        pod = record.pod
        names = list(self._kinds) if pod.spec.resource_claims else []
        if _first_are(record.refusals, OF_VOLUMES) and _CLAIM in lacking_volumes(self._inventory, [pod]):
            names.append(_CLAIM)
            names += [] if self._inventory.volumes else ["PersistentVolume"]
            names += [] if self._inventory.storage_classes else ["StorageClass"]
        return _plurals(names)

    @property
    def lacking(self) -> list[str]:
        """The kinds, named as in kubectl, that every pod with claims needs and that are missing from the input."""
        return _plurals(self._kinds)

    @property
    def _kinds(self) -> list[str]:
        return [one for one in (_CLASS, _SLICE) if one in self._deciding]

    def is_open(self, record: PodRecord) -> bool:
        """Return whether the rejected pod could fit on a node if the input had the missing objects."""
        return bool(self.missing(record)) and not self.is_refused(record)

    def is_refused(self, record: PodRecord) -> bool:
        """Return whether every node certainly rejects the pod.

        A rejection is certain if neither the missing objects nor preemption can change it. A plugin that rejects the
        pod before any node is examined does so because of the pod's claims and their classes.
        """
        found = record.refusals
        if found is None:
            return False
        if found.of_all and _CLASS not in self._deciding and _first_are(found, {plugin_names.DYNAMIC_RESOURCES}):
            return True
        yielding = self._yielding(record.pod)

        def is_certain(node: str, plugin: str) -> bool:
            return plugin in _UNRESOLVABLE or (plugin not in _UNKNOWN and node not in yielding)

        return all(any(is_certain(node, plugin) for plugin in found.plugins(node)) for node in found.of_nodes)

    def _yielding(self, pod: Pod) -> set[str]:
        """Return the nodes with a pod that this pod may preempt."""
        if pod.spec.preemption_policy == "Never":
            return set()
        own = self._priority(pod)
        running = (each for each in self._inventory.pods if each.spec.node_name and not ended(each))
        return {each.spec.node_name for each in running if self._priority(each) < own}


def _plurals(names: Iterable[str]) -> list[str]:
    return [kind.plural for name in names if (kind := named(name)) is not None]


def _first_are(found: NodeRefusals | None, plugins: Set[str]) -> bool:
    """Return whether one of these plugins gives the first reason for each node."""
    return found is not None and all(refused[0].plugin in plugins for refused in found.of_nodes.values())


def may_lack(inventory: Inventory) -> bool:
    """Return whether the input lacks a kind that could change which pods are scheduled."""
    return bool(deciding(inventory)) or not inventory.volume_claims


def keep_refusals(simulation: Simulation) -> None:
    """Make the simulation record why it rejects pods, if the input lacks a kind that could change the result."""
    if not may_lack(simulation.inventory):
        return
    has_claims = bool(deciding(simulation.inventory))

    def kept(framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> NodeRefusals | None:
        is_open = (has_claims and pod.spec.resource_claims) or pod_volumes(pod).claims
        return refusals_of(framework, state, pod, diagnosis, besides=True) if is_open else None

    simulation.scheduler.cycle.explain = kept
