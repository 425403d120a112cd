"""The `Cluster` method for `pools`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Flag, Names, WithoutNodes, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.pools.answer import PoolList


class PoolOptions(WithoutNodes, total=False):
    """The options that select pools."""

    drivers: Annotated[
        Names,
        Flag("--driver", "Show only the pools of this driver. Can be repeated.", metavar="NAME", kind=list[str] | None),
    ]
    states: Annotated[
        Names,
        Flag(
            "--state",
            "Show only pools in this state: Complete, Incomplete, Invalid or Obsolete. Can be repeated.",
            metavar="STATE",
            kind=list[str] | None,
        ),
    ]


@spelled_out
def pools(cluster: LoadedCluster, nodes: Names = None, **options: Unpack[PoolOptions]) -> PoolList:
    """Return the pools that are visible to these nodes, with their free capacity.

    If `nodes` is not given, all pools are returned.

    If `drivers` is given, the result contains only pools of these drivers. If `states` is given, it contains only pools
    in one of these states (Complete, Incomplete, Invalid or Obsolete). Raises UsageError for an unknown node, driver or
    state, and InputError for input without nodes.
    """
    from dra_plan.arguments import names
    from dra_plan.questions.pools.answer import list_pools

    listed = list_pools(
        cluster.inventory,
        cluster.view,
        cluster.question(options={"nodes": nodes, **options}),
        drivers=names(options.get("drivers"), "drivers"),
        states=names(options.get("states"), "states"),
    )
    return cluster.with_edits(listed)
