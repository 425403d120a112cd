"""The `Cluster` method for `maintain`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import Allotted, Bounded, Flag, Names, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.maintain.answer import MaintenancePlan


def _each(given: list[str] | None) -> list[str] | None:
    from dra_plan.planner.node_choice import split_list

    return [name for names in given or () for name in split_list(names)] or given


class MaintainOptions(Bounded, Allotted, total=False):
    """The options that select nodes and set how many nodes are drained at a time."""

    nodes: Annotated[
        Names,
        Flag(
            "--nodes",
            "Drain the nodes with these names or labels (default: all nodes). Can be repeated.",
            metavar="NAME,...|LABELS",
            complete="nodes",
            kind=list[str] | None,
            read=_each,
        ),
    ]
    at_once: Annotated[
        int | None, Flag("--at-once", "Drain at most N nodes in one wave (default: 1).", metavar="N", least=1)
    ]
    surge: Annotated[
        Names,
        Flag(
            "--surge",
            (
                "Add N temporary copies of a node. NODE is the name of a node, or a file that contains a "
                "node. The copies are drained last and then removed."
            ),
            metavar="N=NODE",
            complete="added_nodes",
            kind=list[str] | None,
        ),
    ]
    to: LoadedCluster | None
    to_kubernetes_version: Annotated[
        str | None,
        Flag(
            "--to-kubernetes-version",
            (
                "Plan an upgrade to this Kubernetes release. The scheduler is upgraded before the first "
                "wave. Each kubelet is upgraded while its node is drained."
            ),
            metavar="VERSION",
            complete="versions",
        ),
    ]


@spelled_out
@within_its_time
def maintain(cluster: LoadedCluster, **options: Unpack[MaintainOptions]) -> MaintenancePlan:
    """Return the waves in which these nodes can be drained and returned to service.

    After each wave, every pod that was running before the wave is running on a node that the scheduler chose. As with
    `kubectl drain`, disruption budgets are respected. If a budget allows no further eviction now, its pods are evicted
    later, when the replacements of other pods are ready.

    `surge` adds temporary nodes, given as N=NODE or N=FILE. Temporary nodes are drained last and then removed. `to`
    contains new ResourceSlices and Nodes for the drained nodes. A driver's new slices replace all of its slices on the
    node.

    Raises UsageError for an unknown node, and for an object in `to` that does not belong to exactly one node. Raises
    InputError for input without nodes.
    """
    from dra_plan.arguments import at_least_one, names, required
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.maintain.answer import Upgrade, maintenance
    from dra_plan.whatif import number_and_model

    at_once, to, version = options.get("at_once"), options.get("to"), options.get("to_kubernetes_version")
    most = 1 if at_once is None else at_least_one(at_once, "at_once")
    objects = None if to is None else required(to, LoadedCluster, "to", "a Cluster").inventory
    surge = [number_and_model("surge", text) for text in names(options.get("surge") or (), "surge")]
    asked = cluster.question((), {name: value for name, value in options.items() if name not in _OWN})
    cluster = cluster if version is None else cluster.at(version)
    kubelet = "" if version is None else cluster.target.release
    upgrade = Upgrade(to=objects, kubelet_version=kubelet, surge=surge)
    return cluster.with_edits(maintenance(cluster.inventory, cluster.target, asked, most, upgrade))


_OWN = ("at_once", "surge", "to", "to_kubernetes_version")
"""Options that are not part of the question."""
