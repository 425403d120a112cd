"""The what-if options: the same on every command that plans, applied in the order in which they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from . import completing, live
from .command import Command

if TYPE_CHECKING:
    from dra_plan.api.inventory import Inventory
    from dra_plan.loaded import LoadedCluster
    from dra_plan.whatif import Edit


class Edits(TypedDict, total=False):
    """What is changed about the cluster before it is asked."""

    cordon: Annotated[
        list[str] | None,
        typer.Option(
            "--cordon",
            autocompletion=completing.nodes,
            metavar="NODE|LABELS",
            help="Mark the node unschedulable; repeatable.",
        ),
    ]
    drain: Annotated[
        list[str] | None,
        typer.Option(
            "--drain",
            autocompletion=completing.nodes,
            metavar="NODE|LABELS",
            help="Cordon the node, or those with labels (rack=r2), and remove its pods; repeatable.",
        ),
    ]
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            autocompletion=completing.objects,
            metavar="KIND/NAME",
            help="Remove this object; repeatable.",
        ),
    ]
    add_nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--add-nodes",
            autocompletion=completing.added_nodes,
            metavar="N=NODE",
            help="Add N nodes like this one, or like the one in a file.",
        ),
    ]


NAMES = ("cordon", "drain", "without", "add_nodes")
_ORDER = "dra_plan.what_if"


class PlanningCommand(Command):
    """A command that plans: it can read a cluster, and takes what-if options, whose order it remembers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.extend(live.declared())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As ever; the parser tells the order, which the values of several options do not keep."""
        args = list(_joined(args))
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = [param.name for param in given if param.name in NAMES]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """As ever; which cluster is asked is no argument of the command."""
        live.put_aside(ctx)
        return super().invoke(ctx)


def _joined(args: Sequence[str]) -> Iterator[str]:
    """The arguments, with two that stand behind an option of nodes as one: `-l LABELS` and `each-by LABEL`."""
    left = list(args)
    while left:
        arg = left.pop(0)
        yield arg
        if arg == "--":
            yield from left
            return
        if arg in _OF_NODES and len(left) > 1:
            if left[0] in ("-l", "--selector"):
                del left[0]
                yield left.pop(0)
            elif left[0] == EACH_BY and arg == "--drain":
                del left[0]
                yield f"{EACH_BY}={left.pop(0)}"


_OF_NODES = ("--cordon", "--drain", "--node", "--nodes")


EACH = "each"
"""In the place of a node that is drained: each node in turn, which `diff` can be asked."""


EACH_BY = "each-by"
"""Before a label, in the place of a node: the nodes of each value of the label in turn."""


def drains_each(text: str) -> bool:
    """Whether what `--drain` says means each node, or each value of a label."""
    return text == EACH or text.startswith(f"{EACH_BY}=")


def changed(context: typer.Context, cluster: LoadedCluster) -> LoadedCluster:
    """The cluster after the edits given by the four options, but for `--drain each`.

    Raises UsageError for what can't be done.
    """
    values = {name: iter(context.params[name] or ()) for name in NAMES}
    for option in context.meta[_ORDER]:
        text = next(values[option])
        if option == "drain" and drains_each(text):
            if context.info_name == "diff":
                continue
            _refuse_each(context, text, cluster.inventory)
        cluster = cluster.edited(*_edits(option, text, cluster.inventory))
    return cluster


def _refuse_each(context: typer.Context, text: str, inventory: Inventory) -> None:
    """Raises UsageError where no node is named so, and the command does not drain each."""
    from dra_plan.errors import UsageError

    if all(node.metadata.name != text for node in inventory.nodes):
        raise UsageError(
            f"--drain {text}: only `dra-plan diff --drain {text}` drains each node in turn; for "
            f"`dra-plan {context.info_name}`, name a node: --drain NODE"
        )


def _edits(option: str, text: str, inventory: Inventory) -> list[Edit]:
    from dra_plan.planner.node_choice import meant
    from dra_plan.whatif import AddNodes, Cordon, Drain, Without, number_and_model

    if option == "cordon":
        return [Cordon(name) for name in meant(inventory.nodes, text)]
    if option == "drain":
        return [Drain(name) for name in meant(inventory.nodes, text)]
    if option == "without":
        return [Without.parse(text)]
    return [AddNodes.of(inventory, *number_and_model("--add-nodes", text))]
