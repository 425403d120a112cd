"""The `Cluster` method for `place`, and its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Flag, PodOptions, Timed, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.place.answer import PlacementPlan


class PlaceOptions(PodOptions, Timed, total=False):
    """The options that select the pods, set the goal, and limit the search time."""

    most: Annotated[bool, Flag("--most", "Place as many pods as possible, starting with the highest priority.")]
    progress: Callable[[int, int], None] | None
    stopped: Callable[[], bool] | None


@spelled_out
def place(cluster: LoadedCluster, *owners: str, **options: Unpack[PlaceOptions]) -> PlacementPlan:
    """Return whether all pending pods can run at the same time, and on which nodes.

    The scheduler may place pods elsewhere.

    The pods are selected by `owners`, which may include podgroup/NAME, or by `namespace` and `selector`. If `most` is
    set, as many pods as possible are placed. For each priority, from the highest down, the number of gangs is maximized
    first, and the number of pods second. A gang is placed only if the minimum number of its pods can be placed.

    If the search takes more than `timeout` seconds, or if `stopped` returns true, the result contains the bounds that
    have been proved by then. `progress` is called with the number of node kinds checked so far and their total number.
    Raises UsageError for unknown owners, and InputError for input without nodes.
    """
    from dra_plan.arguments import callback, truth
    from dra_plan.questions.place.answer import place_pods

    asked, most = cluster.question(owners, options), truth(options.get("most", False), "most")
    stopped = callback(options.get("stopped"), "stopped")
    return cluster.with_edits(place_pods(cluster.inventory, cluster.target, asked, most=most, stopped=stopped))
