"""What `allocate` can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.options import ClaimSetOptions, Flag, spelled_out

if TYPE_CHECKING:
    from dra_plan.allocator import Probe
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.allocate.answer import AllocationPlan


class AllocateOptions(ClaimSetOptions, total=False):
    """Which claim sets, where, and how much is told of it."""

    together: Annotated[
        bool,
        Flag("--together", ("Plan all pending claims, also of pods and workloads, as one set on one node.")),
    ]
    explain: Annotated[bool, Flag("--explain", "Add reason codes: why each node refuses.")]
    jobs: Annotated[int, Flag("--jobs -j", "Use N processes.", metavar="N", least=1)]
    competing: bool
    probe: Probe | None


@spelled_out
def allocate(cluster: LoadedCluster, *owners: str, **options: Unpack[AllocateOptions]) -> AllocationPlan:
    """Where the claim sets fit and what they get, each on its own, against the cluster as it is.

    `owners` are pods, workloads and claims as kubectl names them ("deploy/serve", "po train", "train", with their
    namespace "default/train" or "pod/default/train"), in the namespace `namespace` or in any; each is planned
    whoever controls it. Without them, all that `namespace` and the labels of `selector` choose are planned.
    `together` joins all of it into one set. Nodes that are cordoned, tainted or not of the pod's choice do not
    count as fitting, unless `devices_only`. `explain` fills the `reasons` of nodes that do not fit. `max_steps`
    bounds one search, `timeout` the seconds of all; what is not answered by then is Undecided. `jobs`
    processes share the claim sets. `competing` adds what becomes of all their pods, replicas included, scheduled
    together (not with `nodes`, `together` or `devices_only`). Without Node objects `infer_nodes` makes
    them from the slices. `progress` hears of every answer, `probe` every step of the search, if it is one. Raises
    UsageError for an unknown owner or node, InputError for an input without nodes.
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
