"""Device taints, including those from device taint rules, and tolerations (KEP-5055)."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.resource import Device, DeviceTaint, DeviceTaintRule, DeviceTaintSelector, DeviceToleration
from dra_plan.api.selectors import BLOCKING, tolerates
from dra_plan.releases import Features, Quirks, Rules

from .identity import PoolID
from .reasons import NotTolerated


def blocks(taint: DeviceTaint, rules: Rules) -> bool:
    """Return whether the taint rejects requests that do not tolerate it.

    A taint with effect NoSchedule or NoExecute always does. Other effects depend on the release.
    """
    return rules.unknown_effects_block or taint.effect in BLOCKING


def effective_rules(rules: Sequence[DeviceTaintRule], features: Features, quirks: Quirks) -> Sequence[DeviceTaintRule]:
    """Return the device taint rules that can select a device, or no rules if the feature gate is off."""
    return [rule for rule in rules if can_mean_devices(rule, quirks)] if features.device_taint_rules else ()


def can_mean_devices(rule: DeviceTaintRule, quirks: Quirks) -> bool:
    """Return whether the rule can select any device.

    In upstream, a rule without a device selector selects all devices (E1, kubernetes#141620).
    """
    return rule.spec.device_selector is not None or quirks.absent_device_selector_matches_all


def tainted(device: Device, pool: PoolID, rules: Sequence[DeviceTaintRule]) -> Sequence[DeviceTaint]:
    """Return the device's own taints, followed by the taints of the rules that select it."""
    if not rules:
        return device.taints
    return [*device.taints, *(rule.spec.taint for rule in rules if _means(rule.spec.device_selector, device, pool))]


def _means(selector: DeviceTaintSelector | None, device: Device, pool: PoolID) -> bool:
    """Return whether the selector selects the device.

    Rules without a selector get here only if they select every device (E1).
    """
    if selector is None:
        return True
    return (
        selector.driver in (None, pool.driver)
        and selector.pool in (None, pool.pool)
        and selector.device in (None, device.name)
    )


def first_untolerated(
    taints: Sequence[DeviceTaint], tolerations: Sequence[DeviceToleration], rules: Rules
) -> NotTolerated | None:
    """Return the first blocking taint that is not tolerated, or None."""
    for taint in taints:
        if blocks(taint, rules) and not any(tolerates(toleration, taint) for toleration in tolerations):
            return NotTolerated(taint.key, taint.value, taint.effect)
    return None
