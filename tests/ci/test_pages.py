"""docs/ci.md and SECURITY.md: examples print what they say; options, limits and links are the program's."""

import re
from pathlib import Path

import pytest

from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.cel import cost, lexer, values
from dra_plan.main import program
from dra_plan.manifests import sources, unwrap, yaml_builder, yaml_reader
from tests.cli.running import ROOT, in_process
from tests.test_readme import commands, programs, run

CI = ROOT / "docs" / "ci.md"
SECURITY = ROOT / "SECURITY.md"
EXAMPLES = re.findall(r"^```console\n(.*?)^```$", CI.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

__all__ = ["programs"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0][2:60])
def test_examples(example: str, programs: Path) -> None:
    assert [(command, run(command, programs)) for command, _ in commands(example)] == commands(example)


def test_gates_are_options_of_the_commands_that_the_table_names() -> None:
    rows = re.findall(r"^\| `(--[a-z-]+)[^|]*\| ([a-z, ]+) \|", CI.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 7
    for option, names in rows:
        for command in names.split(", "):
            assert option in in_process(command, "--help").out


def test_every_command_that_takes_reports_is_named() -> None:
    names = [command.callback.__name__ for command in program().registered_commands if command.callback]
    taking = {name for name in names if "junit=FILE" in " ".join(in_process(name, "--help").out.split())}
    (sentence,) = re.findall(r"^`--report` can be repeated.*$", CI.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for name in names if f"`{name}`" in sentence} == taking


@pytest.mark.parametrize("page", [CI, SECURITY], ids=lambda page: page.name)
def test_what_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / link).exists(), link
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)", text):
        assert re.search(rf"^{target}:", targets, re.MULTILINE), target


def test_limits_are_the_programs() -> None:
    table = SECURITY.read_text(encoding="utf-8").partition("## Limits")[2].partition("## ")[0]
    assert sources.MAX_BYTES == 1 << 30
    assert yaml_reader.MAX_LINE == 16 << 20
    for what, number in (
        ("nesting of YAML and JSON", yaml_builder.MAX_DEPTH),
        ("nested `List` objects", unwrap.MAX_DEPTH),
        ("values that YAML aliases of a document repeat", yaml_builder.MAX_ALIASED),
        ("cost of a selector", cost.COST_LIMIT),
        ("nesting of a selector", lexer.MOST_DEPTH),
        ("a string that a selector builds", values.MAX_TEXT),
        ("search per claim set and node", DEFAULT_MAX_STEPS),
    ):
        (row,) = (line for line in table.splitlines() if line.startswith(f"| {what} |"))
        assert f"| {number:,} " in row.replace(", as", " as"), row


def test_what_shows_a_promise_exists() -> None:
    table = SECURITY.read_text(encoding="utf-8").partition("## Which tests check it")[2].partition("## ")[0]
    named = re.findall(r"`(tests/[^`:]+)(?:::(\w+))?`", table)
    assert len(named) > 20
    for path, test in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {test or 'test_'}", source, re.MULTILINE), (path, test)
