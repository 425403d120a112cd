"""PodDisruptionBudgets as the disruption controller sees them, with the number of evictions that each allows."""

from __future__ import annotations

from dra_plan.api.core import PodDisruptionBudget
from dra_plan.claims.budgets import counted

from .state import ClusterState


def budgets(state: ClusterState) -> list[PodDisruptionBudget]:
    """Return the disruption budgets, each with the number of evictions that it currently allows."""
    return [counted(budget, state.index) for budget in state.inventory.disruption_budgets]
