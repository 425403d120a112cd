"""What `place` can be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Flag, PodOptions, Timed, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.place.answer import PlacementPlan


class PlaceOptions(PodOptions, Timed, total=False):
    """Which pods, how many of them have to run, and how long a placement is sought."""

    most: Annotated[bool, Flag("--most", "Place as many pods as possible, highest priority first.")]
    progress: Callable[[int, int], None] | None
    stopped: Callable[[], bool] | None


@spelled_out
def place(cluster: LoadedCluster, *owners: str, **options: Unpack[PlaceOptions]) -> PlacementPlan:
    """Whether the pods that wait can all run at the same time, whatever kube-scheduler would do, and where.

    `owners`, also podgroup/NAME, or `namespace` and `selector`, choose which pods. With `most` as many as possible
    are placed, by priority: first gangs that start, then pods. A gang is there with as many pods as it needs, or not
    at all. After `timeout` seconds, or when `stopped` says so, the search ends with the bounds that it has by then;
    `progress` hears how many kinds of nodes were asked about, and of how many. Raises UsageError for unknown owners,
    InputError for an input without nodes.
    """
    from dra_plan.arguments import callback, truth
    from dra_plan.questions.place.answer import place_pods

    asked, most = cluster.question(owners, options), truth(options.get("most", False), "most")
    stopped = callback(options.get("stopped"), "stopped")
    return cluster.with_edits(place_pods(cluster.inventory, cluster.target, asked, most=most, stopped=stopped))
