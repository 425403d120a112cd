"""The `Cluster` method for `explain`, and its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan.options import NODE_GROUP, ClaimSetOptions, Flag, Names, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.explain.answer import Explanation


class ExplainOptions(ClaimSetOptions, total=False):
    """The options that select claim sets, devices and nodes, and set the maximum number of moves."""

    devices: Annotated[
        Names,
        Flag(
            "--device",
            "Show the result of every check for this device. Can be repeated.",
            metavar="DRIVER/POOL/DEVICE",
            complete="devices",
            kind=list[str] | None,
        ),
    ]
    together: Annotated[
        bool,
        Flag(
            "--together",
            ("Explain whether all pending claims, including those of pods and workloads, fit together on one node."),
        ),
    ]
    moves: Annotated[
        int | None, Flag("--moves", "Find up to N running pods that could be moved to make room.", metavar="N", least=1)
    ]

    groups: Annotated[
        str | Mapping[str, Any] | None,
        Flag(
            "--groups",
            "Read node groups from this file, and also show what the Cluster Autoscaler would do with them.",
            metavar="FILE",
            kind=str | None,
        ),
    ]
    group: Annotated[
        Names,
        Flag(
            "--group",
            "Also consider a node group whose new nodes are copies of NODE, or of the node in FILE. Can be repeated.",
            metavar=NODE_GROUP,
            complete="nodes",
            kind=list[str] | None,
        ),
    ]


@spelled_out
def explain(cluster: LoadedCluster, *owners: str, **options: Unpack[ExplainOptions]) -> Explanation:
    """Return the verdict on each owner (`verdicts`), why claims fit or do not fit, and which changes would help.

    The verdicts are those of `schedule` for all pending pods in the input. If `devices_only` or `together` is set,
    there are no verdicts. `devices` are given as DRIVER/POOL/DEVICE. For an owner of the form podgroup/NAME, the result
    also says why this pod group starts or does not start (`pod_groups`). If `moves` is set, the result names up to
    `moves` running pods that would have to leave for each pending pod. `groups` and `group` are node groups, as for
    `autoscale`. If node groups are given, the result says what the autoscaler would do.

    The other arguments and the errors are the same as for `allocate`. In addition, UsageError is raised for an unknown
    device.
    """
    from dra_plan.arguments import at_least_one, names
    from dra_plan.questions.explain.answer import explain_claim_sets

    asked, moves = cluster.question(owners, options), options.get("moves")
    most = None if moves is None else at_least_one(moves, "moves")
    devices = names(options.get("devices"), "devices")
    found = explain_claim_sets(cluster.inventory, cluster.view, asked, devices=devices, moves=most)
    groups, more = options.get("groups"), names(options.get("group"), "group")
    if groups is not None or more:
        from dra_plan.questions.explain.autoscaler import autoscaled_pods

        found = replace(found, autoscaler=tuple(autoscaled_pods(cluster, asked, groups, more)))
    return cluster.with_edits(found)
