"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): profiles, their plugins, weights and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from dra_plan.errors import InputError, UsageError
from dra_plan.manifests.paths import render

from .configfields import unknown_fields
from .defaults import MULTI_POINT, Args
from .framework import POINTS, Plugin
from .nodeinfo import DEFAULT_SCHEDULER
from .pluginnames import NOT_EVALUATED

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
UNKNOWN = "unknown field, which kube-scheduler refuses"


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of the configuration; parts that the simulation has no use for are passed over."""


class PluginEntry(_Struct, frozen=True):
    """A plugin in a list, with its weight where it scores (0 stands for 1)."""

    name: str
    weight: int = 0


class PluginSet(_Struct, frozen=True):
    """What is enabled beside, and disabled of, the defaults; `*` disables all of them."""

    enabled: list[PluginEntry] = []
    disabled: list[PluginEntry] = []


class Plugins(_Struct, frozen=True):
    """The plugin sets of a profile."""

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
        """The set of an extension point, by the name that the configuration gives it."""
        found: PluginSet = getattr(self, "".join(f"_{c.lower()}" if c.isupper() else c for c in point))
        return found


class PluginConfig(_Struct, frozen=True):
    """A plugin's arguments."""

    name: str
    args: dict[str, Any] = {}


class Profile(_Struct, frozen=True):
    """The plugins for the pods of one scheduler name."""

    scheduler_name: str = DEFAULT_SCHEDULER
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_config: list[PluginConfig] = []


class ManagedResource(_Struct, frozen=True):
    """A resource that an extender manages."""

    name: str
    ignored_by_scheduler: bool = False


class ExtenderConfig(_Struct, frozen=True):
    """An extender: where it listens and what it is asked."""

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
    """The document. `percentage_of_nodes_to_score` holds for profiles that don't say."""

    api_version: str = API_VERSION
    kind: str = KIND
    percentage_of_nodes_to_score: int | None = None
    profiles: list[Profile] = msgspec.field(default_factory=lambda: [Profile()])
    extenders: list[ExtenderConfig] = []


def check_kind(document: Mapping[str, Any]) -> None:
    """UsageError unless the document says that it is a configuration of the version that is read."""
    kind, version = document.get("kind"), document.get("apiVersion")
    if kind != KIND or version != API_VERSION:
        raise UsageError(f"not a scheduler configuration: {version} {kind}; wanted {API_VERSION} {KIND}")


def read(document: Mapping[str, Any] | None) -> Configuration:
    """The configuration of a decoded document; the default one for None.

    UsageError if it can't be used; InputError for fields that kube-scheduler does not know and so refuses.
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
        raise UsageError(f"scheduler configuration: profile {', '.join(twice)} is there more than once")
    return found


def _merge(defaults: Iterable[PluginEntry], custom: PluginSet) -> list[PluginEntry]:
    """Defaults that are not disabled, reconfigured in place, then the other enabled ones."""
    disabled = {entry.name for entry in custom.disabled}
    given = {entry.name: entry for entry in custom.enabled}
    merged: list[PluginEntry] = []
    if "*" not in disabled:
        merged = [given.get(entry.name, entry) for entry in defaults if entry.name not in disabled]
    used = {entry.name for entry in merged}
    return merged + [entry for entry in custom.enabled if entry.name not in used]


def plugin_names(profile: Profile, gated: Sequence[str] = ()) -> list[str]:
    """Every plugin that the profile enables somewhere, without those that are not simulated.

    `gated` are those that feature gates add behind the defaults.
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
    """The plugins of each extension point in order, and the score weights.

    Plugins that a point names and multi-point has too come first, then those of multi-point, then the others.
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
    """The arguments of plugins, by name."""
    return {entry.name: entry.args for entry in profile.plugin_config}


def percentages(configuration: Configuration) -> dict[str, int]:
    """By profile, of how many nodes in a hundred it is enough that they fit; 0 leaves it to the number of nodes."""
    default = configuration.percentage_of_nodes_to_score or 0
    return {
        p.scheduler_name: default if p.percentage_of_nodes_to_score is None else p.percentage_of_nodes_to_score
        for p in configuration.profiles
    }
