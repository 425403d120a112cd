"""The `Cluster` method for `grow`, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Unpack

from dra_plan.errors import UsageError
from dra_plan.options import Allotted, Bounded, Chosen, Flag, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.manifests.load import PathLike
    from dra_plan.questions.grow.answer import GrowthPlan

MOST_DIGITS = 30
"""The maximum number of characters in a cost."""


def read_prices(options: Iterable[str] | None) -> dict[str, Decimal]:
    """Return the cost for each LIKE in options of the form LIKE=NUMBER. The last option for a LIKE applies.

    Raises UsageError for an option of another form.
    """
    from decimal import InvalidOperation

    found = {}
    for option in options or ():
        name, equals, number = option.rpartition("=")
        try:
            if not equals or not name or len(number) > MOST_DIGITS:
                raise InvalidOperation
            found[name] = Decimal(number)
        except InvalidOperation as error:
            raise UsageError(f"--cost: {option!r} is not LIKE=NUMBER") from error
    return found


class GrowOptions(Chosen, Bounded, Allotted, total=False):
    """The options that select the nodes to add and the pods to schedule."""

    like: Annotated[
        str | PathLike | Iterable[str | PathLike],
        Flag(
            "--like",
            "Add copies of this node. NODE is the name of a node, or a file that contains a node. Can be repeated.",
            metavar="NODE",
            complete="nodes",
            kind=list[str] | None,
        ),
    ]
    cost: Annotated[
        Mapping[str, float | Decimal] | None,
        Flag(
            "--cost",
            "Set the cost of one copy of a --like node (default: 1). Can be repeated.",
            metavar="LIKE=NUMBER",
            kind=list[str] | None,
            read=read_prices,
        ),
    ]
    limit: Annotated[
        int | None, Flag("--limit", "Try at most N nodes of each kind (default: 10,000).", metavar="N", least=1)
    ]


@spelled_out
@within_its_time
def grow(cluster: LoadedCluster, *owners: str, **options: Unpack[GrowOptions]) -> GrowthPlan:
    """Return the cheapest new nodes with which kube-scheduler can bind every pending pod.

    New nodes are copies of the nodes named in `like`, as for `add_nodes`. `cost` maps these names to the cost of a
    copy. The default cost is 1. `owners`, or `namespace` and `selector`, select the pods to schedule. At most `limit`
    (10,000) nodes of each kind are tried. An input without nodes stands for a cluster that has no nodes. Raises
    UsageError for unknown names, for nodes that cannot be copied, and for costs that are not numbers above 0.
    """
    from dra_plan.arguments import at_least_one, paths_of, prices
    from dra_plan.questions.grow import answer

    if "like" not in options:
        raise TypeError("grow() missing 1 required keyword-only argument: 'like'")
    asked, limit = cluster.question(owners, options), options.get("limit")
    found = answer.kinds_of(cluster.inventory, paths_of(options["like"], "like"), prices(options.get("cost")))
    most = answer.USUAL_LIMIT if limit is None else at_least_one(limit, "limit")
    return cluster.with_edits(answer.grow(cluster.inventory, cluster.target, asked, found, limit=most))
