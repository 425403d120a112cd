"""`explain`: the pods of a lower priority on nodes without room, which a pod may preempt."""

from __future__ import annotations

from msgspec import structs

from dra_plan.documents.verdicts import RefusingNodes
from dra_plan.questions.explain.reasons import VerdictRun


def with_priorities(of: RefusingNodes, run: VerdictRun, priority: int) -> RefusingNodes:
    """Return the nodes with the number of pods below this priority, if other pods leave no room there."""
    if not any(one.is_of_room for one in of.about):
        return of
    there = [run.priority(pod) for node in of.nodes for pod in run.pods_on(node)]
    lower = sum(each < priority for each in there)
    return structs.replace(of, lower_priority=lower, priority=None if lower else min(there, default=None))
