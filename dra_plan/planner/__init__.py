"""The public Python API: joins manifests, claim sets, the allocator and the scheduler into answers.

Functions that take plain dicts (`allocate`, `gather_pools`) and those that take a loaded inventory (`plan_inventory`,
`list_pools`). Nothing is printed or read from files here.
"""

from dra_plan.planner.allocation import AllocationPlan, allocate, plan_inventory
from dra_plan.planner.pool_list import PoolList, gather_pools, list_pools
from dra_plan.planner.question import Question

__all__ = ["AllocationPlan", "PoolList", "Question", "allocate", "gather_pools", "list_pools", "plan_inventory"]
