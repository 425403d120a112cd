"""The `Cluster` method for `place`, and its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Flag, PodOptions, Timed, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.place.answer import PlacementPlan


class PlaceOptions(PodOptions, Timed, total=False):
    """The options that select the pods, the goal and the search time."""

    most: Annotated[bool, Flag("--most", "Place as many pods as possible, starting with the highest priority.")]
    progress: Callable[[int, int], None] | None
    stopped: Callable[[], bool] | None


@spelled_out
def place(cluster: LoadedCluster, *owners: str, **options: Unpack[PlaceOptions]) -> PlacementPlan:
    """Return whether, and where, the pending pods can all run at the same time, regardless of kube-scheduler's choices.

    `owners`, including podgroup/NAME, or `namespace` and `selector`, select the pods. If `most` is set, as many pods as
    possible are placed. At each priority, the number of gangs that start matters most, and then the number of pods. A
    gang is placed with the number of pods that it needs, or not at all. The search ends after `timeout` seconds, or
    when `stopped` returns true, with the bounds known at this time. `progress` is called with the number of node kinds
    checked so far and the number of all node kinds. Raises UsageError for unknown owners, and InputError for input
    without nodes.
    """
    from dra_plan.arguments import callback, truth
    from dra_plan.questions.place.answer import place_pods

    asked, most = cluster.question(owners, options), truth(options.get("most", False), "most")
    stopped = callback(options.get("stopped"), "stopped")
    return cluster.with_edits(place_pods(cluster.inventory, cluster.target, asked, most=most, stopped=stopped))
