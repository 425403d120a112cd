"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): profiles, their plugins, weights and arguments.

Contents: the fields that kube-scheduler accepts, the default plugins and their factories, the parsed configuration, and
the plugins of a profile in order. This module takes decoded documents; it reads no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dra_plan.api.core import NodeAffinity, TopologySpreadConstraint
from dra_plan.api.meta import FieldPath
from dra_plan.errors import InputError, UsageError
from dra_plan.manifests.paths import render
from dra_plan.releases import Features
from dra_plan.scheduler.cluster.nodes import DEFAULT_SCHEDULER
from dra_plan.scheduler.cluster.pod_requests import is_scalar
from dra_plan.scheduler.dra.extended import DeviceTotals, Totals
from dra_plan.scheduler.dra.plugin import DEFAULT_BINDING_TIMEOUT, DynamicResources
from dra_plan.scheduler.framework.interface import POINTS, Handle, Plugin, Registry
from dra_plan.scheduler.framework.plugin_names import NOT_EVALUATED
from dra_plan.scheduler.plugins.default_preemption import DefaultPreemption
from dra_plan.scheduler.plugins.gang_scheduling import GangScheduling
from dra_plan.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from dra_plan.scheduler.plugins.node_affinity import NodeAffinityPlugin
from dra_plan.scheduler.plugins.node_checks import (
    ImageLocality,
    NodeName,
    NodePorts,
    NodeUnschedulable,
    TaintToleration,
)
from dra_plan.scheduler.plugins.node_resources import DEFAULT_RESOURCES, BalancedAllocation, NodeResourcesFit, Strategy
from dra_plan.scheduler.plugins.queueing import DefaultBinder, PrioritySort, SchedulingGates
from dra_plan.scheduler.plugins.topology_spread import SYSTEM_DEFAULTS, PodTopologySpread
from dra_plan.scheduler.plugins.volume_binding import VolumeBinding
from dra_plan.scheduler.plugins.volumes import NodeVolumeLimits, VolumeRestrictions, VolumeZone

from .framework import plugin_names

# -- known fields ------------------------------------------------------------------------------------------------------
# kube-scheduler reads its configuration strictly, and does not start if there is an unknown field. These are the fields
# in v1 in any of the releases 1.34 to 1.36, including the arguments of Kubernetes' own plugins, whether or not the
# simulation uses them. Values are not checked here.


def _fields(*plain: str, **below: Any) -> dict[str, Any]:
    """Return field names, each with the fields below it (in one object, or in each in a list); None is not checked."""
    return {**dict.fromkeys(plain), **below}


_PLUGIN_SET = _fields(enabled=_fields("name", "weight"), disabled=_fields("name", "weight"))
_POINTS = (
    *("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit"),
    *("preBind", "bind", "postBind", "multiPoint", "placementGenerate", "placementScore"),
)
_PROFILE = _fields(
    *("schedulerName", "percentageOfNodesToScore"),
    plugins=dict.fromkeys(_POINTS, _PLUGIN_SET),
    pluginConfig=_fields("name", "args"),
)
_EXTENDER = _fields(
    *("urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "weight", "bindVerb", "enableHTTPS", "httpTimeout"),
    *("nodeCacheCapable", "ignorable"),
    tlsConfig=_fields("insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"),
    managedResources=_fields("name", "ignoredByScheduler"),
)
_LOCK = ("resourceLock", "resourceName", "resourceNamespace")
_CONFIGURATION = _fields(
    *("apiVersion", "kind", "parallelism", "percentageOfNodesToScore", "podInitialBackoffSeconds"),
    *("podMaxBackoffSeconds", "delayCacheUntilActive", "enableProfiling", "enableContentionProfiling"),
    leaderElection=_fields("leaderElect", "leaseDuration", "renewDeadline", "retryPeriod", *_LOCK),
    clientConnection=_fields("kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"),
    profiles=_PROFILE,
    extenders=_EXTENDER,
)

_REQUIREMENT = _fields("key", "operator", "values")
_TERM = _fields(matchExpressions=_REQUIREMENT, matchFields=_REQUIREMENT)
_NODE_AFFINITY = _fields(
    requiredDuringSchedulingIgnoredDuringExecution=_fields(nodeSelectorTerms=_TERM),
    preferredDuringSchedulingIgnoredDuringExecution=_fields("weight", preference=_TERM),
)
_SPREAD_CONSTRAINT = _fields(
    *("maxSkew", "topologyKey", "whenUnsatisfiable", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"),
    "matchLabelKeys",
    labelSelector=_fields("matchLabels", matchExpressions=_REQUIREMENT),
)
_RESOURCES = _fields("name", "weight")
_SHAPE = _fields("utilization", "score")
_STRATEGY = _fields("type", resources=_RESOURCES, requestedToCapacityRatio=_fields(shape=_SHAPE))
_TYPE = ("apiVersion", "kind")
_ARGUMENTS: Mapping[str, Any] = {
    plugin_names.DEFAULT_PREEMPTION: _fields(*_TYPE, "minCandidateNodesPercentage", "minCandidateNodesAbsolute"),
    plugin_names.INTER_POD_AFFINITY: _fields(*_TYPE, "hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"),
    plugin_names.FIT: _fields(*_TYPE, "ignoredResources", "ignoredResourceGroups", scoringStrategy=_STRATEGY),
    plugin_names.BALANCED_ALLOCATION: _fields(*_TYPE, resources=_RESOURCES),
    plugin_names.SPREAD: _fields(*_TYPE, "defaultingType", defaultConstraints=_SPREAD_CONSTRAINT),
    plugin_names.VOLUME_BINDING: _fields(*_TYPE, "bindTimeoutSeconds", shape=_SHAPE),
    plugin_names.NODE_AFFINITY: _fields(*_TYPE, addedAffinity=_NODE_AFFINITY),
    plugin_names.DYNAMIC_RESOURCES: _fields(*_TYPE, "filterTimeout", "bindingTimeout"),
}
"""The arguments by plugin. Like kube-scheduler, dra-plan leaves any other plugin's arguments to the plugin itself."""


def unknown_fields(document: Mapping[str, Any]) -> list[FieldPath]:
    """Return the fields that kube-scheduler would reject, in document order."""
    return list(_unknown(document, _CONFIGURATION, ()))


def _unknown(value: Any, fields: Mapping[str, Any] | None, path: FieldPath) -> Iterator[FieldPath]:
    if isinstance(value, list):
        for position, item in enumerate(value):
            yield from _unknown(item, fields, (*path, position))
    elif isinstance(value, Mapping) and fields is not None:
        for name, below in value.items():
            here = (*path, name)
            if name not in fields:
                yield here
            elif name == "args":
                yield from _unknown(below, _ARGUMENTS.get(str(value.get("name"))), here)
            else:
                yield from _unknown(below, fields[name], here)


# -- the default plugins, and how each is made from its arguments ------------------------------------------------------
# The default profile's plugins are in multi-point order.

MULTI_POINT: tuple[tuple[str, int], ...] = (
    (plugin_names.SCHEDULING_GATES, 0),
    (plugin_names.PRIORITY_SORT, 0),
    (plugin_names.NODE_UNSCHEDULABLE, 0),
    (plugin_names.NODE_NAME, 0),
    (plugin_names.TAINT_TOLERATION, 3),
    (plugin_names.NODE_AFFINITY, 2),
    (plugin_names.NODE_PORTS, 0),
    (plugin_names.FIT, 1),
    (plugin_names.VOLUME_RESTRICTIONS, 0),
    (plugin_names.NODE_VOLUME_LIMITS, 0),
    (plugin_names.VOLUME_BINDING, 0),
    (plugin_names.VOLUME_ZONE, 0),
    (plugin_names.SPREAD, 2),
    (plugin_names.INTER_POD_AFFINITY, 2),
    (plugin_names.DYNAMIC_RESOURCES, 2),
    (plugin_names.DEFAULT_PREEMPTION, 0),
    (plugin_names.BALANCED_ALLOCATION, 1),
    (plugin_names.IMAGE_LOCALITY, 1),
    (plugin_names.DEFAULT_BINDER, 0),
    (plugin_names.NODE_DECLARED_FEATURES, 0),
)
"""The default plugins with the weights of their scores; 0 means 1.

Each extension point has the plugins that implement it.
"""

_GATED = ((plugin_names.GANG_SCHEDULING, "gang_scheduling"),)
"""(plugin, the feature that adds it after all other plugins)."""


def gated(features: Features) -> list[str]:
    """Return the plugins that enabled feature gates add to the default profile."""
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
    given = _convert(args.get("scoringStrategy") or {}, dict[str, Any], f"{plugin_names.FIT} scoringStrategy")
    kind = given.get("type") or "LeastAllocated"
    if kind not in ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"):
        raise UsageError(f"{plugin_names.FIT}: unknown scoring strategy {kind!r}")
    shape = (given.get("requestedToCapacityRatio") or {}).get("shape") or []
    if kind == "RequestedToCapacityRatio" and not shape:
        raise UsageError(f"{plugin_names.FIT}: RequestedToCapacityRatio needs at least one point of its shape")
    strategy = Strategy(
        kind=kind,
        resources=_resources(given.get("resources"), f"{plugin_names.FIT} resources"),
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
    strategy = Strategy(resources=_resources(args.get("resources"), plugin_names.BALANCED_ALLOCATION))
    return BalancedAllocation(handle, strategy, _totals(strategy, handle))


def _totals(strategy: Strategy, handle: Handle) -> Totals | None:
    """Return a device counter for the extended resources that the strategy lists.

    Return None if there is nothing to count.
    """
    if not handle.target.rules.scores_devices or not any(is_scalar(name) for name in strategy.names):
        return None
    return DeviceTotals(handle.cluster).of


def _affinity(args: Args, _handle: Handle) -> NodeAffinityPlugin:
    added = args.get("addedAffinity")
    return NodeAffinityPlugin(
        _convert(added, NodeAffinity, f"{plugin_names.NODE_AFFINITY} addedAffinity") if added else None
    )


def _spread(args: Args, handle: Handle) -> PodTopologySpread:
    kind = args.get("defaultingType") or "System"
    if kind not in ("System", "List"):
        raise UsageError(f"{plugin_names.SPREAD}: unknown defaultingType {kind!r}")
    listed = _convert(args.get("defaultConstraints") or [], list[TopologySpreadConstraint], plugin_names.SPREAD)
    if kind == "System" and listed:
        raise UsageError(f"{plugin_names.SPREAD}: defaultConstraints need defaultingType List")
    return PodTopologySpread(handle, SYSTEM_DEFAULTS if kind == "System" else listed, system=kind == "System")


def _inter_pod(args: Args, handle: Handle) -> InterPodAffinity:
    weight = args.get("hardPodAffinityWeight")
    ignore = bool(args.get("ignorePreferredTermsOfExistingPods"))
    return InterPodAffinity(handle, 1 if weight is None else int(weight), ignore_preferred_of_existing=ignore)


def _preemption(args: Args, handle: Handle) -> DefaultPreemption:
    percentage, absolute = args.get("minCandidateNodesPercentage"), args.get("minCandidateNodesAbsolute")
    return DefaultPreemption(handle, 10 if percentage is None else percentage, 100 if absolute is None else absolute)


def seconds(text: Any, default: float) -> float:
    """Return a duration in seconds, given in Go's format (`1h30m`, `10s`, `500ms`) or in nanoseconds."""
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
        raise UsageError(f"{plugin_names.DYNAMIC_RESOURCES}: bindingTimeout must be at least 1s")
    return DynamicResources(handle, binding_timeout=timeout, max_steps=handle.max_steps)


def registry() -> Registry:
    """Return a registry of the in-tree plugins."""
    made = Registry()
    made.register(plugin_names.SCHEDULING_GATES, lambda _args, _handle: SchedulingGates())
    made.register(plugin_names.PRIORITY_SORT, lambda _args, _handle: PrioritySort())
    made.register(plugin_names.NODE_UNSCHEDULABLE, lambda _args, _handle: NodeUnschedulable())
    made.register(plugin_names.NODE_NAME, lambda _args, _handle: NodeName())
    made.register(plugin_names.TAINT_TOLERATION, lambda _args, handle: TaintToleration(handle.target))
    made.register(plugin_names.NODE_AFFINITY, _affinity)
    made.register(plugin_names.NODE_PORTS, lambda _args, _handle: NodePorts())
    made.register(plugin_names.FIT, _fit)
    made.register(plugin_names.VOLUME_RESTRICTIONS, lambda _args, handle: VolumeRestrictions(handle))
    made.register(plugin_names.NODE_VOLUME_LIMITS, lambda _args, handle: NodeVolumeLimits(handle))
    made.register(plugin_names.VOLUME_BINDING, lambda _args, handle: VolumeBinding(handle))
    made.register(plugin_names.VOLUME_ZONE, lambda _args, handle: VolumeZone(handle))
    made.register(plugin_names.SPREAD, _spread)
    made.register(plugin_names.INTER_POD_AFFINITY, _inter_pod)
    made.register(plugin_names.DYNAMIC_RESOURCES, _dynamic)
    made.register(plugin_names.DEFAULT_PREEMPTION, _preemption)
    made.register(plugin_names.BALANCED_ALLOCATION, _balanced)
    made.register(plugin_names.IMAGE_LOCALITY, lambda _args, handle: ImageLocality(handle))
    made.register(plugin_names.GANG_SCHEDULING, lambda _args, handle: GangScheduling(handle))
    made.register(plugin_names.DEFAULT_BINDER, lambda _args, handle: DefaultBinder(handle))
    return made


# -- the configuration, and the plugins of a profile -------------------------------------------------------------------

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
UNKNOWN = "unknown field, which kube-scheduler rejects"


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of the configuration; parts that the simulation does not use are ignored."""


class PluginEntry(_Struct, frozen=True):
    """A plugin to enable or disable, with the weight of its scores; 0 means 1."""

    name: str
    weight: int = 0


class PluginSet(_Struct, frozen=True):
    """The plugins to enable in addition to the defaults, and the defaults to disable. `*` disables all defaults."""

    enabled: list[PluginEntry] = []
    disabled: list[PluginEntry] = []


class Plugins(_Struct, frozen=True):
    """The plugins of a profile: one plugin set for each extension point."""

    multi_point: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_enqueue: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()

    def of(self, point: str) -> PluginSet:
        """Return the plugin set of an extension point, given by its name in the configuration."""
        found: PluginSet = getattr(self, "".join(f"_{c.lower()}" if c.isupper() else c for c in point))
        return found


class PluginConfig(_Struct, frozen=True):
    """The arguments of a plugin."""

    name: str
    args: dict[str, Any] = {}


class Profile(_Struct, frozen=True):
    """The plugins for pods that request the scheduler with this name."""

    scheduler_name: str = DEFAULT_SCHEDULER
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_config: list[PluginConfig] = []


class ManagedResource(_Struct, frozen=True):
    """A resource that an extender manages."""

    name: str
    ignored_by_scheduler: bool = False


class ExtenderConfig(_Struct, frozen=True):
    """The configuration of an extender: its address, and the calls that it handles."""

    url_prefix: str = msgspec.field(name="urlPrefix")
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 1
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    http_timeout: str | int | None = msgspec.field(default=None, name="httpTimeout")
    node_cache_capable: bool = False
    managed_resources: list[ManagedResource] = []
    ignorable: bool = False


class Configuration(_Struct, frozen=True):
    """A KubeSchedulerConfiguration. `percentage_of_nodes_to_score` is the default for its profiles."""

    api_version: str = API_VERSION
    kind: str = KIND
    percentage_of_nodes_to_score: int | None = None
    profiles: list[Profile] = msgspec.field(default_factory=lambda: [Profile()])
    extenders: list[ExtenderConfig] = []


def check_kind(document: Mapping[str, Any]) -> None:
    """Raise UsageError unless the document is a KubeSchedulerConfiguration of the supported version."""
    kind, version = document.get("kind"), document.get("apiVersion")
    if kind != KIND or version != API_VERSION:
        raise UsageError(f"not a scheduler configuration: {version} {kind}; expected {API_VERSION} {KIND}")


def read(document: Mapping[str, Any] | None) -> Configuration:
    """Return the configuration in a decoded document, or the default configuration for None.

    Raises UsageError if the document cannot be used, and InputError for unknown fields, which kube-scheduler rejects.
    """
    if document is None:
        return Configuration()
    check_kind(document)
    unknown = unknown_fields(document)
    if unknown:
        raise InputError.of_lines(f"scheduler configuration: {render(path)}: {UNKNOWN}" for path in unknown)
    try:
        found = msgspec.convert(dict(document), Configuration)
    except msgspec.ValidationError as problem:
        raise UsageError(f"scheduler configuration: {problem}") from None
    if not found.profiles:
        found = msgspec.structs.replace(found, profiles=[Profile()])
    names = [profile.scheduler_name for profile in found.profiles]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"scheduler configuration: profile {', '.join(twice)} is listed more than once")
    return found


def _merge(defaults: Iterable[PluginEntry], custom: PluginSet) -> list[PluginEntry]:
    """Return the defaults that are not disabled, reconfigured in place, then the other enabled plugins."""
    disabled = {entry.name for entry in custom.disabled}
    given = {entry.name: entry for entry in custom.enabled}
    merged: list[PluginEntry] = []
    if "*" not in disabled:
        merged = [given.get(entry.name, entry) for entry in defaults if entry.name not in disabled]
    used = {entry.name for entry in merged}
    return merged + [entry for entry in custom.enabled if entry.name not in used]


def enabled_plugins(profile: Profile, gated: Sequence[str] = ()) -> list[str]:
    """Return every plugin that the profile enables at some extension point, except those that are not simulated.

    `gated` are the plugins that feature gates add after the defaults.
    """
    multi = _multi_point(profile, gated)
    named = [entry.name for entry in multi]
    named += [entry.name for point in POINTS for entry in profile.plugins.of(point).enabled]
    return [name for name in dict.fromkeys(named) if name not in NOT_EVALUATED]


def _multi_point(profile: Profile, gated: Sequence[str]) -> list[PluginEntry]:
    defaults = [PluginEntry(name=name, weight=weight) for name, weight in MULTI_POINT]
    defaults += [PluginEntry(name=name) for name in gated]
    return _merge(defaults, profile.plugins.multi_point)


def arrange(
    profile: Profile, plugins: Mapping[str, Plugin], gated: Sequence[str] = ()
) -> tuple[dict[str, list[Plugin]], dict[str, int]]:
    """Return the plugins of each extension point, in order, and the weights of their scores.

    Plugins enabled both for the point and in multiPoint come first, then the others in multiPoint, and last the others
    enabled for the point.
    """
    multi = _multi_point(profile, gated)
    points: dict[str, list[Plugin]] = {}
    weights: dict[str, int] = {}
    for point, kind in POINTS.items():
        chosen = profile.plugins.of(point)
        disabled = {entry.name for entry in chosen.disabled}
        own = {entry.name: entry for entry in chosen.enabled}
        everywhere = [
            entry
            for entry in multi
            if entry.name in plugins and isinstance(plugins[entry.name], kind)
            if not disabled & {"*", entry.name}
        ]
        shared = {entry.name for entry in everywhere}
        ordered = [entry for entry in chosen.enabled if entry.name in shared]
        ordered += [entry for entry in everywhere if entry.name not in own]
        ordered += [entry for entry in chosen.enabled if entry.name not in shared and entry.name not in NOT_EVALUATED]
        for entry in ordered:
            if not isinstance(plugins[entry.name], kind):
                raise UsageError(f"plugin {entry.name} does not extend {point}")
        points[point] = [plugins[entry.name] for entry in ordered]
        if point == "score":
            weights = {entry.name: entry.weight or 1 for entry in ordered}
    if not points["bind"]:
        raise UsageError(f"profile {profile.scheduler_name}: at least one bind plugin is needed")
    return points, weights


def arguments(profile: Profile) -> dict[str, Args]:
    """Return the arguments of plugins, by plugin name."""
    return {entry.name: entry.args for entry in profile.plugin_config}


def percentages(configuration: Configuration) -> dict[str, int]:
    """Return percentageOfNodesToScore for each profile. With 0, the percentage depends on the number of nodes."""
    default = configuration.percentage_of_nodes_to_score or 0
    return {
        p.scheduler_name: default if p.percentage_of_nodes_to_score is None else p.percentage_of_nodes_to_score
        for p in configuration.profiles
    }
