"""What `impact` can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import TAINT_RULES, Allotted, Flag, PodOptions, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.impact.answer import Impact


class ImpactOptions(PodOptions, Allotted, total=False):
    """Whose pods are told."""

    to_kubernetes_version: Annotated[
        str | None,
        Flag(
            "--to-kubernetes-version",
            "Release after an upgrade.",
            metavar="VERSION",
            complete="versions",
        ),
    ]


@spelled_out
@within_its_time
def impact(
    cluster: LoadedCluster, objects: LoadedCluster | None = None, *owners: str, **options: Unpack[ImpactOptions]
) -> Impact:
    """What `objects` would do if they were applied to this cluster: who ends and when, who gets no place, what starts.

    They are written as by `Cluster.applied`. A DeviceTaintRule among them says that the cluster serves these;
    with `to_kubernetes_version`, as the cluster is of that release after, only then. `objects` may then be None. The
    other arguments, and what is raised, are those of `schedule`; UsageError if nothing changes.
    """
    from dataclasses import replace

    from dra_plan.arguments import required
    from dra_plan.errors import UsageError
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.impact.answer import WrittenChange, impact_of

    version = options.get("to_kubernetes_version")
    if objects is None and version is None:
        raise UsageError("nothing would change: give objects, or a release (to_kubernetes_version)")
    asked = cluster.question(owners, {name: each for name, each in options.items() if name != "to_kubernetes_version"})
    after = cluster if objects is None else cluster.applied(required(objects, LoadedCluster, "objects", "a Cluster"))
    has_rules = objects is not None and bool(objects.inventory.taint_rules)
    upgraded = cluster if version is None else cluster.at(version)
    later = upgraded.target_with(TAINT_RULES) if has_rules else upgraded.target
    before = cluster.target_with(TAINT_RULES) if has_rules and version is None else cluster.target
    written = None if objects is None else after.what_if[-1]
    change = WrittenChange(after.inventory, later, written)
    return replace(cluster.with_edits(impact_of(cluster.inventory, before, change, asked)), ignored=cluster.ignored)
