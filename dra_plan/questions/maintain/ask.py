"""What `maintain` can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Bounded, Flag, Names, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.maintain.answer import MaintenancePlan


def _each(given: list[str] | None) -> list[str] | None:
    from dra_plan.planner.node_choice import split_list

    return [name for names in given or () for name in split_list(names)] or given


class MaintainOptions(Bounded, total=False):
    """Which nodes, and how many at a time."""

    nodes: Annotated[
        Names,
        Flag(
            "--nodes",
            "The nodes to be drained, by name or label; repeatable (default: all).",
            metavar="NAME,...|LABELS",
            complete="nodes",
            kind=list[str] | None,
            read=_each,
        ),
    ]
    at_once: Annotated[int | None, Flag("--at-once", "At most N nodes in a wave (default: 1).", metavar="N", least=1)]


@spelled_out
def maintain(cluster: LoadedCluster, **options: Unpack[MaintainOptions]) -> MaintenancePlan:
    """An order in which these nodes can be drained and given back, wave by wave.

    After each wave every pod that ran has a node, placed by the scheduler, and no disruption budget is broken: pods
    leave as `kubectl drain` evicts them, as many as budgets allow, the next when their successors are ready. Raises
    UsageError for unknown nodes, InputError for an input without nodes.
    """
    from dra_plan.arguments import at_least_one
    from dra_plan.questions.maintain.answer import maintenance

    at_once = options.get("at_once")
    most = 1 if at_once is None else at_least_one(at_once, "at_once")
    asked = cluster.question((), {name: value for name, value in options.items() if name != "at_once"})
    return cluster.with_edits(maintenance(cluster.inventory, cluster.target, asked, most))
