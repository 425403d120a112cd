"""The typer program, built from a list of commands."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import wraps
from importlib import import_module
from typing import Annotated, NamedTuple, Protocol

import typer

from dra_plan import __version__
from dra_plan.cli.command import Command, Group
from dra_plan.cli.live import of_cluster
from dra_plan.cli.running import Exit, guarded
from dra_plan.wording import DUMP

EPILOG = (
    "The exit status is 0 if everything fits, 1 if something does not fit or a check fails, 2 for a usage or input "
    "error, 3 if the result is undecided because a limit was reached, and 4 for an internal error. For `explain`, the "
    "exit status is 0 even if something does not fit, unless --require-fit is set."
)


CLUSTER = (
    f"\b\nWhy is my pod pending?\n  {of_cluster('explain', 'pod/NAME')}\nTo read a dump instead of the live cluster:\n"
    f"  {DUMP}\n  dra-plan explain cluster.json pod/NAME\n\n"
    "Run `dra-plan COMMAND --help` to see the options and examples for a command."
)
"""Printed without line wrapping, so that users can copy the command."""


SENTENCE = (
    "Find out why pods are pending and what fits where, in a live cluster or in files. The results are the same as "
    "kube-scheduler's. dra-plan covers devices (DRA), CPU and memory, taints, affinity, volumes, quotas and preemption."
)


_ROOT = typer.Typer(
    name="dra-plan",
    cls=Group,
    help=SENTENCE,
    epilog=f"{CLUSTER}\n\n{EPILOG}",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _exiting(command: Callable[..., Exit]) -> Callable[..., None]:
    """Return the command for the option parser; its errors become messages, and its result becomes the exit status."""

    @wraps(command)
    def call(*args: object, **kwargs: object) -> None:
        raise SystemExit(guarded(lambda: command(*args, **kwargs)))

    return call


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dra-plan {__version__}")
        raise typer.Exit


@_ROOT.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Run the program without a command."""


class ListedCommand(Protocol):
    """A command that the program lists in its help."""

    @property
    def name(self) -> str:
        """The name of the command."""

    @property
    def command(self) -> str:
        """The type of the command: `plans`, `watches` or `plain`."""

    def function(self) -> Callable[..., Exit]:
        """Return the function that the command runs. The call imports the function's module."""


class Own(NamedTuple):
    """A command that is not a question about a cluster."""

    name: str
    module: str
    command: str = "plain"

    def function(self) -> Callable[..., Exit]:
        """Return the function that the command runs. It has the same name as the command."""
        found: Callable[..., Exit] = getattr(import_module(self.module), self.name)
        return found


def program(commands: Iterable[ListedCommand], name: str = "") -> typer.Typer:
    """Return the program with the named command, or with all commands if there is no such command.

    A run builds only the command that it needs, because building options takes time.
    """
    from dra_plan.cli.watching import WatchingCommand
    from dra_plan.cli.whatif import PlanningCommand

    made = copy.copy(_ROOT)
    every = list(commands)
    classes = {"plans": PlanningCommand, "watches": WatchingCommand, "plain": Command}
    made.registered_commands = []
    for each in [one for one in every if one.name == name] or every:
        made.command(cls=classes[each.command])(_exiting(each.function()))
    return made


def listing() -> typer.Typer:
    """Return the program without its commands, for `--help`.

    The help lists the names and summaries of commands without importing them.
    """
    made = copy.copy(_ROOT)
    made.registered_commands = []
    return made
