"""The `Cluster` method for `diff`, and its options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import (
    TAINT_RULES,
    Allotted,
    Bounded,
    Chosen,
    DevicesOnly,
    Flag,
    WithoutNodes,
    spelled_out,
    within_its_time,
)

if TYPE_CHECKING:
    from dra_plan.api.inventory import Notice
    from dra_plan.api.resource import DeviceTaintRuleSpec
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.diff.answer import ClusterDiff


class DiffOptions(Chosen, DevicesOnly, WithoutNodes, Bounded, Allotted, total=False):
    """The options that select what is compared."""

    together: Annotated[
        bool,
        Flag(
            "--together",
            ("For each cluster, check whether all pending claims fit together on one node. Pods are not compared."),
        ),
    ]


@spelled_out
@within_its_time
def diff(cluster: LoadedCluster, other: LoadedCluster, *owners: str, **options: Unpack[DiffOptions]) -> ClusterDiff:
    """Return how `other` differs from this cluster in claim sets, pods, pools, devices and selectors.

    `other` may be a cluster with different objects, an edited copy of this cluster, or this cluster with another
    release (see `at`). If controllers would act after the scheduler, both clusters are simulated until nothing
    changes any more. Pods that have ended are compared with their replacements. If `together` is set, pods are not
    scheduled. The other arguments and the errors are the same as for `allocate`.
    """
    from dra_plan.arguments import required
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.diff.answer import State, compare

    required(other, LoadedCluster, "other", "a Cluster")
    cluster, other, assumed = _with_rules(cluster, other)
    before, after = (State(each.inventory, each.view, each.what_if) for each in (cluster, other))
    found = compare(before, after, cluster.question(owners, options))
    return replace(
        found,
        notices=(*assumed, *found.notices),
        ignored=cluster.ignored,
        drawn=(after.inventory, after.view),
    )


def _with_rules(
    cluster: LoadedCluster, other: LoadedCluster
) -> tuple[LoadedCluster, LoadedCluster, tuple[Notice, ...]]:
    """Return both states with device taint rules served if these differ, and the note about what is assumed.

    A state under another release keeps its gates, so that an upgrade shows which rules take effect.
    """
    from dra_plan.planner.notices import of_assumed_rules

    if _rules(cluster) == _rules(other):
        return cluster, other, ()
    served = other.with_gate(TAINT_RULES)
    if served.target == other.target:
        return cluster, other, ()
    before = cluster.with_gate(TAINT_RULES) if cluster.target == other.target else cluster
    return before, served, (of_assumed_rules(other.target),)


def _rules(cluster: LoadedCluster) -> dict[str, DeviceTaintRuleSpec]:
    return {rule.metadata.name: rule.spec for rule in cluster.inventory.taint_rules}
