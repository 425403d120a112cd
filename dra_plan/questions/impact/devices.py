"""How the change affects devices: which devices a taint rule selects, and which pools lose slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.allocator import View
from dra_plan.allocator.taints import can_mean_devices, tainted
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import DeviceTaintRule
from dra_plan.near import nearest
from dra_plan.planner.answer import counted
from dra_plan.questions.impact.document import BrokenPool, RuleTaint

SELECTS_NOTHING = "rule-taints-nothing"
"""The code of the warning about a rule that selects no device."""


def rule_taints(inventory: Inventory, view: View, written: Sequence[DeviceTaintRule]) -> list[RuleTaint]:
    """Return how many published devices each rule selects, and how many of the selected devices are allocated."""
    taken = {
        (one.driver, one.pool, one.device)
        for claim in inventory.claims
        if claim.allocation is not None
        for one in claim.allocation.devices.results
    }
    found = []
    for rule in written:
        reached = list(_reached(view, rule)) if view.target.features.device_taint_rules else []
        taint = rule.spec.taint
        found.append(
            RuleTaint(
                name=rule.metadata.name,
                key=taint.key,
                effect=taint.effect,
                devices=len(reached),
                in_use=len(taken.intersection(reached)),
                reason="" if reached else _mistaken(view, rule),
            )
        )
    return found


def _reached(view: View, rule: DeviceTaintRule) -> Iterator[tuple[str, str, str]]:
    if not can_mean_devices(rule, view.target.quirks):
        return
    for pool in view.gatherer.slices:
        for slice_ in view.gatherer.newest(pool).slices:
            for device in slice_.object.spec.devices:
                if len(tainted(device, pool, [rule])) > len(device.taints):
                    yield pool.driver, pool.pool, device.name


def of_rules(taints: Sequence[RuleTaint], inventory: Inventory) -> Iterator[Notice]:
    """Yield a notice for each rule that selects no device, which names the field that matches none."""
    for told in taints:
        if told.reason and told.reason != IGNORED:
            said, source = f"taints no device: {told.reason}", inventory.source(("DeviceTaintRule", "", told.name))
            yield Notice(SELECTS_NOTHING, said, f"DeviceTaintRule {told.name}", source)


IGNORED = "DRADeviceTaintRules is off"
"""The reason given for a rule when the cluster ignores taint rules."""


def _mistaken(view: View, rule: DeviceTaintRule) -> str:
    selector = rule.spec.device_selector
    if not view.target.features.device_taint_rules:
        return IGNORED
    if selector is None:
        return "it has no deviceSelector"
    names: dict[str, set[str]] = {"driver": set(), "pool": set(), "device": set()}
    for pool in view.gatherer.slices:
        names["driver"].add(pool.driver)
        names["pool"].add(pool.pool)
        slices = view.gatherer.newest(pool).slices
        names["device"].update(device.name for each in slices for device in each.object.spec.devices)
    for field, known in names.items():
        value = getattr(selector, field)
        if value and value not in known:
            meant = nearest(value, known)
            return f"no {field} is called {value}{f' (did you mean {meant}?)' if meant else ''}"
    return "no device matches everything in its deviceSelector"


def broken_pools(before: View, after: View) -> Iterator[BrokenPool]:
    """Yield the pools that are complete before the change and incomplete afterwards.

    A pool is complete if the number of its newest slices equals the number that they declare.
    """
    if before.slices is after.slices:
        return
    for pool in after.gatherer.slices:
        now = after.gatherer.newest(pool)
        if now.is_whole or (pool in before.gatherer.slices and not before.gatherer.newest(pool).is_whole):
            continue
        stated = sorted({each.object.spec.pool.resource_slice_count for each in now.slices})
        yield BrokenPool(driver=pool.driver, pool=pool.pool, slices=len(now.slices), stated=stated)


def broken(one: BrokenPool) -> str:
    """Return why no device of the pool can be allocated, without a full stop."""
    stated = " or ".join(map(str, one.stated))
    there = f"Pool {one.driver}/{one.pool} has {counted(one.slices, 'slice')}, and they say that it has {stated}"
    return f"{there}: none of its devices can be allocated until that is corrected"
