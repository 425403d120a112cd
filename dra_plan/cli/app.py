"""The commands and their order in `--help`. Command modules are light: what plans is imported when it runs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Annotated

import typer

from dra_plan import __version__

from . import (
    allocate,
    capacity,
    cel,
    completion,
    diff,
    explain,
    grow,
    place,
    pools,
    rule,
    schedule,
    schema,
    snapshot,
    validate,
)
from .arguments import DUMP, of_cluster
from .command import Command, Group
from .exits import Exit
from .guard import guarded
from .watching import WatchingCommand
from .whatif import PlanningCommand

EPILOG = (
    "Exit status: 0 everything fits (explain: whatever it finds, unless --require-fit); 1 something does not, or is "
    "wrong; 2 usage or input error, nothing planned; 3 undecided within the step budget; 4 internal error."
)

CLUSTER = (
    f"\b\nWhy is my pod pending?\n  {of_cluster('explain', 'pod/NAME')}\nFrom a dump:\n"
    f"  {DUMP}\n  dra-plan explain cluster.json pod/NAME"
)
"""Not wrapped, so that it can be copied."""

app = typer.Typer(
    name="dra-plan",
    cls=Group,
    help="Plan Kubernetes Dynamic Resource Allocation from manifests alone, and answer as kube-scheduler does.",
    epilog=f"{CLUSTER}\n\n{EPILOG}",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _exiting(command: Callable[..., Exit]) -> Callable[..., None]:
    """The command as the option parser calls it: its errors become messages, its result the exit status."""

    @wraps(command)
    def call(*args: object, **kwargs: object) -> None:
        raise SystemExit(guarded(lambda: command(*args, **kwargs)))

    return call


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dra-plan {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Plan Kubernetes Dynamic Resource Allocation from manifests alone, and answer as kube-scheduler does."""


for _planning in (
    allocate.allocate,
    pools.pools,
    explain.explain,
    schedule.schedule,
    capacity.capacity,
    place.place,
    grow.grow,
    diff.diff,
):
    watched = _planning in (explain.explain, schedule.schedule)
    app.command(cls=WatchingCommand if watched else PlanningCommand)(_exiting(_planning))
for _command in (snapshot.snapshot, validate.validate, rule.rule, cel.cel, schema.schema, completion.completion):
    app.command(cls=Command)(_exiting(_command))


def app_of(name: str) -> typer.Typer:
    """The program with this command alone, as the options of a command cost time even where nobody asks; or `app`."""
    named = [command for command in app.registered_commands if command.callback and command.callback.__name__ == name]
    if not named:
        return app
    chosen = copy.copy(app)
    chosen.registered_commands = named
    return chosen
