"""Manual pages from the command line itself: one page per command, in roff. `make man` writes them to build/man."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from dra_plan import __version__
from dra_plan.cli import helping
from dra_plan.cli.app import EPILOG
from dra_plan.main import program

PROGRAM = "dra-plan"


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    root: Any = get_command(program())
    top = typer.Context(root, info_name=PROGRAM)
    made = {f"{PROGRAM}.1": _page(root, top, root.commands)}
    for name, command in root.commands.items():
        context = typer.Context(command, info_name=name, parent=top)
        made[f"{PROGRAM}-{name}.1"] = _page(command, context, {})
    return made


def _page(command: Any, context: typer.Context, commands: dict[str, Any]) -> str:
    return "\n".join(_lines(command, context, commands)) + "\n"


def _lines(command: Any, context: typer.Context, commands: dict[str, Any]) -> Iterator[str]:
    name = context.command_path.replace(" ", "-")
    yield f'.TH "{escaped(name.upper())}" "1" "" "{PROGRAM} {__version__}" "User Commands"'
    yield ".SH NAME"
    yield escaped(f"{name} - {command.get_short_help_str(limit=200).rstrip('.')}")
    yield ".SH SYNOPSIS"
    yield f".B {escaped(context.command_path)}"
    yield escaped(" ".join(command.collect_usage_pieces(context)))
    yield ".SH DESCRIPTION"
    said = helping.parts(command.help)
    for paragraph in (said.sentence, *said.paragraphs):
        yield ".PP"
        yield escaped(paragraph)
    if said.examples:
        yield ".SH EXAMPLES"
        yield ".nf"
        yield from map(escaped, said.examples)
        yield ".fi"
    if commands:
        yield ".SH COMMANDS"
        for name, sub in commands.items():
            yield from _term(f"{PROGRAM}-{name}(1)", sub.get_short_help_str(limit=200))
    yield ".SH OPTIONS"
    for title, rows in helping.sections(command.get_params(context), context):
        yield f".SS {escaped(title)}"
        for row in rows:
            yield from _term(*row)
    yield ".SH EXIT STATUS"
    yield escaped(EPILOG.removeprefix("Exit status: "))
    yield ".SH SEE ALSO"
    others = sorted(f"{PROGRAM}-{other}" for other in commands) if commands else [PROGRAM]
    yield ", ".join(f"\\fB{escaped(other)}\\fR(1)" for other in [*others, "kubectl"])


def _term(term: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield f".B {escaped(term)}"
    yield escaped(" ".join(text.split()))


def escaped(text: str) -> str:
    """Text that roff prints as it is: hyphens stay hyphens, and no line is taken for a request."""
    shown = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{shown}" if shown.startswith((".", "'")) else shown


def write(folder: Path) -> None:
    """Writes all pages into `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
