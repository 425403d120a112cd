"""The `Cluster` method for `capacity`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan.options import Bounded, Flag, InNamespace, Stepwise, WithoutNodes, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.capacity.answer import CapacityPlan


class CapacityOptions(InNamespace, WithoutNodes, Bounded, Stepwise, total=False):
    """The options that control how copies are counted, and the maximum number of copies."""

    mix: Annotated[
        bool,
        Flag(
            "--mix",
            "Count how many complete sets of workloads fit. In a set, workloads are in proportion to their replicas.",
        ),
    ]
    possible: Annotated[
        bool | None,
        Flag(
            "--possible/--no-possible",
            (
                "Search longer for the best placement (--possible), or do not search (--no-possible). "
                "By default, the search takes at most a few seconds, and there is no search with --mix."
            ),
        ),
    ]
    limit: Annotated[int | None, Flag("--limit", "Try at most N copies (default: 10,000).", metavar="N", least=1)]


@spelled_out
@within_its_time
def capacity(cluster: LoadedCluster, *owners: str | dict[str, Any], **options: Unpack[CapacityOptions]) -> CapacityPlan:
    """Return how many copies of each owner's pod fit in addition to the bound pods. Owners are counted separately.

    `owners` are names of pods and workloads, or pods as plain dicts. The default owners are the pending pods and the
    workloads in the input or in `namespace`, except DaemonSets that already have a pod on every node. Copies are
    created one after another until kube-scheduler or a quota rejects a copy, or until there are `limit` copies (10,000
    by default). Other pending pods are ignored. If `mix` is set, all owners are counted together, in proportion to
    their replicas.

    The search for the largest possible number is thorough if `possible` is true, and skipped if `possible` is false. By
    default, this search takes at most a few seconds, and is skipped if `mix` is set. Raises UsageError for an unknown
    owner. Raises InputError for a pod that cannot be decoded, and for input without nodes.
    """
    from dra_plan.arguments import at_least_one, required, truth
    from dra_plan.manifests.decode import from_dicts
    from dra_plan.planner.suspended import resumed
    from dra_plan.questions.capacity import answer

    for owner in owners:
        required(owner, (str, dict), "owners", "names, or pods as dicts")
    plain = [owner for owner in owners if not isinstance(owner, str)]
    named = [owner for owner in owners if isinstance(owner, str)]
    inventory = resumed(cluster.inventory, named, options.get("namespace"))
    copied = [answer.Copied.of_pod(pod) for pod in from_dicts(plain).pods]
    if named or not plain:
        copied += answer.choose_copied(inventory, named, options.get("namespace"))
    asked = cluster.question(options={**options, "namespace": None})
    mix, possible, limit = truth(options.get("mix", False), "mix"), options.get("possible"), options.get("limit")
    seeks = None if possible is None else truth(possible, "possible")
    most = answer.USUAL_LIMIT if limit is None else at_least_one(limit, "limit")
    counted = answer.count_copies(inventory, cluster.target, copied, asked, limit=most, mix=mix, seeks=seeks)
    return cluster.with_edits(counted if owners or mix else counted.without_full_daemons())
