"""One-line errors for command lines that cannot be parsed."""

from __future__ import annotations

import sys
from typing import Any

import typer

from dra_plan.cli.running import Exit

REFUSED: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""The exception that typer raises for an invalid command line. Where it is defined depends on typer's release."""


_WIDE = "; for more details use -o wide"
"""A hint for users of -v, which only `explain` has."""


def refusal(error: Any) -> Exit:
    """Print the parser's error on one line, with the command that shows the usage.

    If the program was called without arguments, prints the help instead.
    """
    from dra_plan.cli.printing import print_error

    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message, file=sys.stderr)
        return Exit.USAGE
    told = " ".join(message.split()).removesuffix(".")
    told = told.removeprefix("Invalid value for ").replace("Value error, ", "")
    told += _WIDE if getattr(error, "option_name", "") in ("-v", "--verbose") else ""
    context = getattr(error, "ctx", None)
    usage = f" ({context.command_path} -h shows how)" if context is not None else ""
    print_error(f"{told[:1].lower()}{told[1:]}{usage}")
    return Exit.USAGE
