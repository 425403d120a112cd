"""What `impact` can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from dra_plan.options import PodOptions, spelled_out

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.impact.answer import Impact


class ImpactOptions(PodOptions, total=False):
    """Whose pods are told."""


@spelled_out
def impact(cluster: LoadedCluster, objects: LoadedCluster, *owners: str, **options: Unpack[ImpactOptions]) -> Impact:
    """What `objects` would do if they were applied to this cluster: who ends and when, who gets no place, what starts.

    They are written as by `Cluster.applied`. A DeviceTaintRule among them says that the cluster serves these. The
    other arguments, and what is raised, are those of `schedule`.
    """
    from dataclasses import replace

    from dra_plan.arguments import required
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.impact.answer import impact_of

    after = cluster.applied(required(objects, LoadedCluster, "objects", "a Cluster"))
    target = cluster.target_with(TAINT_RULES) if objects.inventory.taint_rules else cluster.target
    found = impact_of(cluster.inventory, after.inventory, after.what_if[-1], target, cluster.question(owners, options))
    return replace(cluster.with_edits(found), ignored=cluster.ignored)


TAINT_RULES = "DRADeviceTaintRules"
"""The gate of device taint rules."""
