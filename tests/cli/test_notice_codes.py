"""The codes of warnings: a misspelt one is an error, and the list of all of them is complete."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dra_plan import Cluster, UsageError
from dra_plan.api.codes import CODES
from dra_plan.api.inventory import NOTES
from tests.build import gpus

from .running import ROOT, in_process

UPGRADE = str(ROOT / "fixtures" / "upgrade")
ELSEWHERE = {"field-dropped", "not-simulated"}
"""Codes that a function returns with their text (`releases/fields.py`)."""


def test_every_code_that_is_created_is_in_the_list() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "dra_plan").rglob("*.py")]
    constants = dict(pair for tree in trees for pair in _constants(tree))
    created = {code for tree in trees for code in _created(tree, constants)}
    assert created | ELSEWHERE == CODES
    assert NOTES <= CODES


def _constants(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code = node.value.value
            if code in CODES or "-" in code:
                yield from ((target.id, code) for target in node.targets if isinstance(target, ast.Name))


def _created(tree: ast.AST, constants: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Notice" and node.args:
            code = node.args[0]
            if isinstance(code, ast.Constant):
                yield str(code.value)
            elif isinstance(code, ast.Name) and code.id in constants:
                yield constants[code.id]


@pytest.mark.parametrize("command", ["allocate", "explain", "schedule", "pools"])
def test_a_misspelt_code_is_an_error(command: str) -> None:
    ran = in_process(command, UPGRADE, "--ignore-warning", "upstream-defect,order-random-upstreem")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "error: --ignore-warning: no warning has the code 'order-random-upstreem';"
        " did you mean 'order-random-upstream'?\n"
    )


def test_a_code_that_is_like_no_other() -> None:
    ran = in_process("pools", UPGRADE, "--ignore-warning", "xyz")
    assert ran.status == 2
    assert ran.err.endswith("no warning has the code 'xyz' (warnings show their code in square brackets)\n")


def test_in_the_settings_of_a_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".dra-plan.toml").write_text('ignore-warnings = ["taint-rules-ignord"]\n')
    ran = in_process("pools", UPGRADE)
    assert ran.status == 2
    assert "ignore-warnings: no warning has the code 'taint-rules-ignord'; did you mean" in ran.err


def test_in_python() -> None:
    with pytest.raises(UsageError, match="codes: no warning has the code 'undecidet'; did you mean 'undecided'"):
        Cluster.of(gpus("a")).ignoring("undecidet")
