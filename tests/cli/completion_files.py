"""The completion scripts in completions/: what they are called and what is in them. `make completions` writes them."""

import sys

from dra_plan.cli.completion import Shell, script

from .running import ROOT

FILES = {
    Shell.BASH: ROOT / "completions" / "dra-plan.bash",
    Shell.ZSH: ROOT / "completions" / "_dra-plan",
    Shell.FISH: ROOT / "completions" / "dra-plan.fish",
    Shell.POWERSHELL: ROOT / "completions" / "dra-plan.ps1",
}


def content(shell: Shell) -> str:
    return f"{script(shell)}\n"


if __name__ == "__main__":
    for shell in map(Shell, sys.argv[1:]):
        FILES[shell].write_text(content(shell), encoding="utf-8")
