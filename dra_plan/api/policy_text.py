"""What a request policy allows, in words. Nothing here decides whether an amount is allowed."""

from __future__ import annotations

from collections.abc import Callable

from .resource import CapacityRequestPolicy


def allowed(policy: CapacityRequestPolicy | None, listed: Callable[[list[str]], str]) -> str:
    """The values as `listed` words them, or `from 10G to 60G in steps of 10G`; empty without values and range."""
    if policy is None:
        return ""
    if policy.valid_values:
        return listed([str(value) for value in policy.valid_values])
    if policy.valid_range is None:
        return ""
    ends = (("from", policy.valid_range.min), ("to", policy.valid_range.max), ("in steps of", policy.valid_range.step))
    return " ".join(f"{word} {end}" for word, end in ends if end is not None)
