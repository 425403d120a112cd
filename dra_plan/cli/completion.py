"""`dra-plan completion`: shell completion scripts."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from dra_plan.cli.running import Exit

COMPLETE_VARIABLE = "_DRA_PLAN_COMPLETE"
"""The environment variable through which completion scripts ask the program for completions."""


class Shell(StrEnum):
    """A shell that dra-plan has a completion script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


CHANGED = {
    Shell.BASH: [
        (
            "    return 0\n",
            "    [[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null\n    return 0\n",
        ),
    ],
    Shell.ZSH: [
        ("  eval $(env ", "  local answer match mbegin mend\n  answer=$(env "),
        (
            "dra-plan)\n}",
            r"""dra-plan)
  if [[ $answer =~ '\(\("([^" ]*=)"\)\)' ]]; then
    compadd -S '' -- $match[1]
  else
    eval ${=answer}
  fi
}""",
        ),
        (
            "\ncompdef _dra_plan_completion dra-plan",
            '\ncompdef _dra_plan_completion dra-plan\n[[ $funcstack[1] != _dra-plan ]] || _dra_plan_completion "$@"',
        ),
    ],
}
"""Changes to typer's scripts: no space after an unfinished value such as `jsonpath=`, and completions in zsh as soon as
it has loaded the file."""


def completion(
    shell: Annotated[
        Shell, typer.Argument(metavar="SHELL", help="The shell to print the script for.", show_default=False)
    ],
) -> Exit:
    """Print the completion script for a shell.

    Examples:
      source <(dra-plan completion bash)
      dra-plan completion fish > ~/.config/fish/completions/dra-plan.fish

    """
    print(script(shell))
    return Exit.OK


def script(shell: Shell) -> str:
    """Return the completion script for the shell.

    The script calls the program for completions, so it also works with later versions of the program.
    """
    from typer._completion_shared import get_completion_script

    text = get_completion_script(prog_name="dra-plan", complete_var=COMPLETE_VARIABLE, shell=shell.value)
    for before, after in CHANGED.get(shell, ()):
        text = text.replace(before, after, 1)
    return text


NO_SPACE, NO_FILES = 2, 4
"""Bits of kubectl's completion directive: add no space after the value, and complete no file names."""


def candidates(program: typer.Typer, words: list[str]) -> list[str]:
    """Return the completions of the last word, followed by the directive that kubectl expects from plugins.

    `words` are the words after `kubectl dra-plan`. If there are no completions, the directive makes the shell complete
    file names.
    """
    from typer._completion_classes import BashComplete  # the shell of this class does not matter here

    from dra_plan import shown

    *before, last = words or [""]
    command = typer.main.get_command(program)
    found = BashComplete(command, {}, "kubectl dra-plan", COMPLETE_VARIABLE).get_completions(before, last)
    values = [item.value for item in found if item.type == "plain" and item.value == shown.line(item.value)]
    directive = NO_FILES if values else 0
    if values and all(value.endswith("=") for value in values):
        directive |= NO_SPACE
    return [*values, f":{directive}"]
