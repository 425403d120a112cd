"""Completion scripts, and what they complete."""

import shutil
import subprocess

import pytest

from dra_plan.cli.completion import Shell

from .completion_files import FILES, content
from .running import in_process


@pytest.mark.parametrize("shell", Shell)
def test_scripts_in_the_repository_are_what_the_program_prints(shell: Shell) -> None:
    ran = in_process("completion", shell.value)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == content(shell)
    assert FILES[shell].read_text(encoding="utf-8") == ran.out, "stale: make completions"


def test_no_other_scripts_lie_about() -> None:
    folder = FILES[Shell.BASH].parent
    assert sorted(folder.iterdir()) == sorted(FILES.values())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dra-plan all", ["allocate"]),
        ("dra-plan allocate --tog", ["--together"]),
        ("dra-plan completion f", ["fish"]),
    ],
)
def test_candidates(words: str, expected: list[str]) -> None:
    ran = in_process(_DRA_PLAN_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert ran.out.split() == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_takes_the_script() -> None:
    """Bash reads the script and registers a completion for the program."""
    program = f"source {FILES[Shell.BASH]} && complete -p dra-plan"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert "_dra_plan_completion" in done.stdout
