"""The `Cluster` method for `diff --drain each`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Flag, Names, PodOptions, Stepwise, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.drain_each.answer import DrainList


class DrainEachOptions(PodOptions, Stepwise, total=False):
    """The options that select the pods to check and the nodes to drain."""

    nodes: Names
    by: str | None
    jobs: Annotated[int, Flag("--jobs -j", "Use N processes for --drain each.", metavar="N", least=1)]


@spelled_out
@within_its_time
def drain_each(cluster: LoadedCluster, *owners: str, **options: Unpack[DrainEachOptions]) -> DrainList:
    """Return, for each node, the pods that would be left without a node if this node were drained.

    `nodes` are the nodes to drain, one at a time. By default, these are all nodes. If `by` is given, all nodes with the
    same value of this label are drained together, as in an N+1 check per rack. The result for a node agrees with `diff`
    between this cluster and the cluster that `drain` returns. The nodes are divided among `jobs` processes. The other
    arguments and the errors are the same as for `schedule`. In addition, an unknown node or label raises UsageError,
    and input without nodes raises InputError.
    """
    from dra_plan.arguments import at_least_one
    from dra_plan.questions.drain_each.answer import drain_each

    asked, jobs = cluster.question(owners, options), at_least_one(options.get("jobs", 1), "jobs")
    return cluster.with_edits(drain_each(cluster.inventory, cluster.target, asked, jobs, options.get("by")))
