"""What all commands have in common, whatever their options are."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from . import helping


class _TakenAsTheyAre:
    """Parameters that accept values of the right type without conversion.

    typer converts every value, including defaults, with a library whose import takes longer than planning a small
    cluster. Most options are texts, and flags and defaults already have their types: the library is used only for the
    others.
    """

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return _converting_if_needed(super().get_params(ctx))  # type: ignore[misc]


class Command(_TakenAsTheyAre, TyperCommand):
    """A command of the program. Its help groups the options by topic."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the description of the command, with its examples."""
        program = ctx.find_root().info_name or helping.PROGRAM
        helping.written(self.help, program, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the command, by topic."""
        for title, rows in helping.sections(self.get_params(ctx), ctx):
            with formatter.section(title):
                formatter.write_dl(rows)


class Group(_TakenAsTheyAre, TyperGroup):
    """The program itself, which is a group of commands with options of its own."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the parser gives it
        """Write the commands, grouped by purpose."""
        for topic, commands in helping.TOPICS.items():
            with formatter.section(topic):
                formatter.write_dl(list(commands.items()), col_max=12)


def _converting_if_needed(params: Any) -> Any:
    """Return the parameters, each with its conversion wrapped; other typer releases convert cheaply themselves."""
    for param in params:
        if hasattr(param, "type_descriptor") and "process_value" not in vars(param):
            _wrap(param)
    return params


def _wrap(param: Any) -> None:
    convert, wanted = param.process_value, param.type_descriptor.annotation

    def process_value(context: Any, value: Any) -> Any:
        if param.required or not _has_type(value, wanted):
            return convert(context, value)
        if value is None and (param.multiple or param.nargs == -1):
            value = ()
        return value if param.callback is None else param.callback(context, param, value)

    param.process_value = process_value


def _has_type(value: object, wanted: object) -> bool:
    if isinstance(value, list | tuple):
        return wanted == list[str] and all(type(each) is str for each in value)
    return value is None or type(value) is wanted
