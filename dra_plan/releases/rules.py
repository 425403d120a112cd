"""How releases work where they differ without being defective: one switch a rule."""

from __future__ import annotations

from msgspec import Struct


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
    explains_selector_errors: bool = True
    """A selector that fails names the device, and advises on keys that are missing."""
    checks_amounts: bool = True
    """A capacity request that is negative, or that steps can't be counted for, is an error for the pod."""
    steps_keep_notation: bool = True
    """An amount rounded up to a step is written as the step is; otherwise in binary form."""
    leaves_out_all_requests: bool = True
    """Configuration for all requests of a claim names none in the result."""
    ignores_compatibility_groups: bool = True
    """Without the gate, slices with compatibility groups do not exist; otherwise nobody knows the field."""
    missing_class_in_plural: bool = True
    """A class that does not exist is one of `deviceclasses.resource.k8s.io`; otherwise of `deviceclass.resource...`."""
    scores_devices: bool = True
    """The chosen alternatives of claims, and extended resources that devices serve, count in the scheduler's scores."""
    pod_groups: bool = False
    """PodGroups exist, and their pods are scheduled in one cycle; gates switch it. Otherwise pods come one by one."""
