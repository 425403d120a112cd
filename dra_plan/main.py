"""The entry point, and the commands in the order of `--help`.

Imports as little as it can: `--version` must not wait for the option parser.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from dra_plan import __version__

from .cli.running import Exit

if TYPE_CHECKING:
    import typer


def program(name: str = "") -> typer.Typer:
    """The program, or the part of it that has the command of this name alone."""
    from .cli import app
    from .questions.registry import QUESTIONS

    planning = [question for question in QUESTIONS if question.command in ("plans", "watches")]
    snapshot = app.Own("snapshot", "dra_plan.cli.snapshot")
    plain = [question for question in QUESTIONS if question.command == "plain"]
    schema = app.Own("schema", "dra_plan.questions.schema")
    completion = app.Own("completion", "dra_plan.cli.completion")
    return app.program([*planning, snapshot, *plain, schema, completion], name)


HELP: tuple[list[str], ...] = ([], ["--help"], ["-h"])
"""The command lines that show the program's help."""


def run() -> None:
    """Run the command line and leave the process with its exit status."""
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is printed escaped rather than ending the run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"dra-plan {__version__}")
        return
    gc.set_threshold(50_000)  # importing and loading make many objects and little garbage
    from .cli.running import guarded

    sys.exit(guarded(_run_app))


def run_plugin() -> None:
    """As `run`, but as kubectl's plugin, whatever the program's file is called."""
    from .cli.live import PLUGIN

    if os.path.basename(sys.argv[0]) == "kubectl_complete-dra_plan":  # noqa: PTH119 - a link to the one file
        complete_plugin()
        return
    sys.argv[0] = PLUGIN
    run()


def complete_plugin() -> None:
    """What kubectl asks of its plugin's completion: a candidate a line, then what the shell has to do with them."""
    from .cli.completion import candidates

    sys.stdout.writelines(f"{line}\n" for line in candidates(program(), sys.argv[1:]))


def _open_missing_streams() -> None:
    """A standard stream that the caller has closed is empty, or swallows what is written; Python has None for it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - stays open


def _run_app() -> Exit | None:
    from .cli import app
    from .cli.completion import COMPLETE_VARIABLE

    if COMPLETE_VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    from .cli.parsing import REFUSED, refusal

    if COMPLETE_VARIABLE in os.environ:
        asked = program()
    else:
        asked = app.listing() if sys.argv[1:] in HELP else program("".join(sys.argv[1:2]))
    try:
        status = asked(prog_name=_program_name(), complete_var=COMPLETE_VARIABLE, standalone_mode=False)
    except REFUSED as error:
        return refusal(error)
    return Exit(status or 0)


def _program_name() -> str:
    """What the user typed: kubectl starts the plugin `kubectl-dra_plan` for `kubectl dra-plan`."""
    from .cli.live import is_plugin

    return "kubectl dra-plan" if is_plugin() else "dra-plan"
