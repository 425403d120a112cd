"""Commands for users to paste, derived from the command that is running."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from dra_plan import shown

if TYPE_CHECKING:
    import typer

MOST_CHARACTERS = 400
"""The maximum length of a command. A longer one is printed without its paths and options."""

_PRINTING = ("output", "report", "color", "quiet", "progress")
"""Options about printing, which are left out."""


def command_line(context: typer.Context, name: str, more: Sequence[str], *, without: Container[str] = ()) -> str:
    """Return the user's command under this name, with `more` at the end.

    Options about printing and those in `without` are left out.
    """
    own = _given(context, without)
    said = shlex.join(["dra-plan", name, *own, *more])
    return shown.line(said if len(said) <= MOST_CHARACTERS else f"dra-plan {name} ... {shlex.join(more)}")


def _given(context: typer.Context, without: Container[str]) -> Iterator[str]:
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in without or name in _PRINTING:
            continue
        value = context.params[name]
        for one in value if isinstance(value, list | tuple) else [value]:
            if parameter.param_type_name == "argument":
                yield str(one)
            elif isinstance(one, bool):
                yield (parameter.opts if one else parameter.secondary_opts)[0]
            else:
                yield from (parameter.opts[0], str(one))
