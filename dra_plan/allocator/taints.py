"""Device taints: those added by device taint rules, and the check that a request tolerates them (KEP-5055)."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.resource import Device, DeviceTaint, DeviceTaintRule, DeviceTaintSelector, DeviceToleration
from dra_plan.api.selectors import BLOCKING, tolerates
from dra_plan.releases import Features, Quirks, Rules

from .identity import PoolID
from .reasons import NotTolerated


def blocks(taint: DeviceTaint, rules: Rules) -> bool:
    """Return whether the taint rejects requests that do not tolerate it.

    A taint whose effect is None or unknown does not reject requests.
    """
    return rules.unknown_effects_block or taint.effect in BLOCKING


def effective_rules(rules: Sequence[DeviceTaintRule], features: Features, quirks: Quirks) -> Sequence[DeviceTaintRule]:
    """Return the device taint rules that apply.

    If the feature gate is off, no rules apply. Otherwise, all rules apply that can select a device.
    """
    return [rule for rule in rules if can_mean_devices(rule, quirks)] if features.device_taint_rules else ()


def can_mean_devices(rule: DeviceTaintRule, quirks: Quirks) -> bool:
    """Return whether the rule can taint any device.

    In upstream, a rule without a selector taints all devices (E1, kubernetes#141620).
    """
    return rule.spec.device_selector is not None or quirks.absent_device_selector_matches_all


def tainted(device: Device, pool: PoolID, rules: Sequence[DeviceTaintRule]) -> Sequence[DeviceTaint]:
    """Return the taints of the device: its own taints, and then the taints from the rules that select the device.

    The taints from rules are in the order of the rules.
    """
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
    """Return the first blocking taint that no toleration covers, or None if all are tolerated."""
    for taint in taints:
        if blocks(taint, rules) and not any(tolerates(toleration, taint) for toleration in tolerations):
            return NotTolerated(taint.key, taint.value, taint.effect)
    return None
