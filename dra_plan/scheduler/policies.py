"""Policies, which schedule a cluster with other node scores or another order of devices.

A policy consists of an order in which the devices of a node are tried, and of a plugin that replaces the scores of
NodeResourcesFit and NodeResourcesBalancedAllocation, or of arguments for these plugins. Filters, the queue and all
other scores still follow the configuration. `POLICIES` describes what each policy prefers.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra_plan.allocator.ledger import AllocatedState
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.search import DeviceOrder
from dra_plan.api import quantity
from dra_plan.errors import UsageError
from dra_plan.near import nearest
from dra_plan.scheduler import config as configuration
from dra_plan.scheduler.framework.interface import Factory, Registry
from dra_plan.scheduler.framework.plugin_names import BALANCED_ALLOCATION, FIT
from dra_plan.scheduler.plugins.device_scores import (
    Balanced,
    BestFit,
    FragmentationGradientDescent,
    Mix,
    PolicyScore,
    WholeNodes,
)

WEIGHT = 1000
"""The weight of a policy's score. Other scores decide only among nodes that the policy rates equally."""


# -- the policies by name ----------------------------------------------------------------------------------------------


def fullest_first(devices: Sequence[PoolDevice], state: AllocatedState) -> Sequence[PoolDevice]:
    """Return the devices. Shared devices that are in use come first, ordered by their free share."""
    if not any(device.id in state.aggregate for device in devices):
        return devices
    return sorted(devices, key=lambda device: _share_left(device, state))


def _share_left(device: PoolDevice, state: AllocatedState) -> float:
    used = state.aggregate.get(device.id)
    if not used:
        return 1.0
    totals = ((name, quantity.parse(each.value).nano) for name, each in device.device.capacity.items())
    return min(((total - used.get(name, 0)) / total for name, total in totals if total > 0), default=1.0)


@dataclass(frozen=True)
class Policy:
    """A scheduling policy: a description, a scoring plugin, arguments of NodeResourcesFit, and a device order."""

    name: str
    summary: str
    plugin: type[PolicyScore] | None = None
    strategy: str = ""
    order: DeviceOrder | None = None


DEFAULT = "default"
POLICIES = {
    policy.name: policy
    for policy in (
        Policy(DEFAULT, "the scores of the configuration, devices in their order"),
        Policy(
            "most-allocated", "NodeResourcesFit scores full nodes higher, without balance", strategy="MostAllocated"
        ),
        Policy("best-fit", "the node, and the device, with the least left", BestFit, order=fullest_first),
        Policy(
            "fgd",
            "the node that adds least to what the mix of pods cannot use",
            FragmentationGradientDescent,
            order=fullest_first,
        ),
        Policy("whole-nodes", "nodes, and devices, that are in use before idle ones", WholeNodes, order=fullest_first),
        Policy("balanced", "the node on which devices, cpu and memory are used most evenly", Balanced),
    )
}
"""The policies by name."""


def named(name: str) -> Policy:
    """Return the policy with this name. Raises UsageError if there is none."""
    if name not in POLICIES:
        near = nearest(name, POLICIES)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise UsageError(f"unknown policy {name!r}{hint}: use one of {', '.join(POLICIES)}")
    return POLICIES[name]


def configured(policy: Policy, document: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the decoded KubeSchedulerConfiguration with the policy added to each profile.

    None stands for the default configuration.
    """
    if policy.plugin is None and not policy.strategy:
        return document
    made: dict[str, Any] = copy.deepcopy(dict(document or {}))
    made.setdefault("apiVersion", configuration.API_VERSION)
    made.setdefault("kind", configuration.KIND)
    made["profiles"] = [_with(policy, profile) for profile in made.get("profiles") or [{}]]
    return made


def _with(policy: Policy, profile: dict[str, Any]) -> dict[str, Any]:
    plugins = profile.setdefault("plugins", {})
    score = plugins.setdefault("score", {})
    gone = [BALANCED_ALLOCATION] if policy.strategy else [BALANCED_ALLOCATION, FIT]
    score["disabled"] = [*(score.get("disabled") or []), *({"name": name} for name in gone)]
    if policy.strategy:
        given = profile.get("pluginConfig") or []
        kept = [entry for entry in given if entry.get("name") != FIT]
        args = next((dict(entry.get("args") or {}) for entry in given if entry.get("name") == FIT), {})
        resources = (args.get("scoringStrategy") or {}).get("resources")
        args["scoringStrategy"] = {"type": policy.strategy, **({"resources": resources} if resources else {})}
        profile["pluginConfig"] = [*kept, {"name": FIT, "args": args}]
    if policy.plugin is not None:
        entry = {"name": policy.plugin.name, "weight": WEIGHT}
        score["enabled"] = [*(score.get("enabled") or []), entry]
        before = plugins.setdefault("preScore", {})
        before["enabled"] = [*(before.get("enabled") or []), {"name": policy.plugin.name}]
    return profile


def registered(policy: Policy, mix: Mix, others: Registry | None = None) -> Registry:
    """Return the registry with the policy's plugin added. The plugin scores nodes for the mix of pods."""
    made = Registry(others or {})
    plugin = policy.plugin
    if plugin is not None:
        made.register(plugin.name, _factory(plugin, mix))
    return made


def _factory(plugin: type[PolicyScore], mix: Mix) -> Factory:
    return lambda _args, handle: plugin(handle, mix)
