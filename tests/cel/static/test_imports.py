"""What importing and using the selector language loads: nothing heavy until an expression needs it."""

import subprocess
import sys

import pytest

from dra_plan.cel import environment

HEAVY = (
    "re2",
    "celpy",
    "lark",
    "zoneinfo",
    "yaml",
    "rich",
    "typer",
    "jsonschema",
    "urllib",
    "logging",
    "asyncio",
)
OURS = ("dra_plan.manifests", "dra_plan.allocator", "dra_plan.text", "dra_plan.cli", "dra_plan.cel.explain")


def loaded(program: str) -> set[str]:
    """The modules above that a new interpreter has loaded after the program."""
    listing = f"import sys; print(*(name for name in {(*HEAVY, *OURS)!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{program}\n{listing}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


COMPILE = "from dra_plan.cel import compile_selector as c\n"
MATCH = 'c({!r}).matches({{"attributes": {{}}}}, "d")'


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("import dra_plan.cel", set()),
        (COMPILE + MATCH.format('device.driver == "d" && quantity("1Gi").isInteger()'), set()),
        (COMPILE + MATCH.format('isURL("https://a") || isIP("::1") || duration("1h") > duration("1s")'), set()),
        (COMPILE + 'c(\'"a".matches("b")\')', {"re2"}),
        (COMPILE + MATCH.format('timestamp(0).getHours("Europe/Berlin") == 1'), {"zoneinfo"}),
        (COMPILE + 'c("true").explain({"attributes": {}}, driver="d")', {"dra_plan.cel.explain"}),
    ],
)
def test_only_what_is_needed_is_loaded(program: str, names: set[str]) -> None:
    assert loaded(program) == names


def test_the_declarations_are_made_once() -> None:
    assert environment.environment("1.36") is environment.environment("1.36")
