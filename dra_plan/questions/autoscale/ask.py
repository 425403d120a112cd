"""The `Cluster` method for `autoscale`, and its options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan import shown
from dra_plan.errors import UsageError
from dra_plan.options import NODE_GROUP, Allotted, Bounded, Flag, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.autoscale.answer import AutoscalePlan, KarpenterPlan


ENGINES = ("cluster-autoscaler", "karpenter")


class AutoscaleOptions(Bounded, Allotted, total=False):
    """The options that describe the node groups and limit kube-scheduler's searches."""

    group: Annotated[
        str | Iterable[str],
        Flag(
            "--group",
            "Add a node group whose new nodes are copies of NODE, or of the node in FILE. Can be repeated.",
            metavar=NODE_GROUP,
            complete="nodes",
            kind=list[str] | None,
        ),
    ]
    expander: Annotated[
        str | None,
        Flag(
            "--expander",
            "Use this expander to choose among node groups that could grow (default: the first group).",
            metavar="NAME",
            complete="least-waste|most-pods|least-nodes|random|price|priority",
        ),
    ]

    engine: Annotated[
        str | None,
        Flag(
            "--engine",
            "Simulate this autoscaler: cluster-autoscaler (default) or karpenter.",
            metavar="NAME",
            complete="cluster-autoscaler|karpenter",
        ),
    ]


@spelled_out
@within_its_time
def autoscale(
    cluster: LoadedCluster, groups: Any = None, **options: Unpack[AutoscaleOptions]
) -> AutoscalePlan | KarpenterPlan:
    """Return which node groups one loop of the Cluster Autoscaler grows, and which nodes it could remove.

    `groups` is the path of a file, or a dict like the content of such a file, with `nodeGroups` and `options`. `group`
    adds node groups, written as NAME[=NODE|FILE][,min=N][,max=N][,current=N]. If neither is given, node groups are
    detected from node labels. `expander` selects how the autoscaler chooses among several groups that could grow:
    least-waste, most-pods or least-nodes. With random, price or priority, the result says that the choice is not known.

    If `engine` is "karpenter", each group is an instance type of a NodePool, and the result lists the NodeClaims that
    Karpenter would create. Raises InputError for invalid groups. Raises UsageError if there are no groups, or if a
    group for Karpenter has no template.
    """
    from dra_plan.arguments import names
    from dra_plan.questions.autoscale.answer import autoscale_cluster, provision_cluster
    from dra_plan.questions.autoscale.recognised import groups_for

    file = groups_for(cluster.inventory, groups, names(options.get("group"), "group"), options.get("expander"))
    engine = options.get("engine") or ENGINES[0]
    if engine not in ENGINES:
        raise UsageError(f"--engine: {shown.value(engine)} is not one of {', '.join(ENGINES)}")
    if engine == "karpenter":
        return cluster.with_edits(provision_cluster(cluster.inventory, cluster.target, file))
    own = ("group", "expander", "engine")
    asked = cluster.question((), {key: value for key, value in options.items() if key not in own})
    return cluster.with_edits(autoscale_cluster(cluster.inventory, cluster.target, file, asked))
