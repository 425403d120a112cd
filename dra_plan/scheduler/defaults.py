"""The plugins of the default profile, in multi-point order, and how each is made from its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from dra_plan.api.core import NodeAffinity, TopologySpreadConstraint
from dra_plan.errors import UsageError
from dra_plan.releases import Features
from dra_plan.scheduler.dra.devicetotals import DeviceTotals, Totals
from dra_plan.scheduler.dra.plugin import DEFAULT_BINDING_TIMEOUT, DynamicResources
from dra_plan.scheduler.plugins.allocation import DEFAULT_RESOURCES, Strategy
from dra_plan.scheduler.plugins.balanced import BalancedAllocation
from dra_plan.scheduler.plugins.defaultbinder import DefaultBinder
from dra_plan.scheduler.plugins.defaultpreemption import DefaultPreemption
from dra_plan.scheduler.plugins.fit import NodeResourcesFit
from dra_plan.scheduler.plugins.gangscheduling import GangScheduling
from dra_plan.scheduler.plugins.imagelocality import ImageLocality
from dra_plan.scheduler.plugins.interpodaffinity import InterPodAffinity
from dra_plan.scheduler.plugins.nodeaffinity import NodeAffinityPlugin
from dra_plan.scheduler.plugins.nodename import NodeName, NodeUnschedulable
from dra_plan.scheduler.plugins.nodeports import NodePorts
from dra_plan.scheduler.plugins.nodevolumelimits import NodeVolumeLimits
from dra_plan.scheduler.plugins.prioritysort import PrioritySort
from dra_plan.scheduler.plugins.schedulinggates import SchedulingGates
from dra_plan.scheduler.plugins.spread import PodTopologySpread
from dra_plan.scheduler.plugins.spreadconstraints import SYSTEM_DEFAULTS
from dra_plan.scheduler.plugins.tainttoleration import TaintToleration
from dra_plan.scheduler.plugins.volumebinding import VolumeBinding
from dra_plan.scheduler.plugins.volumerestrictions import VolumeRestrictions
from dra_plan.scheduler.plugins.volumezone import VolumeZone

from . import pluginnames
from .handle import Handle
from .podrequest import is_scalar
from .registry import Registry

MULTI_POINT: tuple[tuple[str, int], ...] = (
    (pluginnames.SCHEDULING_GATES, 0),
    (pluginnames.PRIORITY_SORT, 0),
    (pluginnames.NODE_UNSCHEDULABLE, 0),
    (pluginnames.NODE_NAME, 0),
    (pluginnames.TAINT_TOLERATION, 3),
    (pluginnames.NODE_AFFINITY, 2),
    (pluginnames.NODE_PORTS, 0),
    (pluginnames.FIT, 1),
    (pluginnames.VOLUME_RESTRICTIONS, 0),
    (pluginnames.NODE_VOLUME_LIMITS, 0),
    (pluginnames.VOLUME_BINDING, 0),
    (pluginnames.VOLUME_ZONE, 0),
    (pluginnames.SPREAD, 2),
    (pluginnames.INTER_POD_AFFINITY, 2),
    (pluginnames.DYNAMIC_RESOURCES, 2),
    (pluginnames.DEFAULT_PREEMPTION, 0),
    (pluginnames.BALANCED_ALLOCATION, 1),
    (pluginnames.IMAGE_LOCALITY, 1),
    (pluginnames.DEFAULT_BINDER, 0),
    (pluginnames.NODE_DECLARED_FEATURES, 0),
)
"""(plugin, weight; 0 stands for 1). The list of an extension point is this list without those that don't take part."""

_GATED = ((pluginnames.GANG_SCHEDULING, "gang_scheduling"),)
"""(plugin, the feature that adds it behind all others)."""


def gated(features: Features) -> list[str]:
    """The plugins that feature gates add to the default profile."""
    return [name for name, feature in _GATED if getattr(features, feature)]


Args = Mapping[str, Any]


def _convert(value: Any, kind: Any, where: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise UsageError(f"{where}: {problem}") from None


def _resources(listed: Any, where: str) -> tuple[tuple[str, int], ...]:
    if not listed:
        return DEFAULT_RESOURCES
    entries = _convert(listed, list[dict[str, Any]], where)
    return tuple((str(entry.get("name", "")), int(entry.get("weight") or 1)) for entry in entries)


def _fit(args: Args, handle: Handle) -> NodeResourcesFit:
    given = _convert(args.get("scoringStrategy") or {}, dict[str, Any], f"{pluginnames.FIT} scoringStrategy")
    kind = given.get("type") or "LeastAllocated"
    if kind not in ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"):
        raise UsageError(f"{pluginnames.FIT}: unknown scoring strategy {kind!r}")
    shape = (given.get("requestedToCapacityRatio") or {}).get("shape") or []
    if kind == "RequestedToCapacityRatio" and not shape:
        raise UsageError(f"{pluginnames.FIT}: RequestedToCapacityRatio needs at least one point of its shape")
    strategy = Strategy(
        kind=kind,
        resources=_resources(given.get("resources"), f"{pluginnames.FIT} resources"),
        shape=tuple((int(point.get("utilization") or 0), int(point.get("score") or 0)) for point in shape),
    )
    return NodeResourcesFit(
        handle,
        strategy,
        args.get("ignoredResources") or (),
        args.get("ignoredResourceGroups") or (),
        _totals(strategy, handle),
    )


def _balanced(args: Args, handle: Handle) -> BalancedAllocation:
    strategy = Strategy(resources=_resources(args.get("resources"), pluginnames.BALANCED_ALLOCATION))
    return BalancedAllocation(strategy, _totals(strategy, handle))


def _totals(strategy: Strategy, handle: Handle) -> Totals | None:
    """Counts devices for the extended resources that the strategy lists; None if there is nothing to count."""
    if not handle.target.rules.scores_devices or not any(is_scalar(name) for name in strategy.names):
        return None
    return DeviceTotals(handle.cluster).of


def _affinity(args: Args, _handle: Handle) -> NodeAffinityPlugin:
    added = args.get("addedAffinity")
    return NodeAffinityPlugin(
        _convert(added, NodeAffinity, f"{pluginnames.NODE_AFFINITY} addedAffinity") if added else None
    )


def _spread(args: Args, handle: Handle) -> PodTopologySpread:
    kind = args.get("defaultingType") or "System"
    if kind not in ("System", "List"):
        raise UsageError(f"{pluginnames.SPREAD}: unknown defaultingType {kind!r}")
    listed = _convert(args.get("defaultConstraints") or [], list[TopologySpreadConstraint], pluginnames.SPREAD)
    if kind == "System" and listed:
        raise UsageError(f"{pluginnames.SPREAD}: defaultConstraints need defaultingType List")
    return PodTopologySpread(handle, SYSTEM_DEFAULTS if kind == "System" else listed, system=kind == "System")


def _inter_pod(args: Args, handle: Handle) -> InterPodAffinity:
    weight = args.get("hardPodAffinityWeight")
    ignore = bool(args.get("ignorePreferredTermsOfExistingPods"))
    return InterPodAffinity(handle, 1 if weight is None else int(weight), ignore_preferred_of_existing=ignore)


def _preemption(args: Args, handle: Handle) -> DefaultPreemption:
    percentage, absolute = args.get("minCandidateNodesPercentage"), args.get("minCandidateNodesAbsolute")
    return DefaultPreemption(handle, 10 if percentage is None else percentage, 100 if absolute is None else absolute)


def seconds(text: Any, default: float) -> float:
    """A Go duration (`1h30m`, `10s`, `500ms`) or a number of nanoseconds, in seconds."""
    if text is None:
        return default
    if isinstance(text, int | float):
        return float(text) / 1e9
    import re

    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
    parts = re.findall(r"([0-9]+(?:\.[0-9]*)?)(ms|us|µs|ns|h|m|s)", str(text))
    if "".join(number + unit for number, unit in parts) != str(text) or not parts:
        if str(text) == "0":
            return 0.0
        raise UsageError(f"not a duration: {text!r}")
    return sum(float(number) * units[unit] for number, unit in parts)


def _dynamic(args: Args, handle: Handle) -> DynamicResources:
    timeout = seconds(args.get("bindingTimeout"), DEFAULT_BINDING_TIMEOUT)
    if timeout < 1:
        raise UsageError(f"{pluginnames.DYNAMIC_RESOURCES}: bindingTimeout must be at least 1s")
    return DynamicResources(handle, binding_timeout=timeout, max_steps=handle.max_steps)


def registry() -> Registry:
    """The plugins of the tree."""
    made = Registry()
    made.register(pluginnames.SCHEDULING_GATES, lambda _args, _handle: SchedulingGates())
    made.register(pluginnames.PRIORITY_SORT, lambda _args, _handle: PrioritySort())
    made.register(pluginnames.NODE_UNSCHEDULABLE, lambda _args, _handle: NodeUnschedulable())
    made.register(pluginnames.NODE_NAME, lambda _args, _handle: NodeName())
    made.register(pluginnames.TAINT_TOLERATION, lambda _args, handle: TaintToleration(handle.target))
    made.register(pluginnames.NODE_AFFINITY, _affinity)
    made.register(pluginnames.NODE_PORTS, lambda _args, _handle: NodePorts())
    made.register(pluginnames.FIT, _fit)
    made.register(pluginnames.VOLUME_RESTRICTIONS, lambda _args, handle: VolumeRestrictions(handle))
    made.register(pluginnames.NODE_VOLUME_LIMITS, lambda _args, handle: NodeVolumeLimits(handle))
    made.register(pluginnames.VOLUME_BINDING, lambda _args, handle: VolumeBinding(handle))
    made.register(pluginnames.VOLUME_ZONE, lambda _args, handle: VolumeZone(handle))
    made.register(pluginnames.SPREAD, _spread)
    made.register(pluginnames.INTER_POD_AFFINITY, _inter_pod)
    made.register(pluginnames.DYNAMIC_RESOURCES, _dynamic)
    made.register(pluginnames.DEFAULT_PREEMPTION, _preemption)
    made.register(pluginnames.BALANCED_ALLOCATION, _balanced)
    made.register(pluginnames.IMAGE_LOCALITY, lambda _args, handle: ImageLocality(handle))
    made.register(pluginnames.GANG_SCHEDULING, lambda _args, handle: GangScheduling(handle))
    made.register(pluginnames.DEFAULT_BINDER, lambda _args, handle: DefaultBinder(handle))
    return made
