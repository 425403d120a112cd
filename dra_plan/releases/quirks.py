"""The known defects of Kubernetes. Each has a switch, a description, and a list of recorded releases that have it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from .versions import RECORDED

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
"""The field names of `Quirks`, for the type checker."""


class Quirks(Struct, frozen=True, kw_only=True):
    """Which of the known defects of Kubernetes to reproduce. False stands for the behaviour that the API promises."""

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
        """Return the named quirks that are switched on, sorted by name."""
        return tuple(sorted(name for name in names if getattr(self, name)))

    def without(self, *names: Quirk) -> Quirks:
        """Return a copy of the switches with the named quirks fixed."""
        return replace(self, **dict.fromkeys(names, False))


FIXED = Quirks()
"""The behaviour that the API promises, without any known defect."""


# -- the defects -------------------------------------------------------------------------------------------------------
# A defect is named where it is first switched on, and ends with the first release whose line no longer has it. E1 and
# E2 concern the API server's controllers and the scheduler's class cache; P11, P12 and G the scheduler (G pod groups).
# C1 is our own number: it was only seen in the outcomes of 1.34.


class Defect(NamedTuple):
    """A defect of Kubernetes: its ID in this project, its field in `Quirks`, the upstream issue and its effect.

    The issue number is 0 if no issue has been filed.
    """

    id: str
    quirk: Quirk
    issue: int
    title: str
    releases: tuple[str, ...]
    """The recorded patch releases that have the defect."""
    remark: str = ""
    """How newer releases in `releases` behave differently, if they do."""

    @property
    def began(self) -> str:
        """The first recorded release that has the defect. Earlier releases may have it too."""
        return self.releases[0]

    @property
    def ended(self) -> str:
        """The first recorded release in which the defect is fixed, or "" if the newest one still has it."""
        later = RECORDED[RECORDED.index(self.releases[-1]) + 1 :]
        return later[0] if later else ""


_TO_1_36_2 = RECORDED[: RECORDED.index("1.36.2") + 1]
_TO_1_36_3 = RECORDED[: RECORDED.index("1.36.3") + 1]
_GROUPS = ("1.36.2", "1.36.3")
"""The releases that schedule pods in groups if gates enable it."""

DEFECTS = (
    Defect("Q1", "counters_by_pool_name", 140434, "counter totals are stored by pool name, so two drivers share the totals if their pools have the same name", _TO_1_36_3),
    Defect("Q2", "distinct_remembers_last", 140438, "distinctAttribute compares a device only with the last device of each request", _TO_1_36_3),
    Defect("Q4", "rejection_leaks_counters", 140436, "the counters of a device that is rejected because of a taint or a constraint stay charged", _TO_1_36_2),
    Defect("Q5", "shared_undo_keeps_counters", 140436, "releasing a shared device does not release its counters", _TO_1_36_2),
    Defect("Q6", "duplicate_claim_config", 0, "a claim configuration that applies to several requests appears several times in the allocation", _TO_1_36_3),
    Defect("Q7", "negative_counter_blocks_pool", 0, "one overcommitted counter blocks every device in the pool that consumes counters", RECORDED),
    Defect("Q8", "admin_pays", 140729, "a device that is allocated with admin access is charged counters and capacity", RECORDED),
    Defect("Q9", "admin_take_blocks", 0, "a device that is allocated with admin access is not available to a later claim", RECORDED),
    Defect("Q10", "all_drops_exhausted", 0, "a request for All devices skips an exhausted shared device instead of failing", _TO_1_36_3),
    Defect("Q11", "all_with_constraint_fatal", 0, "a request for All devices whose constraint fails on one node rejects the pod on all nodes", RECORDED),
    Defect("Q12", "all_with_broken_pool_fatal", 141829, "if a node has a broken pool, a request for All devices prevents the pod from being scheduled on any node", RECORDED),
    Defect("Q14", "one_term_selectors_only", 141212, "a device whose node selector has several terms cannot be allocated", RECORDED),
    Defect("Q15", "counter_slices_everywhere", 0, "a pool with shared counters is checked on every node, not only on nodes that can access it", ("1.35.6", "1.36.2", "1.36.3")),
    Defect("Q16", "first_slice_counts", 0, "if the slices of a pool disagree about the number of slices, the first slice in the list decides", RECORDED),
    Defect("Q17", "local_generation_only", 0, "an old generation of a pool is still used if it appears complete on its node", RECORDED),
    Defect("Q18", "literal_capacity_names", 0, "a capacity request that omits the driver's domain does not match a capacity whose name has the domain", RECORDED),
    Defect("Q19", "share_without_capacity_pays_twice", 140433, "the counters of an allocated share without consumed capacity are charged twice", _TO_1_36_3),
    Defect("Q21", "late_all_failure_leaks", 0, "if a request for All devices fails late, its constraint values and counters are not released", _TO_1_36_2),
    Defect("Q22", "default_compared_by_form", 0, "the default of a request policy is compared as a string", RECORDED),
    Defect("Q23", "whole_steps", 140160, "steps of a capacity range are rounded up to whole units", RECORDED, "since 1.37.0, only if DRAFractionalCapacityRange is off or the steps are finer than thousandths"),
    Defect("Q20", "all_alternative_loses_index", 0, "from its second device on, an alternative with allocation mode All is treated as the first alternative", ("1.34.9", "1.35.6")),
    Defect("C1", "capacity_of_wrong_device", 0, (
"capacity is checked on the wrong device: for the Nth device of a request, the Nth device in "
"the slice is checked first"
), ("1.34.9",)),
    Defect("P11", "list_constraints_as_scalars", 0, "list attributes are visible to selectors but not to constraints", ("1.36.2", "1.36.3")),
    Defect("P12", "fit_score_without_pod_level", 0, "NodeResourcesFit ignores pod-level requests when it scores nodes for a pod", RECORDED),
    Defect("G1", "completing_pod_goes_first", 0, "the pod that completes a gang is tried first, and the earlier pods are tried in random order", _GROUPS),
    Defect("G3", "members_preempt_alone", 0, "pods of a gang evict other pods before it is known that enough pods of the gang fit", _GROUPS),
    Defect("G4", "extra_pod_holds_back", 0, "if a pod beyond minCount has to preempt other pods, it blocks the whole gang", _GROUPS),
    Defect("G5", "shared_pending_anywhere", 140087, "if a claim was just allocated for another pod of the group, its devices are not checked against the node", _GROUPS),
    Defect("G6", "shared_allocations_mixed_up", 140087, "if a pod shares a claim that was just allocated and also needs a new claim, the allocations of the two claims are swapped", _GROUPS),
    Defect("G7", "shared_claims_conflict", 0, "if pods of a group share a new claim, all pods except the first fail to bind and are retried", _GROUPS),
    Defect("G10", "gangs_bound_in_parts", 0, "a gang stays partly bound if some of its pods fail to bind", _GROUPS),
    Defect("G11", "group_reservations_shifted", 0, (
"if an entry in a pod's resourceClaims needs no claim, the wrong claims are reserved for "
"the group"
), _GROUPS),
    Defect("G14", "group_evicts_its_own", 0, "a pod of a group can evict another pod of the same group", _GROUPS),
    Defect("E1", "absent_device_selector_matches_all", 141620, "a taint rule without a device selector taints every device", RECORDED),
    Defect("E2", "losing_class_loses_implicit_name", 141103, "a class that loses its extended resource name also loses its implicit name", RECORDED),
    Defect("E3", "taint_rule_crashes", 139651, "the scheduler ignores device taint rules that are created while it runs, and crashes at the next change of slices or classes", ("1.36.2",)),
)  # fmt: skip

NOT_APPLICABLE = {
    "Q3": (
        "the defect exists only in the experimental allocator with list attributes, which no feature gate in "
        "1.36 selects (see P11); the defect was fixed in 1.37.0"
    ),
    "Q13": "this is not a defect, because the API specifies that a selector error ends the allocation",
    "Q20": "this part of the defect is in releases before 1.34, which cannot be selected; there is a switch for the part that is in 1.34 and 1.35",
    "Q24": (
        "if two classes have the same extended resource name, the newer class is used, which is "
        "documented behaviour and not a defect"
    ),
    "Q25": "manifests do not show how much of a device is used if the device is no longer published",
    "Q26": "this is not a defect, because feature gates select the stable allocator; the plan names the allocator variant",
    "Q27": (
        "if a request for All devices includes a device that consumes counters, the scheduler crashes in "
        "1.35 before 1.35.6, in 1.36.0 and in 1.36.1, but not in the recorded releases"
    ),
}
"""Defects without a switch, and the reasons."""


def quirks_of(release: str) -> Quirks:
    """Return the switches for a recorded release, which reproduce its defects."""
    return Quirks(**{defect.quirk: True for defect in DEFECTS if release in defect.releases})
