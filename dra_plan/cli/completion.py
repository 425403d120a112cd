"""`dra-plan completion`: shell completion scripts."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from dra_plan.cli.exits import Exit

COMPLETE_VARIABLE = "_DRA_PLAN_COMPLETE"
"""Set by the completion scripts when they ask the program for candidates."""


class Shell(StrEnum):
    """The shells that have a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="The shell to complete in.", show_default=False)],
) -> Exit:
    """Print the completion script of a shell.

    For bash: source <(dra-plan completion bash)
    """
    print(script(shell))
    return Exit.OK


def script(shell: Shell) -> str:
    """The script for `shell`; it asks the program itself for candidates, so it never goes stale with a new option."""
    from typer._completion_shared import get_completion_script

    return get_completion_script(prog_name="dra-plan", complete_var=COMPLETE_VARIABLE, shell=shell.value)
