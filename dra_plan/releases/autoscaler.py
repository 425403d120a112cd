"""The known defects of the Cluster Autoscaler. Each has a switch, a description and an upstream issue.

`--quirks` applies to these defects and to those of Kubernetes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

RELEASE = "1.36.1"
"""The recorded release of the Cluster Autoscaler."""

AutoscalerQuirk = Literal[
    "extended_devices_free",
    "idle_claims_stay",
    "full_claim_ends_loop",
    "daemon_devices_free",
    "daemon_claim_ends_loop",
    "missing_claim_ends_loop",
    "taint_rules_unread",
    "any_full_pool_is_full_node",
    "devices_hide_requests",
    "packs_without_devices",
    "similar_without_devices",
]
"""The field names of `AutoscalerQuirks`, for the type checker."""


class AutoscalerQuirks(Struct, frozen=True, kw_only=True):
    """Which of the autoscaler's known defects to reproduce. False stands for the intended behaviour."""

    extended_devices_free: bool = True
    idle_claims_stay: bool = True
    full_claim_ends_loop: bool = True
    daemon_devices_free: bool = True
    daemon_claim_ends_loop: bool = True
    missing_claim_ends_loop: bool = True
    taint_rules_unread: bool = True
    any_full_pool_is_full_node: bool = True
    devices_hide_requests: bool = True
    packs_without_devices: bool = True
    similar_without_devices: bool = True

    def without(self, *names: AutoscalerQuirk) -> AutoscalerQuirks:
        """Return a copy of the switches with the named defects fixed."""
        return replace(self, **dict.fromkeys(names, False))


AUTOSCALER = AutoscalerQuirks()
"""The recorded release's own behaviour, with all of its known defects."""

FIXED_AUTOSCALER = AUTOSCALER.without(*AUTOSCALER.__struct_fields__)  # type: ignore[arg-type]
"""The intended behaviour, without any known defect."""


class AutoscalerDefect(NamedTuple):
    """A defect of the autoscaler: its ID in this project, its switch, the upstream issues and its effect.

    The issues are a comma-separated list of OWNER/REPOSITORY#N, or "" if no issue is known.
    """

    id: str
    quirk: AutoscalerQuirk
    issue: str
    title: str
    instead: str
    """The behaviour with `--quirks fixed`."""


_CORE, _NEW = "kubernetes/autoscaler", "kubernetes-sigs/cluster-autoscaler"

AUTOSCALER_DEFECTS = (
    AutoscalerDefect("A1", "extended_devices_free", f"{_CORE}#8742, {_CORE}#10009", (
"devices that back extended resources are never treated as used, so any number of pods fits "
"on a node with one device"
), "the devices are treated as used"),
    AutoscalerDefect("A2", "idle_claims_stay", "", "if a claim is allocated but has no running pod, pods with this claim are rejected on every other node", "the claim is allocated again, as in kube-scheduler"),
    AutoscalerDefect("A3", "full_claim_ends_loop", "", (
"if a claim is reserved for 256 pods, there is an internal error: no pod is placed in the "
"group, or in any group in this loop"
), "only the pods beyond the first 256 are rejected"),
    AutoscalerDefect("A4", "daemon_devices_free", f"{_CORE}#7684", "devices of a DaemonSet appear to be free if its pod is not on the copied node", "the devices are treated as used"),
    AutoscalerDefect("A5", "daemon_claim_ends_loop", f"{_CORE}#7684", "if a DaemonSet pod on the copied node has devices that are not local to that node, the loop ends for all groups", "the copy of the pod has no devices"),
    AutoscalerDefect("A6", "missing_claim_ends_loop", "", "a bound or nominated pod whose claim is missing ends the loop", "the pod is counted without devices"),
    AutoscalerDefect("A7", "taint_rules_unread", f"{_CORE}#7947", (
"DeviceTaintRules are not read, so nodes are added although kube-scheduler cannot use their "
"devices"
), "the rules are read if the release supports them by default or by feature gate"),
    AutoscalerDefect("A8", "any_full_pool_is_full_node", f"{_CORE}#7781, {_NEW}#119", (
"the utilization of a node is the utilization of its fullest pool, even if that pool is a single "
"network card, and a share of a device is counted as the whole device"
), "all devices of the node are counted together, and a shared device is counted as one device"),
    AutoscalerDefect("A9", "devices_hide_requests", f"{_CORE}#7781, {_CORE}#8053", (
"on a node with devices, cpu and memory are ignored; devices without counters are also ignored if "
"their pool has counters"
), "the utilization of devices, cpu or memory is used, whichever is highest"),
    AutoscalerDefect("A10", "packs_without_devices", "", (
"pods are sorted only by cpu and memory. The order of equal pods is random, so the number "
"of nodes is also random"
), "pods with the most devices come first"),
    AutoscalerDefect("A11", "similar_without_devices", "", "groups are treated as similar even if their nodes have different devices", "groups are similar only if their nodes have the same devices"),
)  # fmt: skip

NOT_SWITCHED = {
    f"{_CORE}#7683": (
        "kube-scheduler decides whether pods with claims may be preempted; the autoscaler does not consider this"
    ),
    f"{_CORE}#9570": "claims of PodGroups are not simulated",
    f"{_CORE}#10199, {_CORE}#7783": (
        "a group without nodes has devices only if its cloud provider creates slices; the template "
        "in the groups file contains these slices"
    ),
    f"{_NEW}#120": "node resources that devices use (node allocatable) are not simulated",
    f"{_NEW}#22": "ProvisioningRequests are not simulated",
}
"""Known differences without a switch, and the reasons."""
