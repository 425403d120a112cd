"""Plan Kubernetes Dynamic Resource Allocation from manifests, with the same answers as kube-scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dra_plan.claims.sets import ClaimSet
    from dra_plan.live.pseudonyms import anonymized
    from dra_plan.live.snapshot import of_metrics as gates_of_metrics
    from dra_plan.manifests.load import LoadedObjects
    from dra_plan.manifests.load import load_objects as load
    from dra_plan.planner.claim_sets import AllocatedClaim, ClaimSetPlan
    from dra_plan.questions.allocate.answer import AllocationPlan
    from dra_plan.questions.autoscale.answer import AutoscalePlan
    from dra_plan.questions.capacity.answer import CapacityPlan
    from dra_plan.questions.diff.answer import ClusterDiff
    from dra_plan.questions.drain_each.answer import DrainList
    from dra_plan.questions.explain.answer import Explanation
    from dra_plan.questions.grow.answer import GrowthPlan
    from dra_plan.questions.impact.answer import Impact
    from dra_plan.questions.maintain.answer import MaintenancePlan
    from dra_plan.questions.place.answer import PlacementPlan
    from dra_plan.questions.pools.answer import PoolList
    from dra_plan.questions.repack.answer import RepackPlan
    from dra_plan.questions.replay.answer import Replay
    from dra_plan.questions.schedule.answer import SchedulePlan
    from dra_plan.questions.validate.answer import ValidationReport

    from .allocator import Allocator, DeviceID, NodeOutcome, Outcome, Pool, PoolID
    from .allotted import OutOfTimeError
    from .cluster import Cluster
    from .errors import DraPlanError, InputError, UsageError
    from .live import Snapshot, read_cluster
    from .shorthands import allocate, explain, gather_pools, schedule, validate

__version__ = "0.1.0"

_HOMES = {
    "AllocatedClaim": "dra_plan.planner.claim_sets",
    "AllocationPlan": "dra_plan.questions.allocate.answer",
    "Allocator": "dra_plan.allocator",
    "ClaimSet": "dra_plan.claims",
    "ClaimSetPlan": "dra_plan.planner.claim_sets",
    "Cluster": "dra_plan.cluster",
    "DeviceID": "dra_plan.allocator",
    "DraPlanError": "dra_plan.errors",
    "Explanation": "dra_plan.questions.explain.answer",
    "InputError": "dra_plan.errors",
    "LoadedObjects": "dra_plan.manifests.load",
    "NodeOutcome": "dra_plan.allocator",
    "OutOfTimeError": "dra_plan.allotted",
    "Outcome": "dra_plan.allocator",
    "Pool": "dra_plan.allocator",
    "PoolID": "dra_plan.allocator",
    "PlacementPlan": "dra_plan.questions.place.answer",
    "PoolList": "dra_plan.questions.pools.answer",
    "CapacityPlan": "dra_plan.questions.capacity.answer",
    "ClusterDiff": "dra_plan.questions.diff.answer",
    "DrainList": "dra_plan.questions.drain_each.answer",
    "GrowthPlan": "dra_plan.questions.grow.answer",
    "Impact": "dra_plan.questions.impact.answer",
    "AutoscalePlan": "dra_plan.questions.autoscale.answer",
    "MaintenancePlan": "dra_plan.questions.maintain.answer",
    "RepackPlan": "dra_plan.questions.repack.answer",
    "Replay": "dra_plan.questions.replay.answer",
    "SchedulePlan": "dra_plan.questions.schedule.answer",
    "Snapshot": "dra_plan.live",
    "UsageError": "dra_plan.errors",
    "ValidationReport": "dra_plan.questions.validate.answer",
    "allocate": "dra_plan.shorthands",
    "anonymized": "dra_plan.live.pseudonyms",
    "explain": "dra_plan.shorthands",
    "gates_of_metrics": "dra_plan.live.snapshot:of_metrics",
    "gather_pools": "dra_plan.shorthands",
    "load": "dra_plan.manifests.load:load_objects",
    "read_cluster": "dra_plan.live",
    "schedule": "dra_plan.shorthands",
    "validate": "dra_plan.shorthands",
}

__all__ = [
    "AllocatedClaim",
    "AllocationPlan",
    "Allocator",
    "AutoscalePlan",
    "CapacityPlan",
    "ClaimSet",
    "ClaimSetPlan",
    "Cluster",
    "ClusterDiff",
    "DeviceID",
    "DraPlanError",
    "DrainList",
    "Explanation",
    "GrowthPlan",
    "Impact",
    "InputError",
    "LoadedObjects",
    "MaintenancePlan",
    "NodeOutcome",
    "OutOfTimeError",
    "Outcome",
    "PlacementPlan",
    "Pool",
    "PoolID",
    "PoolList",
    "RepackPlan",
    "Replay",
    "SchedulePlan",
    "Snapshot",
    "UsageError",
    "ValidationReport",
    "__version__",
    "allocate",
    "anonymized",
    "explain",
    "gates_of_metrics",
    "gather_pools",
    "load",
    "read_cluster",
    "schedule",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return __all__
