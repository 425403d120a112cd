"""The what-if options, which all planning commands share. They are applied in command-line order."""

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
    """The options that change the cluster before the question is answered."""

    cordon: Annotated[
        list[str] | None,
        typer.Option(
            "--cordon",
            autocompletion=completing.nodes,
            metavar="NODE|LABELS",
            help="Mark the node, or all nodes with these labels, as unschedulable. Can be repeated.",
        ),
    ]
    drain: Annotated[
        list[str] | None,
        typer.Option(
            "--drain",
            autocompletion=completing.nodes,
            metavar="NODE|LABELS",
            help=(
                "Cordon the node, or all nodes with these labels (such as rack=r2), and remove their "
                "pods. Can be repeated."
            ),
        ),
    ]
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            autocompletion=completing.objects,
            metavar="KIND/NAME",
            help="Remove this object and everything that belongs to it. Can be repeated.",
        ),
    ]
    add_nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--add-nodes",
            autocompletion=completing.added_nodes,
            metavar="N=NODE",
            help="Add N copies of a node. NODE is the name of a node, or a file that contains a node. Can be repeated.",
        ),
    ]


NAMES = ("cordon", "drain", "without", "add_nodes")
_ORDER = "dra_plan.what_if"


class PlanningCommand(Command):
    """A command that can read a live cluster and has what-if options."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.extend(live.declared())

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and store the order of the what-if options, which the parsed values do not show."""
        args = list(_joined(args))
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = [param.name for param in given if param.name in NAMES]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, without passing it the options that select a live cluster."""
        live.put_aside(ctx)
        return super().invoke(ctx)


def _joined(args: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, with `-l LABELS` and `each-by LABEL` after a node option joined to one."""
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
"""The value of `--drain` that means each node in turn. Only `diff` supports it."""


EACH_BY = "each-by"
"""The value of `--drain` that, with a label, means the nodes of each label value in turn."""


def drains_each(text: str) -> bool:
    """Return whether this value of `--drain` means each node, or the nodes of each label value, in turn."""
    return text == EACH or text.startswith(f"{EACH_BY}=")


def changed(context: typer.Context, cluster: LoadedCluster) -> LoadedCluster:
    """Return the cluster after the edits in the options, except `--drain each`.

    Raises UsageError for impossible edits.
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
    """Raise UsageError if no node has this name and the command does not drain each node."""
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
