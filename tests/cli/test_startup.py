"""What commands import: a deterministic stand-in for their start-up time, which benchmarks/startup.py measures."""

import subprocess
import sys

import pytest

from .running import ROOT, environment

QUICKSTART = "fixtures/quickstart"
CONVERTER = ("pydantic", "pydantic_core")
"""What typer converts values by, which are texts mostly."""
WORDS = ("dra_plan.output.columns", "dra_plan.output.text", "dra_plan.output.explain_words")
NOT_ASKED = ("rich", "jsonschema", "celpy", "dra_plan.explanation.explainer", "dra_plan.whatif", "dra_plan.validation")

COMMANDS: list[tuple[list[str], tuple[str, ...]]] = [
    (["allocate", QUICKSTART], (*NOT_ASKED, "dra_plan.output.search_trace", "dra_plan.scheduler.simulate")),
    (["allocate", QUICKSTART, "-o", "json"], (*NOT_ASKED, "dra_plan.output.allocation_table", *WORDS[1:])),
    (["pools", QUICKSTART, "-o", "json"], (*NOT_ASKED, "dra_plan.output.pool_table", "dra_plan.scheduler", *WORDS[1:])),
    (["schedule", QUICKSTART, "-o", "json"], (*NOT_ASKED, "dra_plan.output.schedule", *WORDS[1:])),
    (
        ["validate", QUICKSTART],
        ("rich", "jsonschema", "celpy", "dra_plan.scheduler.simulate", "dra_plan.planner.allocation"),
    ),
    (
        ["explain", QUICKSTART, "pod/train", "-o", "json"],
        ("rich", "jsonschema", "dra_plan.whatif", "dra_plan.validation"),
    ),
]


@pytest.mark.parametrize(
    ("arguments", "unneeded"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_command_imports_what_it_needs(arguments: list[str], unneeded: tuple[str, ...]) -> None:
    assert imported(*arguments) & {*unneeded, *CONVERTER} == set()


def imported(*arguments: str) -> set[str]:
    """The modules that a run imports."""
    program = (
        "import sys; from dra_plan.cli.main import run\n"
        f"sys.argv = ['dra-plan', *{arguments!r}]\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        "print('MODULES', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=environment(), check=True
    )
    return set(done.stdout.splitlines()[-1].split())
