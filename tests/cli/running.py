"""The program as a user runs it."""

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from dra_plan.main import run
from tests import limits

ROOT = Path(__file__).parents[2]
INPUTS = Path(__file__).parent / "inputs"


class Ran(NamedTuple):
    """What a run left."""

    status: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """The environment of every run: nothing that changes the width, colours or completion."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR", "SYSTEMROOT"}}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def dra_plan(*arguments: str, stdin: str = "", cwd: Path = ROOT, **env: str) -> Ran:
    """Run the program; relative paths start at the project's root."""
    done = limits.run(
        [sys.executable, "-m", "dra_plan", *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(**env),
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def in_process(*arguments: str, stdin: str = "", **env: str) -> Ran:
    """As `dra_plan`, without a new process: quicker, for tests of many arguments."""
    is_help = not arguments or bool({"-h", "--help"} & {*arguments})  # as wide as in the golden files
    given_in = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        patch.object(sys, "argv", ["dra-plan", *arguments]),
        patch.object(sys, "stdin", given_in),
        patch.dict(os.environ),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        os.environ.pop("COLUMNS", None)
        os.environ.update({**({"COLUMNS": "80"} if is_help else {}), **env})
        try:
            run()
        except SystemExit as left:
            status = int(left.code or 0)
        else:
            status = 0
    texts = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return Ran(status, *texts)


def given(*names: str) -> list[str]:
    """Paths of inputs."""
    return [str(INPUTS / f"{name}.yaml") for name in names]
