"""What `place` can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Flag, PodOptions, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.place.answer import PlacementPlan


class PlaceOptions(PodOptions, total=False):
    """Which pods, and how many of them have to run."""

    most: Annotated[bool, Flag("--most", "Place as many as possible, pods of high priority before all others.")]


@spelled_out
def place(cluster: LoadedCluster, *owners: str, **options: Unpack[PlaceOptions]) -> PlacementPlan:
    """Whether the pods that wait can all run at the same time, whatever kube-scheduler would do, and where.

    `owners`, also podgroup/NAME, or `namespace` and `selector`, choose which pods. With `most` as many as possible
    are placed, by priority. Raises UsageError for unknown owners, InputError for an input without nodes.
    """
    from dra_plan.arguments import truth
    from dra_plan.questions.place.answer import place_pods

    asked, most = cluster.question(owners, options), truth(options.get("most", False), "most")
    return cluster.with_edits(place_pods(cluster.inventory, cluster.target, asked, most=most))
