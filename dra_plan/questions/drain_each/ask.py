"""What `diff --drain each` can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Flag, Names, PodOptions, Stepwise, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.drain_each.answer import DrainList


class DrainEachOptions(PodOptions, Stepwise, total=False):
    """Which pods are looked at, and which nodes are drained."""

    nodes: Names
    by: str | None
    jobs: Annotated[int, Flag("--jobs -j", "Use N processes for --drain each.", metavar="N", least=1)]


@spelled_out
@within_its_time
def drain_each(cluster: LoadedCluster, *owners: str, **options: Unpack[DrainEachOptions]) -> DrainList:
    """What would have no place if a node were drained: each of `nodes` in turn, or each that there is.

    With `by`, a label, the nodes of each of its values are drained together: what N+1 per rack asks. A row says of
    pods what `diff` says with `drain`. `jobs` processes share the nodes. The other arguments, and what is raised, are
    those of `schedule`; UsageError also for an unknown node or label, InputError for an input without nodes.
    """
    from dra_plan.arguments import at_least_one
    from dra_plan.questions.drain_each.answer import drain_each

    asked, jobs = cluster.question(owners, options), at_least_one(options.get("jobs", 1), "jobs")
    return cluster.with_edits(drain_each(cluster.inventory, cluster.target, asked, jobs, options.get("by")))
