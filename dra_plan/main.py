"""The entry point, and the commands in the order of `--help`.

It imports as little as possible, because `--version` must not wait for the option parser.
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
    """Return the command-line program, with only the command of this name if a name is given."""
    from .cli import app
    from .questions.registry import QUESTIONS

    planning = [question for question in QUESTIONS if question.command in ("plans", "watches")]
    snapshot = app.Own("snapshot", "dra_plan.cli.snapshot")
    plain = [question for question in QUESTIONS if question.command == "plain"]
    schema = app.Own("schema", "dra_plan.questions.schema")
    completion = app.Own("completion", "dra_plan.cli.completion")
    return app.program([*planning, snapshot, *plain, schema, completion], name)


HELP: tuple[list[str], ...] = ([], ["--help"], ["-h"])
"""The arguments that show the program's help."""


def run() -> None:
    """Run the command line and exit with its status."""
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        # Print characters that the terminal's encoding lacks as escapes instead of failing.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"dra-plan {__version__}")
        return
    gc.set_threshold(200_000)  # importing and loading create many objects and little garbage
    from .cli.running import guarded

    sys.exit(guarded(_run_app))


def run_plugin() -> None:
    """Run the command line as a kubectl plugin, even if the program file has another name."""
    from .cli.live import PLUGIN

    if os.path.basename(sys.argv[0]) == "kubectl_complete-dra_plan":  # noqa: PTH119 - a link to the one file
        complete_plugin()
        return
    sys.argv[0] = PLUGIN
    run()


def complete_plugin() -> None:
    """Print the completions of the plugin as kubectl expects them: one per line, followed by the shell directive."""
    from .cli.completion import candidates

    sys.stdout.writelines(f"{line}\n" for line in candidates(program(), sys.argv[1:]))


def _open_missing_streams() -> None:
    """Replace standard streams that the caller has closed (None in Python) with empty input and discarded output."""
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
    """Return the name that the user typed: kubectl starts the plugin `kubectl-dra_plan` for `kubectl dra-plan`."""
    from .cli.live import is_plugin

    return "kubectl dra-plan" if is_plugin() else "dra-plan"
