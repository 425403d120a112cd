"""What each Kubernetes release does: gates and their defaults, allocator variants, rules and known defects.

Literal tables and their look-up, nothing else. All other code asks `features.x`, `rules.x` or `quirks.x`
and never compares a version. Sources: the feature gate tables of the releases and the upstream issues named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from .api.notice import Notice
from .errors import UsageError

NEWEST = "1.36"
RECORDED = {"1.34": "1.34.9", "1.35": "1.35.6", "1.36": "1.36.2"}
"""Selectable minor versions and the patch release whose outcomes were recorded for them."""

QUIRK_MODES = ("upstream", "fixed")


class FeatureGate(NamedTuple):
    """A feature gate in one release: alpha, beta or GA, its default, and whether it is locked to it."""

    stage: str
    default: bool
    locked: bool = False


_ALPHA, _BETA_OFF, _BETA, _GA, _LOCKED = (
    FeatureGate("alpha", False),
    FeatureGate("beta", False),
    FeatureGate("beta", True),
    FeatureGate("GA", True),
    FeatureGate("GA", True, locked=True),
)

_GATES: dict[str, dict[str, FeatureGate]] = {
    "DynamicResourceAllocation": {"1.34": _GA, "1.35": _LOCKED, "1.36": _LOCKED},
    "DRAAdminAccess": {"1.34": _BETA, "1.35": _BETA, "1.36": _LOCKED},
    "DRAPrioritizedList": {"1.34": _BETA, "1.35": _BETA, "1.36": _GA},
    "DRAPartitionableDevices": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA},
    "DRADeviceTaints": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA},
    "DRADeviceTaintRules": {"1.35": _ALPHA, "1.36": _BETA_OFF},
    "DRAResourceClaimDeviceStatus": {"1.34": _BETA, "1.35": _BETA, "1.36": _BETA},
    "DRADeviceBindingConditions": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA},
    "DRAConsumableCapacity": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA},
    "DRAExtendedResource": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA},
    "DRASchedulerFilterTimeout": {"1.34": _BETA, "1.35": _BETA, "1.36": _BETA},
    "DRAListTypeAttributes": {"1.36": _ALPHA},
    "DRANodeAllocatableResources": {"1.36": _ALPHA},
    "DRAWorkloadResourceClaims": {"1.36": _ALPHA},
    "DRAResourcePoolStatus": {"1.36": _ALPHA},
    "DRAResourceClaimGranularStatusAuthorization": {"1.36": _BETA},
}

_NEEDS = {
    "DRADeviceTaintRules": "DRADeviceTaints",
    "DRADeviceBindingConditions": "DRAResourceClaimDeviceStatus",
    "DRAResourceClaimGranularStatusAuthorization": "DRAResourceClaimDeviceStatus",
}


class Features(Struct, frozen=True, kw_only=True):
    """Optional behaviour that gates switch; each one changes the control flow of the allocator at least once."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    device_taint_rules: bool = False
    binding_conditions: bool = True
    consumable_capacity: bool = True
    extended_resources: bool = True
    list_attributes: bool = False
    node_allocatable: bool = False
    filter_timeout: bool = True


class Rules(Struct, frozen=True, kw_only=True):
    """How a release's allocator variant works where releases differ without either being defective."""

    ordered: bool = True
    """Upstream searches pools by driver and name, and their slices by object name; otherwise in random order."""
    sorted: bool = True
    """This tool takes them in that order, also where upstream's is random; otherwise in the order of the input."""
    bound_slices_last: bool = False
    """Slices whose devices have binding conditions are met after all others."""
    bound_pools_last: bool = True
    """Pools with binding conditions come after all others."""
    counts_all_slices: bool = True
    """A pool that looks incomplete on the node is counted again over all slices of the cluster."""
    skips_unusable_pools: bool = True
    """Incomplete and invalid pools are passed over; otherwise incomplete ones are used and invalid ones are fatal."""
    counter_slices: bool = True
    """Counter sets stand in slices of their own and hold for the pool; otherwise in, and for, the device's slice."""
    checks_counter_references: bool = True
    """Duplicate counter sets and dangling counter references make a pool invalid."""
    unknown_effects_block: bool = False
    """Every untolerated taint blocks; otherwise only those with effect NoSchedule or NoExecute."""
    resumes_scan: bool = True
    """A request's next device is sought after the previous one; otherwise from the beginning."""
    tolerations_in_result: bool = True
    shared_devices_hold_counters: bool = True
    """Devices with allocated shares count as allocated for counters; otherwise only dedicated ones do."""
    distinct_attribute: bool = True
    binds_to_node: bool = True
    timeout_ends_attempt: bool = True
    """A filter that takes too long on one node is an error for the pod; otherwise it rejects that node."""
    names_untolerated_taint: bool = False
    """The scheduler says which taint of a node is not tolerated."""
    scores_devices: bool = True
    """The chosen alternatives of claims, and extended resources that devices serve, count in the scheduler's scores."""


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
]
"""The names of the known defects: the fields of `Quirks`, written out so that the type checker knows them."""


class Quirks(Struct, frozen=True, kw_only=True):
    """Known defects: True reproduces the release, False does what the API promises. `DEFECTS` describes each."""

    counters_by_pool_name: bool = True
    distinct_remembers_last: bool = True
    rejection_leaks_counters: bool = True
    shared_undo_keeps_counters: bool = True
    duplicate_claim_config: bool = True
    negative_counter_blocks_pool: bool = True
    admin_pays: bool = True
    admin_take_blocks: bool = True
    all_drops_exhausted: bool = True
    all_with_constraint_fatal: bool = True
    all_with_broken_pool_fatal: bool = True
    one_term_selectors_only: bool = True
    counter_slices_everywhere: bool = True
    first_slice_counts: bool = True
    local_generation_only: bool = True
    literal_capacity_names: bool = True
    share_without_capacity_pays_twice: bool = True
    late_all_failure_leaks: bool = True
    default_compared_by_form: bool = True
    whole_steps: bool = True
    all_alternative_loses_index: bool = False
    capacity_of_wrong_device: bool = False
    losing_class_loses_implicit_name: bool = True
    absent_device_selector_matches_all: bool = True
    taint_rule_crashes: bool = True
    list_constraints_as_scalars: bool = True
    fit_score_without_pod_level: bool = True

    def among(self, names: Iterable[Quirk]) -> tuple[Quirk, ...]:
        """Those of the names that the release has, in name order."""
        return tuple(sorted(name for name in names if getattr(self, name)))

    def without(self, *names: Quirk) -> Quirks:
        """The same quirks with the named ones repaired."""
        return replace(self, **dict.fromkeys(names, False))


FIXED = Quirks(**dict.fromkeys(Quirks.__struct_fields__, False))
"""No defect at all: what the API promises."""


class Defect(NamedTuple):
    """A defect of upstream: its id here, the field of `Quirks`, the upstream issue (0: none filed) and what happens."""

    id: str
    quirk: Quirk
    issue: int
    title: str


DEFECTS = (
    Defect("Q1", "counters_by_pool_name", 140434, "counter totals are kept per pool name, so drivers that share a pool name share them"),
    Defect("Q2", "distinct_remembers_last", 140438, "distinctAttribute remembers only the last value of each request"),
    Defect("Q4", "rejection_leaks_counters", 140436, "a device refused for a taint or a constraint keeps its counters"),
    Defect("Q5", "shared_undo_keeps_counters", 140436, "giving back a shared device does not give back its counters"),
    Defect("Q6", "duplicate_claim_config", 0, "a claim configuration for several requests appears several times"),
    Defect("Q7", "negative_counter_blocks_pool", 0, "one over-committed counter blocks every counter-consuming device of the pool"),
    Defect("Q8", "admin_pays", 140729, "admin access pays counters and capacity"),
    Defect("Q9", "admin_take_blocks", 0, "a device taken with admin access is refused to a later claim"),
    Defect("Q10", "all_drops_exhausted", 0, "All leaves out an exhausted shared device instead of failing"),
    Defect("Q11", "all_with_constraint_fatal", 0, "All and a constraint that fails stop the pod on all nodes"),
    Defect("Q12", "all_with_broken_pool_fatal", 141829, "All next to an unrelated broken pool stops the pod on all nodes"),
    Defect("Q14", "one_term_selectors_only", 141212, "a device whose node selector has several terms can't be allocated"),
    Defect("Q15", "counter_slices_everywhere", 0, "a pool with shared counters is looked at on every node"),
    Defect("Q16", "first_slice_counts", 0, "where slices disagree on their number, the first one listed decides"),
    Defect("Q17", "local_generation_only", 0, "an old generation that looks complete on its node stays in use"),
    Defect("Q18", "literal_capacity_names", 0, "a capacity request without the driver's domain does not match a qualified name"),
    Defect("Q19", "share_without_capacity_pays_twice", 140433, "a share without consumed capacity is charged its counters again"),
    Defect("Q21", "late_all_failure_leaks", 0, "All that fails late leaves its constraint entry and counters behind"),
    Defect("Q22", "default_compared_by_form", 0, "the default of a request policy is compared with its notation"),
    Defect("Q23", "whole_steps", 140160, "steps of a capacity range are rounded up to whole units"),
    Defect("Q20", "all_alternative_loses_index", 0, "from its second device on, an All alternative is mistaken for the first alternative"),
    Defect("C1", "capacity_of_wrong_device", 0, "capacity is first checked on another device of the slice: on its first for a request's first device, on its second for the second"),
    Defect("P11", "list_constraints_as_scalars", 0, "list attributes reach selectors but not constraints"),
    Defect("P12", "fit_score_without_pod_level", 0, "NodeResourcesFit scores a pod without its pod-level requests"),
    Defect("E1", "absent_device_selector_matches_all", 141620, "a taint rule without device selector taints every device"),
    Defect("E2", "losing_class_loses_implicit_name", 141103, "a class that loses its extended resource name loses its implicit name too"),
    Defect("E3", "taint_rule_crashes", 0, "the first device taint rule crashes the scheduler"),
)  # fmt: skip

NOT_APPLICABLE = {
    "Q3": "only in the experimental variant with list attributes, which no gate of 1.36 selects (see P11)",
    "Q13": "no defect: the API says that an error in a selector ends the allocation",
    "Q20": "releases before 1.34 can't be selected; the part that 1.35 still has is switchable",
    "Q24": "of two classes that claim one extended resource name the newer wins: documented behaviour, not a defect",
    "Q25": "manifests can't tell what a device consumed that is no longer published",
    "Q26": "the stable variant is a choice by gates, not a defect; the plan names the variant",
    "Q27": "a crash of earlier patch releases; those recorded have the repair",
}
"""Defects without a switch, and why."""


class _Variant(NamedTuple):
    name: str
    supports: frozenset[str]
    rules: Rules


_FOUR = frozenset({"admin_access", "prioritized_list", "partitionable_devices", "device_taints"})
_INCUBATING_136 = _FOUR | {"binding_conditions", "consumable_capacity"}
_OPTIONAL = _INCUBATING_136 | {"list_attributes"}

_RULES_136 = Rules()
_RULES_136_STABLE = Rules(
    ordered=False, bound_pools_last=False, resumes_scan=False, distinct_attribute=False, binds_to_node=False
)
_RULES_135 = Rules(
    ordered=False,
    sorted=False,
    bound_pools_last=False,
    resumes_scan=False,
    shared_devices_hold_counters=False,
    timeout_ends_attempt=False,
    names_untolerated_taint=True,
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
)
_RULES_134_STABLE = replace(_RULES_134, distinct_attribute=False, binds_to_node=False)


def _experimental(rules: Rules) -> Rules:
    """What the experimental variants of 1.34 and 1.35 do otherwise than the other two."""
    return replace(rules, bound_slices_last=True, bound_pools_last=True)


_VARIANTS: dict[str, tuple[_Variant, ...]] = {
    "1.36": (
        _Variant("stable", _FOUR, _RULES_136_STABLE),
        _Variant("incubating", _INCUBATING_136, _RULES_136),
        _Variant("experimental", _OPTIONAL, _RULES_136),
    ),
    "1.35": (
        _Variant("stable", frozenset(), _RULES_135_STABLE),
        _Variant("incubating", _FOUR, _RULES_135),
        _Variant("experimental", _OPTIONAL, _experimental(_RULES_135)),
    ),
    "1.34": (
        _Variant("stable", frozenset(), _RULES_134_STABLE),
        _Variant("incubating", _FOUR, _RULES_134),
        _Variant("experimental", _OPTIONAL, _experimental(_RULES_134)),
    ),
}

# C1 is our own number: seen in the outcomes of 1.34 only, gone in 1.35.
_QUIRKS = {
    "1.36": Quirks(),
    "1.35": Quirks(all_alternative_loses_index=True, taint_rule_crashes=False, list_constraints_as_scalars=False),
    "1.34": Quirks(
        all_alternative_loses_index=True,
        capacity_of_wrong_device=True,
        taint_rule_crashes=False,
        counter_slices_everywhere=False,
    ),
}


class Target(Struct, frozen=True, kw_only=True):
    """What an answer is for. `notices` are the warnings of choosing it."""

    version: str
    release: str
    variant: str
    gates: Mapping[str, bool]
    features: Features
    rules: Rules
    quirks: Quirks
    quirk_mode: str
    notices: tuple[Notice, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether upstream's order of pools is fixed; otherwise the answer is one of several possible."""
        return self.rules.ordered

    def with_quirks(self, quirks: Quirks) -> Target:
        """The same target with other quirks."""
        return replace(self, quirks=quirks)

    def repaired(self, *quirks: Quirk) -> Target:
        """The same target without the named quirks; without any name, without all of them."""
        return self.with_quirks(self.quirks.without(*quirks) if quirks else FIXED)


def gate_defaults(version: str) -> dict[str, bool]:
    """The known gates of a minor version and their defaults, in name order."""
    return {name: stages[version].default for name, stages in sorted(_GATES.items()) if version in stages}


def target(
    kubernetes_version: str = NEWEST, feature_gates: Mapping[str, bool] | None = None, quirks: str = "upstream"
) -> Target:
    """The target for a version (`1.36`, `v1.36.3`, `1.36.2-eks-1`), gates that differ from its defaults, and quirks.

    Raises UsageError for a version that can't be selected, an unknown gate, a gate whose prerequisite is off,
    and an unknown quirk mode.
    """
    return _target(str(kubernetes_version), tuple(sorted((feature_gates or {}).items())), quirks)


@lru_cache(maxsize=64)
def _target(kubernetes_version: str, changed: tuple[tuple[str, bool], ...], quirks: str) -> Target:
    if quirks not in QUIRK_MODES:
        raise UsageError(f"unknown quirks mode {quirks!r}: use one of {', '.join(QUIRK_MODES)}")
    version, notices = _parse_version(kubernetes_version)
    gates = _gates(version, changed, notices)
    features = _features(gates)
    variant = _variant(version, features)
    chosen = _QUIRKS[version] if quirks == "upstream" else FIXED
    return Target(
        version=version,
        release=RECORDED[version],
        variant=variant.name,
        gates=gates,
        features=features,
        rules=variant.rules,
        quirks=chosen,
        quirk_mode=quirks,
        notices=tuple(notices),
    )


_VERSION = re.compile(r"v?(1)\.(\d+)(?:\.(\d+))?(?:[-+].*)?\Z")


def _parse_version(text: str) -> tuple[str, list[Notice]]:
    match = _VERSION.match(text.strip())
    version = f"{match[1]}.{int(match[2])}" if match else ""
    if match is None or version not in RECORDED:
        raise UsageError(f"unknown Kubernetes version {text!r}: outcomes are known for {', '.join(sorted(RECORDED))}")
    if match[3] is None or f"{version}.{int(match[3])}" == RECORDED[version]:
        return version, []
    told = f"{version}.{int(match[3])} has no recorded outcomes; the answer is for {RECORDED[version]}"
    return version, [Notice("release-not-recorded", told)]


def _gates(version: str, changed: tuple[tuple[str, bool], ...], notices: list[Notice]) -> dict[str, bool]:
    gates = gate_defaults(version)
    for name, value in changed:
        if name not in gates:
            raise UsageError(f"unknown feature gate {name!r} in {version}: known are {', '.join(gates)}")
        gate = _GATES[name][version]
        if gate.locked and value != gate.default:
            told = f"{name} is locked to {str(gate.default).lower()} in {version}; the answer is as if it were not"
            notices.append(Notice("gate-locked", told))
        gates[name] = bool(value)
    for name, needed in _NEEDS.items():
        if dict(changed).get(name) and not gates[needed]:
            notices.append(Notice("gate-needs", f"{name} has no effect without {needed}"))
    return gates


def _features(gates: Mapping[str, bool]) -> Features:
    on = gates.get
    taints = bool(on("DRADeviceTaints"))
    return Features(
        admin_access=bool(on("DRAAdminAccess")),
        prioritized_list=bool(on("DRAPrioritizedList")),
        partitionable_devices=bool(on("DRAPartitionableDevices")),
        device_taints=taints,
        # 1.34 has no gate of its own for the rules: they come with the taints
        device_taint_rules=taints and bool(on("DRADeviceTaintRules", taints)),
        binding_conditions=bool(on("DRADeviceBindingConditions")) and bool(on("DRAResourceClaimDeviceStatus")),
        consumable_capacity=bool(on("DRAConsumableCapacity")),
        extended_resources=bool(on("DRAExtendedResource")),
        list_attributes=bool(on("DRAListTypeAttributes")),
        node_allocatable=bool(on("DRANodeAllocatableResources")),
        filter_timeout=bool(on("DRASchedulerFilterTimeout")),
    )


def _variant(version: str, features: Features) -> _Variant:
    """The first variant that supports all optional features; list attributes never choose one in 1.36 (P11)."""
    enabled = {name for name in _INCUBATING_136 if getattr(features, name)}
    return next(variant for variant in _VARIANTS[version] if enabled <= variant.supports)
