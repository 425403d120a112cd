"""What commands import: a deterministic stand-in for their start-up time, which benchmarks/startup.py measures."""

import subprocess
import sys

import pytest

from .running import ROOT, environment

QUICKSTART = "fixtures/quickstart"
CONVERTER = ("pydantic", "pydantic_core")
"""What typer converts values by, which are texts mostly."""
WORDS = ("dra_plan.text.columns", "dra_plan.text.naming", "dra_plan.text.words")
RULES = "dra_plan.validation.run"
OTHERS = "dra_plan.questions.methods"
"""All questions: a command loads only its own."""
NOT_ASKED = ("rich", "jsonschema", "celpy", "dra_plan.explanation.explainer", "dra_plan.whatif", RULES, OTHERS)

COMMANDS: list[tuple[list[str], tuple[str, ...]]] = [
    (["allocate", QUICKSTART], (*NOT_ASKED, "dra_plan.questions.allocate.trace", "dra_plan.scheduler.simulate")),
    (["allocate", QUICKSTART, "-o", "json"], (*NOT_ASKED, "dra_plan.questions.allocate.text", *WORDS[1:])),
    (
        ["pools", QUICKSTART, "-o", "json"],
        (*NOT_ASKED, "dra_plan.questions.pools.text", "dra_plan.scheduler", *WORDS[1:]),
    ),
    (["schedule", QUICKSTART, "-o", "json"], (*NOT_ASKED, "dra_plan.questions.schedule.text", *WORDS[1:])),
    (
        ["validate", QUICKSTART],
        ("rich", "jsonschema", "celpy", "dra_plan.scheduler.simulate", "dra_plan.questions.allocate.answer"),
    ),
    (
        ["explain", QUICKSTART, "pod/train", "-o", "json"],
        ("rich", "jsonschema", "dra_plan.whatif", OTHERS, "importlib.resources"),
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
        "import sys; from dra_plan.main import run\n"
        f"sys.argv = ['dra-plan', *{arguments!r}]\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        "print('MODULES', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=environment(), check=True
    )
    return set(done.stdout.splitlines()[-1].split())
