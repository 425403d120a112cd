"""Adds groups of declared options to commands, and reads their values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_type_hints

import typer

from dra_plan.options import default, flags

from . import completing
from .timing import ended_after


def takes(*groups: type[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options in these groups to a command.

    The command's first parameter must be the parser's context. The options come after its positional and before its
    keyword-only parameters, and `given` returns their values. If the groups include `options.Ended`, the command ends
    after its `time_limit`.
    """

    def made(command: Callable[..., Any]) -> Callable[..., Any]:
        context, *own = inspect.signature(command, eval_str=True).parameters.values()
        declared: dict[str, inspect.Parameter] = {}
        for group in groups:
            for parameter in _parameters(group):
                declared.setdefault(parameter.name, parameter)
        keyword = inspect.Parameter.KEYWORD_ONLY
        arguments = [parameter for parameter in own if parameter.kind is not keyword]
        own_options = [parameter for parameter in own if parameter.kind is keyword]
        parameters = [context, *arguments, *declared.values(), *own_options]
        names = [parameter.name for parameter in own]

        @functools.wraps(command)
        def call(context: typer.Context, **options: Any) -> Any:
            with ended_after(options.get("time_limit")):
                return command(context, **{name: options[name] for name in names})

        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [context, *(parameter.replace(kind=keyword) for parameter in parameters[1:])]
        )
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return call

    return made


def given(context: typer.Context, group: type[Any]) -> dict[str, Any]:
    """Return the values of the options in the group. Raises UsageError for a value that cannot be parsed."""
    values = {}
    for name, _, flag in flags(group):
        value = context.params[name]
        values[name] = value if flag.read is None else flag.read(value)
    return values


def _parameters(group: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the options of a group: declared by flags, or, if only the command line has them, by typer's own."""
    declared = list(flags(group))
    for name, python, flag in declared:
        kind = python if flag.kind is None else flag.kind
        said: dict[str, Any] = {"help": flag.help, "metavar": flag.metavar, "min": flag.least, "hidden": flag.hidden}
        if flag.complete:
            values = flag.complete.split("|")
            said["autocompletion"] = completing.of(*values) if len(values) > 1 else getattr(completing, values[0])
        yield _parameter(name, Annotated[kind, typer.Option(*flag.names.split(), **said)], default(name, kind))
    if not declared:
        for name, hint in get_type_hints(group, include_extras=True).items():
            yield _parameter(name, hint, default(name, get_args(hint)[0]))


def _parameter(name: str, annotation: Any, usual: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=annotation)
