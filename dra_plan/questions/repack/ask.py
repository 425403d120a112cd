"""The `Cluster` method for `repack`, and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from dra_plan.options import Allotted, Bounded, Flag, InNamespace, WithoutNodes, spelled_out, within_its_time

if TYPE_CHECKING:
    from dra_plan.loaded import LoadedCluster
    from dra_plan.questions.repack.answer import RepackPlan

MOVABLE = ("controlled", "bare")


class RepackOptions(InNamespace, WithoutNodes, Bounded, Allotted, total=False):
    """The options that set the goal, and which pods may move."""

    free: Annotated[
        str | None,
        Flag("--free", "Free N devices of this model on each of K nodes.", metavar="NxMODEL=K"),
    ]
    for_: Annotated[
        str | None,
        Flag(
            "--for",
            "Make room for N pods of OWNER: first its pending pods, then additional copies.",
            metavar="OWNER=N",
            complete="owners",
        ),
    ]
    most: Annotated[bool, Flag("--most", "Make room for as many pending pods as possible.")]
    max_moves: Annotated[int | None, Flag("--max-moves", "Move at most N pods.", metavar="N", least=1)]
    movable: Annotated[
        str | None,
        Flag(
            "--movable",
            "Move only pods that a controller recreates (controlled, the default), or also bare pods (bare).",
            metavar="controlled|bare",
            complete="controlled|bare",
        ),
    ]
    up_to_priority: Annotated[
        int | None,
        Flag(
            "--up-to-priority",
            (
                "Do not move pods whose priority is higher than N (default: the priority of the pods that"
                " need the room)."
            ),
            metavar="N",
        ),
    ]
    prices: Annotated[
        Any,
        Flag(
            "--prices",
            "Read the prices of moves from this YAML file. Rules in the file select pods by labels and priority.",
            metavar="FILE",
            kind=str | None,
        ),
    ]


@spelled_out
@within_its_time
def repack(cluster: LoadedCluster, **options: Unpack[RepackOptions]) -> RepackPlan:
    """Return the fewest or cheapest moves of running pods that free the wanted devices.

    The moves are grouped into waves, which are simulated.

    The goal is set by exactly one of `free` (for example "8xH100=3"), `for_` (for example "deploy/serve=5") and `most`.
    `prices` is the path of a file, or a list of dicts with `price`, `selector` and `priority`. Raises UsageError for
    invalid options, and InputError for input without nodes and for invalid prices.
    """
    from dra_plan.arguments import at_least_one, optional
    from dra_plan.errors import UsageError
    from dra_plan.planner.nodes import with_nodes
    from dra_plan.questions.repack import wanted
    from dra_plan.questions.repack.answer import repacked
    from dra_plan.questions.repack.movable import MoveRules, prices_of, read_prices

    asked = cluster.question((), {name: options[name] for name in _PLAIN if name in options})  # type: ignore[literal-required]
    free = optional(options.get("free"), str, "free", "a text such as 8xH100=3")
    owner = optional(options.get("for_"), str, "for", "a text such as deploy/serve=5")
    if sum((free is not None, owner is not None, bool(options.get("most")))) != 1:
        raise UsageError("give one of --free, --for and --most")
    movable = options.get("movable")
    if movable not in (None, *MOVABLE):
        raise UsageError(f"--movable: {movable!r} is not one of {', '.join(MOVABLE)}")
    prices = options.get("prices")
    rules = MoveRules(
        bare=movable == "bare",
        priority=optional(options.get("up_to_priority"), int, "up_to_priority", "a priority"),
        prices=() if prices is None else read_prices(prices) if isinstance(prices, str) else prices_of(prices),
    )
    most = options.get("max_moves")
    inventory, _ = with_nodes(cluster.inventory, infer=asked.infer_nodes)
    if free is not None:
        room = wanted.free_room(inventory, free)
    elif owner is not None:
        room = wanted.owners_room(inventory, owner, asked.namespace)
    else:
        room = wanted.room_for_all(inventory, asked.namespace)
    limit = None if most is None else at_least_one(most, "max_moves")
    return cluster.with_edits(repacked(room, cluster.target, asked, rules, limit))


_PLAIN = ("namespace", "infer_nodes", "max_steps")
