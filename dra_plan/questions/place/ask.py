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
    """Return whether all pending pods can run at the same time, and where.

    kube-scheduler may place them differently. The pods are selected by `owners`, which may include podgroup/NAME, or by
    `namespace` and `selector`. If `most` is set, as many pods as possible are placed: in order of priority, first as
    many gangs as possible, and then as many pods. A gang is placed with the number of pods that it needs, or not at
    all.

    If the search takes more than `timeout` seconds, or `stopped` returns true, the result contains the bounds proved so
    far. `progress` is called with the number of node kinds checked so far and their total number. Raises UsageError for
    unknown owners, and InputError for input without nodes.
    """
    from dra_plan.arguments import callback, truth
    from dra_plan.questions.place.answer import place_pods

    asked, most = cluster.question(owners, options), truth(options.get("most", False), "most")
    stopped = callback(options.get("stopped"), "stopped")
    return cluster.with_edits(place_pods(cluster.inventory, cluster.target, asked, most=most, stopped=stopped))
