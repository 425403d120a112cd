"""Plans Kubernetes Dynamic Resource Allocation from manifests alone, with kube-scheduler's own answer.

The public names are imported when first used, so that `import dra_plan` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dra_plan.allocator import Allocator, DeviceID, Pool, PoolID
    from dra_plan.errors import DraPlanError, InputError, UsageError
    from dra_plan.manifests.loaded import load_objects as load
    from dra_plan.planner import AllocationPlan, PoolList, allocate, gather_pools
    from dra_plan.planner.scheduling import SchedulePlan, schedule
    from dra_plan.planner.validation import ValidationReport, validate

__version__ = "0.1.0"

_HOMES = {
    "AllocationPlan": "dra_plan.planner",
    "Allocator": "dra_plan.allocator",
    "DeviceID": "dra_plan.allocator",
    "DraPlanError": "dra_plan.errors",
    "InputError": "dra_plan.errors",
    "Pool": "dra_plan.allocator",
    "PoolID": "dra_plan.allocator",
    "PoolList": "dra_plan.planner",
    "SchedulePlan": "dra_plan.planner.scheduling",
    "UsageError": "dra_plan.errors",
    "ValidationReport": "dra_plan.planner.validation",
    "allocate": "dra_plan.planner",
    "gather_pools": "dra_plan.planner",
    "load": "dra_plan.manifests.loaded:load_objects",
    "schedule": "dra_plan.planner.scheduling",
    "validate": "dra_plan.planner.validation",
}

__all__ = [
    "AllocationPlan",
    "Allocator",
    "DeviceID",
    "DraPlanError",
    "InputError",
    "Pool",
    "PoolID",
    "PoolList",
    "SchedulePlan",
    "UsageError",
    "ValidationReport",
    "__version__",
    "allocate",
    "gather_pools",
    "load",
    "schedule",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute or name)
