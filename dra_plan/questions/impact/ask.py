"""The `Cluster` method for `impact`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan.options import TAINT_RULES, Allotted, Flag, PodOptions, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.api.inventory import Inventory
    from dra_plan.documents.refusals import ApiServerRefusal
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.impact.answer import Impact
    from dra_plan.validation.served import RuntimeConfig


class ImpactOptions(PodOptions, Allotted, total=False):
    """The options that select pods."""

    to_kubernetes_version: Annotated[
        str | None,
        Flag(
            "--to-kubernetes-version",
            "Simulate an upgrade to this Kubernetes release.",
            metavar="VERSION",
            complete="versions",
        ),
    ]


@spelled_out
@within_its_time
def impact(
    cluster: LoadedCluster, objects: LoadedCluster | None = None, *owners: str, **options: Unpack[ImpactOptions]
) -> Impact:
    """Return what happens when `objects` are applied: which pods are terminated, left without a node, or started.

    The objects are applied as in `Cluster.applied`. If one of them is a DeviceTaintRule, the cluster is assumed to
    support DeviceTaintRules. If `to_kubernetes_version` is set, the cluster is also upgraded to this release, and
    DeviceTaintRules are supported only after the upgrade; `objects` may then be None. The other arguments and the
    errors are the same as for `schedule`. In addition, UsageError is raised if nothing would change.
    """
    from dataclasses import replace

    from dra_plan.arguments import required
    from dra_plan.errors import UsageError
    from dra_plan.loaded import LoadedCluster
    from dra_plan.planner.notices import of_assumed_rules
    from dra_plan.questions.impact.answer import WrittenChange, impact_of
    from dra_plan.whatif import Apply

    version = options.get("to_kubernetes_version")
    if objects is None and version is None:
        raise UsageError("nothing would change: give objects, or a release (to_kubernetes_version)")
    asked = cluster.question(owners, {name: each for name, each in options.items() if name != "to_kubernetes_version"})
    has_rules = False
    refused: list[ApiServerRefusal] = []
    after = cluster
    upgraded = cluster if version is None else cluster.at(version)
    if objects is not None:
        written = required(objects, LoadedCluster, "objects", "a Cluster").at(upgraded.target.release)
        serving = written.with_gate(TAINT_RULES) if written.inventory.taint_rules else written
        refused = _refused(serving, asked.runtime_config)
        taken = _taken(objects, refused)
        has_rules = bool(taken.taint_rules)
        after = cluster.edited(Apply(taken))
    later = upgraded.target_with(TAINT_RULES) if has_rules else upgraded.target
    before = cluster.target_with(TAINT_RULES) if has_rules and version is None else cluster.target
    applied = None if objects is None else after.what_if[-1]
    is_on, was_on = (each.features.device_taint_rules for each in (later, upgraded.target))
    notices = [of_assumed_rules(cluster.target)] if is_on and not was_on else []
    change = WrittenChange(after.inventory, later, applied, refused, notices)
    return replace(cluster.with_edits(impact_of(cluster.inventory, before, change, asked)), ignored=cluster.ignored)


def _refused(objects: LoadedCluster, runtime_config: RuntimeConfig | None) -> list[ApiServerRefusal]:
    """Return the rejections of single objects by the API server; pods and workloads are checked with the cluster."""
    from dra_plan.api.core import Pod
    from dra_plan.manifests import kinds
    from dra_plan.planner.refused import of_manifests
    from dra_plan.questions.validate.ask import validate

    findings = validate(objects, select=_ALONE, runtime_config=runtime_config).findings
    asked_later = {kind.name for kind in kinds.every() if kind.holder == "workloads"} | {Pod.__name__}
    return of_manifests(findings, asked_later)


def _taken(objects: LoadedCluster, refused: list[ApiServerRefusal]) -> Inventory:
    """Return the objects without the rejected ones, and without index entries under their names."""
    from dataclasses import replace

    if not refused:
        return objects.inventory
    gone = {(each.kind, each.namespace, each.name) for each in (one.owners[0] for one in refused)}
    names = ["/".join(filter(None, each)) for each in sorted(gone)]
    kept = objects.without(*names).inventory
    known: dict[str, Any] = {
        lookup: {key: said for key, said in getattr(kept, lookup).items() if key not in gone}
        for lookup in ("origins", "as_written", "texts")
    }
    return replace(kept, **known)


_ALONE = ("DRA0", "DRA1")
"""The rules that check one object."""
