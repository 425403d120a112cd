"""What `diff` can be asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Allotted, Bounded, Chosen, DevicesOnly, Flag, WithoutNodes, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.diff.answer import ClusterDiff


class DiffOptions(Chosen, DevicesOnly, WithoutNodes, Bounded, Allotted, total=False):
    """What is compared."""

    together: Annotated[bool, Flag("--together", "Compare all pending claims as one set, and no pods.")]


@spelled_out
@within_its_time
def diff(cluster: LoadedCluster, other: LoadedCluster, *owners: str, **options: Unpack[DiffOptions]) -> ClusterDiff:
    """What `other` answers differently from this cluster: claim sets, pods, pools, devices and selectors.

    `other` may hold other objects, be an edit of this one, or the same objects under another release (`at`). Where
    controllers would act after a pass of the scheduler, both are settled, and pods that end are followed to those
    in their place. The other arguments, and what is raised, are those of `allocate`; with `together` pods are not
    scheduled.
    """
    from dra_plan.arguments import required
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.diff.answer import State, compare

    required(other, LoadedCluster, "other", "a Cluster")
    before, after = (State(each.inventory, each.view, each.what_if) for each in (cluster, other))
    return replace(
        compare(before, after, cluster.question(owners, options)),
        ignored=cluster.ignored,
        drawn=(after.inventory, after.view),
    )
