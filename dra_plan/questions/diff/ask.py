"""The `Cluster` method for `diff`, and its options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Allotted, Bounded, Chosen, DevicesOnly, Flag, WithoutNodes, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.diff.answer import ClusterDiff


class DiffOptions(Chosen, DevicesOnly, WithoutNodes, Bounded, Allotted, total=False):
    """The options that select the subjects of the comparison."""

    together: Annotated[bool, Flag("--together", "Compare all pending claims as one set, and no pods.")]


@spelled_out
@within_its_time
def diff(cluster: LoadedCluster, other: LoadedCluster, *owners: str, **options: Unpack[DiffOptions]) -> ClusterDiff:
    """Return the differences of `other` from this cluster: claim sets, pods, pools, devices and selectors.

    `other` may have different objects, be an edit of this cluster, or have the same objects under another release
    (`at`). If controllers would act after a pass of the scheduler, both are settled, and pods that end are matched with
    their replacements. The other arguments and the errors are those of `allocate`; with `together` pods are not
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
