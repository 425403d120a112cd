"""What `autoscale` can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from dra_plan.options import Bounded, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.autoscale.answer import AutoscalePlan


class AutoscaleOptions(Bounded, total=False):
    """How long kube-scheduler's searches may take."""


@spelled_out
def autoscale(cluster: LoadedCluster, groups: Any, **options: Unpack[AutoscaleOptions]) -> AutoscalePlan:
    """What one loop of the Cluster Autoscaler does: which groups grow for which pods, and which nodes could go.

    `groups` is the path of a file, or its content as a dict with `nodeGroups` and `options`. Raises InputError for
    groups that can't be understood.
    """
    from dra_plan.questions.autoscale.answer import autoscale_cluster
    from dra_plan.questions.autoscale.groups import groups_of, read_groups

    file = groups_of(groups) if isinstance(groups, dict) else read_groups(str(groups))
    asked = cluster.question((), dict(options))
    return cluster.with_edits(autoscale_cluster(cluster.inventory, cluster.target, file, asked))
