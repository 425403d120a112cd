"""Selectors that fail on devices, written so that they don't: with guards in front, or for one driver only."""

from __future__ import annotations

from collections.abc import Callable

from dra_plan.allocator import PoolDevice
from dra_plan.cel.parts import Reference, references
from dra_plan.cel.rewrite import for_driver, guarded

from .published import look_up

MOST_GUARDS = 8
"""Times that guards are added before it is given up."""


def mended(expression: str, fails_on: Callable[[str], PoolDevice | None]) -> str | None:
    """The expression with guards, or else for one of the drivers that it names, that fails on nothing; None if none.

    `fails_on` gives a device on which an expression fails, or None.
    """
    text, drivers = expression, set()
    for _ in range(MOST_GUARDS):
        device = fails_on(text)
        if device is None:
            return text
        drivers.add(device.id.driver)
        better = guarded(text, _lacking(text, device))
        if better is None:
            break
        text = better
    for domain in dict.fromkeys(reference.domain for reference in references(expression)):
        limited = for_driver(expression, domain)
        if domain and domain not in drivers and fails_on(limited) is None:
            return limited
    return None


def _lacking(text: str, device: PoolDevice) -> list[Reference]:
    """The attributes and capacities that the expression reads, not as optional, and the device has not."""
    read = (reference for reference in references(text, "read") if reference.kind in ("attribute", "capacity"))
    return [reference for reference in read if look_up(device, reference) is None]
