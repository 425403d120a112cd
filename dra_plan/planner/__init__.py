"""The public Python API: joins manifests, claim sets, the allocator and the scheduler into answers.

Functions that take plain dicts (`allocate`, `gather_pools`, `schedule`) and those that take a loaded inventory
(`plan_inventory`, `list_pools`). Nothing is printed or read from files here.
"""

from dra_plan.planner.allocation import AllocationPlan, allocate, plan_inventory


__all__ = ["AllocationPlan", "allocate", "plan_inventory"]
