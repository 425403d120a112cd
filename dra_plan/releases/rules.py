"""Rules that differ between releases without being defects, and the allocator variants of each release."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from .gates import Features


class Rules(Struct, frozen=True, kw_only=True):
    """Rules of the allocator and the scheduler that differ between releases without being defects."""

    ordered: bool = True
    """Pools are searched by driver and name, and their slices by object name. If False, upstream's order is random."""
    sorted: bool = True
    """The simulation searches pools by driver and name. If False, it keeps the input order if upstream's is random."""
    bound_slices_last: bool = False
    """Slices with devices that have binding conditions are searched last."""
    bound_pools_last: bool = True
    """Pools with devices that have binding conditions are searched last."""
    counts_all_slices: bool = True
    """If a pool looks incomplete on a node, its slices are counted again across the whole cluster."""
    skips_unusable_pools: bool = True
    """Incomplete and invalid pools are skipped. If False, incomplete pools are used, and invalid pools are errors."""
    counter_slices: bool = True
    """Counter sets have their own slices and apply to the whole pool. If False, they belong to the device's slice."""
    checks_counter_references: bool = True
    """A pool is invalid if it has duplicate counter sets, or references to counters that do not exist."""
    unknown_effects_block: bool = False
    """All untolerated taints block a device. If False, only taints with the effect NoSchedule or NoExecute do."""
    resumes_scan: bool = True
    """The search for a request's next device starts after the previous one. If False, it starts at the beginning."""
    tolerations_in_result: bool = True
    shared_devices_hold_counters: bool = True
    """A device with allocated shares uses up its counters. If False, only dedicated devices use up counters."""
    distinct_attribute: bool = True
    binds_to_node: bool = True
    timeout_ends_attempt: bool = True
    """The scheduler stops with an error if filtering a node takes too long. If False, it rejects only that node."""
    names_untolerated_taint: bool = False
    """The scheduler's message names the node taint that the pod does not tolerate."""
    explains_selector_errors: bool = True
    """The error for a failing selector names the device and gives advice about missing keys."""
    checks_amounts: bool = True
    """A capacity request is an error for the pod if it is negative or has too many steps to count."""
    steps_keep_notation: bool = True
    """An amount rounded up to a step keeps the notation of the step. If False, it is in binary notation."""
    leaves_out_all_requests: bool = True
    """Configuration that applies to all requests of a claim names no requests in the allocation result."""
    ignores_compatibility_groups: bool = True
    """Without the feature gate, slices with compatibility groups are ignored. If False, the field is unknown."""
    missing_class_in_plural: bool = True
    """A missing class is reported as `deviceclasses.resource.k8s.io`. If False, `deviceclass` is in the singular."""
    scores_devices: bool = True
    """The scheduler's scores include the chosen alternatives and the extended resources that devices provide."""
    pod_groups: bool = False
    """PodGroups are supported, and feature gates decide whether the pods of a group are scheduled in one cycle."""


# -- allocator variants ------------------------------------------------------------------------------------------------


class Variant(NamedTuple):
    """An allocator implementation in a release: its rules, and the optional features that it supports."""

    name: str
    supports: frozenset[str]
    rules: Rules


_FOUR = frozenset({"admin_access", "prioritized_list", "partitionable_devices", "device_taints"})
_INCUBATING_136 = _FOUR | {"binding_conditions", "consumable_capacity"}
_OPTIONAL = _INCUBATING_136 | {"list_attributes"}

_RULES_137 = Rules()
_RULES_1363 = replace(
    _RULES_137,
    explains_selector_errors=False,
    checks_amounts=False,
    steps_keep_notation=False,
    leaves_out_all_requests=False,
    ignores_compatibility_groups=False,
    pod_groups=True,
)
_RULES_136 = replace(_RULES_1363, missing_class_in_plural=False)

_RULES_135 = replace(
    _RULES_136,
    ordered=False,
    sorted=False,
    bound_pools_last=False,
    resumes_scan=False,
    shared_devices_hold_counters=False,
    timeout_ends_attempt=False,
    pod_groups=False,
)
_RULES_135_STABLE = replace(
    _RULES_135, counter_slices=False, checks_counter_references=False, distinct_attribute=False, binds_to_node=False
)
_RULES_134 = replace(
    _RULES_135,
    counts_all_slices=False,
    skips_unusable_pools=False,
    counter_slices=False,
    checks_counter_references=False,
    unknown_effects_block=True,
    tolerations_in_result=False,
    scores_devices=False,
    names_untolerated_taint=True,
)
_RULES_134_STABLE = replace(_RULES_134, distinct_attribute=False, binds_to_node=False)


def _stable(rules: Rules) -> Rules:
    """Return the rules of the stable variants of 1.36, given those of the other two."""
    return replace(
        rules,
        ordered=False,
        bound_pools_last=False,
        resumes_scan=False,
        distinct_attribute=False,
        binds_to_node=False,
    )


def _since_136(rules: Rules) -> tuple[Variant, ...]:
    """Return the variants of a release since 1.36, given the rules of its incubating one."""
    return (
        Variant("stable", _FOUR, _stable(rules)),
        Variant("incubating", _INCUBATING_136, rules),
        Variant("experimental", _OPTIONAL, rules),
    )


def _experimental(rules: Rules) -> Rules:
    """Return the rules of the experimental variants of 1.34 and 1.35, given those of the other two."""
    return replace(rules, bound_slices_last=True, bound_pools_last=True)


VARIANTS: dict[str, tuple[Variant, ...]] = {
    "1.37.0": _since_136(_RULES_137),
    "1.36.3": _since_136(_RULES_1363),
    "1.36.2": _since_136(_RULES_136),
    "1.35.6": (
        Variant("stable", frozenset(), _RULES_135_STABLE),
        Variant("incubating", _FOUR, _RULES_135),
        Variant("experimental", _OPTIONAL, _experimental(_RULES_135)),
    ),
    "1.34.9": (
        Variant("stable", frozenset(), _RULES_134_STABLE),
        Variant("incubating", _FOUR, _RULES_134),
        Variant("experimental", _OPTIONAL, _experimental(_RULES_134)),
    ),
}


_TELLS_OF_LISTS = frozenset({"1.37.0"})
"""The releases whose scheduler passes list attributes to the allocator; in the others they select no variant (P11)."""


def variant_of(release: str, features: Features) -> Variant:
    """Return the allocator variant that the scheduler of a recorded release uses.

    The scheduler uses the first of the release's variants that supports all enabled features.
    """
    told = _OPTIONAL if release in _TELLS_OF_LISTS else _INCUBATING_136
    enabled = {name for name in told if getattr(features, name)}
    return next(variant for variant in VARIANTS[release] if enabled <= variant.supports)
