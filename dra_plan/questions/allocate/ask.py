"""The `Cluster` method for `allocate`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import ClaimSetOptions, Flag, spelled_out

if TYPE_CHECKING:
    from dra_plan.allocator import Probe
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.allocate.answer import AllocationPlan


class AllocateOptions(ClaimSetOptions, total=False):
    """The options that select claim sets, nodes and the level of detail."""

    together: Annotated[
        bool,
        Flag(
            "--together",
            ("Plan all pending claims together on a single node, including the claims of pods and workloads."),
        ),
    ]
    explain: Annotated[bool, Flag("--explain", "Add reason codes for each node to the output.")]
    jobs: Annotated[int, Flag("--jobs -j", "Use N processes.", metavar="N", least=1)]
    competing: bool
    probe: Probe | None


@spelled_out
def allocate(cluster: LoadedCluster, *owners: str, **options: Unpack[AllocateOptions]) -> AllocationPlan:
    """Return on which nodes the claim sets fit, and which devices the claims get.

    Each claim set is planned alone, against the current state of the cluster. `owners` are pods, workloads and claims,
    named as for kubectl ("deploy/serve", "po train", "train") or with a namespace ("default/train",
    "pod/default/train"). Owners are looked up in `namespace`, or in all namespaces if `namespace` is not set. They are
    planned even if a controller owns them. Without owners, everything that matches `namespace` and the label selector
    `selector` is planned. If `together` is set, all selected claims form one claim set.

    A claim set does not fit on a node that is cordoned, tainted or excluded by the pod's own rules, unless
    `devices_only` is set. If `explain` is set, the results say in `reasons` why nodes do not fit. `max_steps` limits
    each search, and `timeout` limits the total time in seconds; the results of unfinished searches are Undecided. The
    claim sets are divided among `jobs` processes. `competing` adds the result of scheduling all pods of the claim sets
    together, including replicas; it cannot be combined with `nodes`, `together` or `devices_only`. If there are no Node
    objects, `infer_nodes` creates them from the slices.

    `progress` is called with every result. If there is only one search, `probe` is called for each of its steps. Raises
    UsageError for an unknown owner or node, and InputError for input without nodes.
    """
    from dra_plan.arguments import at_least_one, truth
    from dra_plan.questions.allocate.answer import plan_claim_sets

    explain, jobs = truth(options.get("explain", False), "explain"), at_least_one(options.get("jobs", 1), "jobs")
    asked = cluster.question(owners, options)
    plan = plan_claim_sets(cluster.inventory, cluster.view, asked, explain=explain, jobs=jobs)
    if truth(options.get("competing", False), "competing"):
        from dra_plan.questions.allocate.competition import with_competition

        plan = with_competition(plan, cluster.inventory, cluster.target, asked)
    return cluster.with_edits(plan)
