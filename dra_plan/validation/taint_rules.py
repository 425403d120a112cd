"""Rules about DeviceTaintRules that depend on the devices in the input (DRA250 to DRA252)."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.allocator.taints import can_mean_devices, tainted
from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import DeviceTaintRule

from .formats import listed, nearest
from .input import Input
from .rule import Problem, warning
from .subject import Subject

EVERYTHING = warning(
    "DRA250",
    "taint rule that applies to every device",
    (
        "A rule with an empty selector taints all devices of all drivers. A rule without a selector "
        "should not taint any device, but releases up to 1.37 taint all devices "
        "(kubernetes/kubernetes#141620)."
    ),
    "Name the driver, the pool or the device that the rule is for.",
)
NOTHING = warning(
    "DRA251",
    "taint rule that applies to no device",
    "The rule matches no device in the input. A device must match all fields that are set.",
    "Correct the driver, pool or device.",
)
IGNORED = warning(
    "DRA252",
    "taint rule that is ignored",
    "DeviceTaintRules require the feature gate DRADeviceTaintRules.",
    "Enable the feature gate in the cluster, and pass it with `--feature-gates`.",
)
RULES = (EVERYTHING, NOTHING, IGNORED)

_SELECTOR: FieldPath = ("spec", "deviceSelector")


def check(given: Input) -> Iterator[tuple[Subject, Problem]]:
    """Check all DeviceTaintRules in the input."""
    for subject, rule in given.of(DeviceTaintRule):
        if not given.target.features.device_taint_rules:
            message = f"Kubernetes {given.target.version} ignores this object: feature gate DRADeviceTaintRules is off"
            yield subject, IGNORED.at(("spec",), message)
        for problem in _reach(given, rule):
            yield subject, problem


def _reach(given: Input, rule: DeviceTaintRule) -> Iterator[Problem]:
    selector = rule.spec.device_selector
    named = [] if selector is None else [name for name in ("driver", "pool", "device") if getattr(selector, name)]
    if not can_mean_devices(rule, given.target.quirks):
        yield NOTHING.at(("spec",), "the rule has no device selector, so no device gets the taint")
        return
    if selector is None or not named:
        what = "the rule has no device selector" if selector is None else "the selector has no driver, pool or device"
        yield EVERYTHING.at(_SELECTOR if selector is not None else ("spec",), f"{what}, so every device gets the taint")
        return
    devices = given.devices
    reached = any(
        len(tainted(device.device, device.id.pool_id, [rule])) > len(device.device.taints) for device in devices
    )
    if devices and not reached:
        wanted = ", ".join(f"{name} {getattr(selector, name)}" for name in named)
        message = f"no device in the input matches {wanted}"
        yield NOTHING.at(_SELECTOR, message, _meant(given, rule))


def _meant(given: Input, rule: DeviceTaintRule) -> str:
    """Return the first field with a name that no device has, and the nearest name that a device has."""
    selector = rule.spec.device_selector
    for name in ("driver", "pool", "device"):
        value = getattr(selector, name)
        known = {getattr(device.id, name) for device in given.devices}
        if value and value not in known:
            near = nearest(value, known)
            return f"{name}: {near}" if near else f"{name}: {listed(sorted(known), 1)}" if len(known) == 1 else ""
    return ""
