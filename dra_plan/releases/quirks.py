"""The switches of known defects. What each is, and which releases have it, is in `defects`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Quirk = Literal[
    "counters_by_pool_name",
    "distinct_remembers_last",
    "rejection_leaks_counters",
    "shared_undo_keeps_counters",
    "duplicate_claim_config",
    "negative_counter_blocks_pool",
    "admin_pays",
    "admin_take_blocks",
    "all_drops_exhausted",
    "all_with_constraint_fatal",
    "all_with_broken_pool_fatal",
    "one_term_selectors_only",
    "counter_slices_everywhere",
    "first_slice_counts",
    "local_generation_only",
    "literal_capacity_names",
    "share_without_capacity_pays_twice",
    "late_all_failure_leaks",
    "default_compared_by_form",
    "whole_steps",
    "all_alternative_loses_index",
    "capacity_of_wrong_device",
    "losing_class_loses_implicit_name",
    "absent_device_selector_matches_all",
    "taint_rule_crashes",
    "list_constraints_as_scalars",
    "fit_score_without_pod_level",
    "completing_pod_goes_first",
    "members_preempt_alone",
    "extra_pod_holds_back",
    "shared_pending_anywhere",
    "shared_allocations_mixed_up",
    "shared_claims_conflict",
    "gangs_bound_in_parts",
    "group_reservations_shifted",
    "group_evicts_its_own",
]
"""The names of the known defects: the fields of `Quirks`, written out so that the type checker knows them."""


class Quirks(Struct, frozen=True, kw_only=True):
    """Known defects: True reproduces the release, False does what the API promises."""

    counters_by_pool_name: bool = False
    distinct_remembers_last: bool = False
    rejection_leaks_counters: bool = False
    shared_undo_keeps_counters: bool = False
    duplicate_claim_config: bool = False
    negative_counter_blocks_pool: bool = False
    admin_pays: bool = False
    admin_take_blocks: bool = False
    all_drops_exhausted: bool = False
    all_with_constraint_fatal: bool = False
    all_with_broken_pool_fatal: bool = False
    one_term_selectors_only: bool = False
    counter_slices_everywhere: bool = False
    first_slice_counts: bool = False
    local_generation_only: bool = False
    literal_capacity_names: bool = False
    share_without_capacity_pays_twice: bool = False
    late_all_failure_leaks: bool = False
    default_compared_by_form: bool = False
    whole_steps: bool = False
    all_alternative_loses_index: bool = False
    capacity_of_wrong_device: bool = False
    losing_class_loses_implicit_name: bool = False
    absent_device_selector_matches_all: bool = False
    taint_rule_crashes: bool = False
    list_constraints_as_scalars: bool = False
    fit_score_without_pod_level: bool = False
    completing_pod_goes_first: bool = False
    members_preempt_alone: bool = False
    extra_pod_holds_back: bool = False
    shared_pending_anywhere: bool = False
    shared_allocations_mixed_up: bool = False
    shared_claims_conflict: bool = False
    gangs_bound_in_parts: bool = False
    group_reservations_shifted: bool = False
    group_evicts_its_own: bool = False

    def among(self, names: Iterable[Quirk]) -> tuple[Quirk, ...]:
        """Those of the names that the release has, in name order."""
        return tuple(sorted(name for name in names if getattr(self, name)))

    def without(self, *names: Quirk) -> Quirks:
        """The same quirks with the named ones repaired."""
        return replace(self, **dict.fromkeys(names, False))


FIXED = Quirks()
"""No defect at all: what the API promises."""
