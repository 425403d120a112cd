"""The manual pages: one per command, complete, and understood by roff where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dra_plan import __version__
from dra_plan.main import program
from scripts import man_pages
from tests.cli.running import in_process

COMMANDS = [command.callback.__name__ for command in program().registered_commands if command.callback]
PAGES = man_pages.pages()


def test_there_is_a_page_for_the_program_and_for_each_command() -> None:
    assert set(PAGES) == {"dra-plan.1", *(f"dra-plan-{command}.1" for command in COMMANDS)}
    assert all(f'"dra-plan {__version__}"' in text for text in PAGES.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_help_is_in_the_page(command: str) -> None:
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", in_process(command, "--help").out))
    page = PAGES[f"dra-plan-{command}.1"].replace("\\-", "-")
    assert options
    assert {option for option in options if option not in page} == set()


@pytest.mark.parametrize(
    ("text", "escaped"),
    [("a-b", "a\\-b"), (".x", "\\&.x"), ("'x", "\\&'x"), ("a\\b", "a\\eb"), ('say "x"', "say \\(dqx\\(dq")],
)
def test_text_is_no_request(text: str, escaped: str) -> None:
    assert man_pages.escaped(text) == escaped


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_they_are_set_without_a_warning(tmp_path: Path) -> None:
    man_pages.write(tmp_path / "man")
    for page in sorted((tmp_path / "man").iterdir()):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        plain = re.sub(".\b", "", done.stdout)
        assert "NAME" in plain
        assert "EXIT STATUS" in plain
