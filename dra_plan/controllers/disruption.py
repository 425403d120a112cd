"""PodDisruptionBudgets as the disruption controller keeps them: how many evictions each still allows."""

from __future__ import annotations

from dra_plan.api.core import PodDisruptionBudget
from dra_plan.claims.budgets import counted

from .state import ClusterState


def budgets(state: ClusterState) -> list[PodDisruptionBudget]:
    """The budgets with what they allow now."""
    return [counted(budget, state.index) for budget in state.inventory.disruption_budgets]
