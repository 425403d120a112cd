"""Every example of the README is run, and prints what the README says."""

import gzip
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import limits
from tests.cli.running import ROOT, environment

README_FILE = ROOT / "README.md"
README = README_FILE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```console\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def commands(example: str) -> list[tuple[str, str]]:
    """(command, output) pairs of an example: a command follows `$ `, its output comes up to the next one."""
    parts = re.split(r"^\$ (.*)\n", example, flags=re.MULTILINE)
    assert not parts[0], "an example starts with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `dra-plan`, as an installation has it."""
    program = tmp_path / "dra-plan"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m dra_plan "$@"\n')
    program.chmod(0o755)
    return tmp_path


def run(command: str, programs: Path) -> str:
    """What a command prints, on standard output and standard error together."""
    env = environment()
    env["PATH"] = f"{programs}:{env['PATH']}"
    done = limits.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env=env,
    )
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0][2:60])
def test_example(example: str, programs: Path, updating: bool) -> None:
    printed = [(command, run(command, programs)) for command, _ in commands(example)]
    if updating:
        text = README_FILE.read_text(encoding="utf-8")
        new = "".join(f"$ {command}\n{output}" for command, output in printed)
        README_FILE.write_text(text.replace(example, new), encoding="utf-8")
        return
    assert printed == commands(example)


@pytest.mark.parametrize("example", PYTHON, ids=lambda text: text.splitlines()[-1][:40])
def test_python_example(example: str) -> None:
    """What a comment after a call of print says is what it prints."""
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
    done = limits.run([sys.executable, "-c", example], capture_output=True, cwd=ROOT, env=environment(), check=True)
    assert done.stdout.splitlines() == said
    assert said


def test_there_are_examples() -> None:
    assert len([command for example in EXAMPLES for command in commands(example)]) >= 4
    assert PYTHON


def test_paragraphs_are_short() -> None:
    """Three lines of a page: who looks for an answer does not read more."""
    text = re.sub(r"^```.*?^```$", "", README, flags=re.DOTALL | re.MULTILINE)
    long = [line for line in text.splitlines() if len(line) > 360 and not line.startswith(("|", "![", "- "))]
    assert long == []


RECORDED = ROOT / "tests" / "conformance"
GROUPS = {
    "allocations": ["cases", "cases-1.34", "cases-1.35", "cases-1.36.3", "cases-1.37"],
    "difficult allocations": ["hard", "quirks"],
    "complete scheduling runs": ["schedule", "gang", "gang-quirks", "volume", "nodealloc"],
    "numbers of copies": ["capacity"],
    "objects": ["validate"],
    "CEL": ["cel", "cel_cost"],
    "final states": ["control", "settled"],
    "decisions": ["autoscale"],
}


def is_compared(case: dict[str, Any]) -> bool:
    """Not what had begun otherwise, nor what a recording without the defect stands for."""
    return not case.get("startDiffers") and case.get("quirk") != "139651"


@pytest.mark.parametrize("group", GROUPS)
def test_the_number_of_recorded_cases_is_that_of_the_files(group: str) -> None:
    [row] = [line for line in README.splitlines() if line.startswith(f"| {group}")]
    cases = 0
    for name in GROUPS[group]:
        with gzip.open(RECORDED / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            cases += sum(1 for line in lines if is_compared(json.loads(line)))
    assert row.split("|")[2].strip() == f"{cases:,}"


@pytest.mark.parametrize("target", re.findall(r"\]\((?!https?:|#)([^)#]+)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
