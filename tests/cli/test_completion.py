"""Completion scripts, and what they complete."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dra_plan.cli import completing
from dra_plan.cli.completion import Shell, candidates
from dra_plan.main import program
from tests.build import node

from .completion_files import FILES, content
from .running import ROOT, environment, in_process


@pytest.mark.parametrize("shell", Shell)
def test_scripts_in_the_repository_are_what_the_program_prints(shell: Shell) -> None:
    ran = in_process("completion", shell.value)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == content(shell)
    assert FILES[shell].read_text(encoding="utf-8") == ran.out, "stale: make completions"


def test_no_other_scripts_lie_about() -> None:
    folder = FILES[Shell.BASH].parent
    assert sorted(folder.iterdir()) == sorted(FILES.values())


QUICKSTART = "fixtures/quickstart"
CANDIDATES = [
    ("dra-plan all", ["allocate"]),
    ("dra-plan allocate --tog", ["--together"]),
    ("dra-plan completion f", ["fish"]),
    ("dra-plan allocate -o w", ["wide"]),
    ("dra-plan explain -o m", ["markdown"]),
    ("dra-plan validate --output sh", ["short"]),
    ("dra-plan pools --kubernetes-version 1.34", ["1.34", "1.34.9"]),
    ("dra-plan pools --feature-gates DRAConsumableC", ["DRAConsumableCapacity=false"]),
    ("dra-plan pools --quirks f", ["fixed"]),
    ("dra-plan allocate --report s", ["sarif=report.sarif"]),
    ("dra-plan schema Alloc", ["AllocationPlan"]),
    ("dra-plan validate --select DRA152", ["DRA152"]),
    (f"dra-plan allocate {QUICKSTART} --node gpu", ["gpu-a", "gpu-b"]),
    (f"dra-plan allocate {QUICKSTART} --node gpu-a,c", ["gpu-a,cpu-a"]),
    (f"dra-plan allocate -f {QUICKSTART} --drain c", ["cpu-a"]),
    (f"dra-plan explain {QUICKSTART} tr", ["train"]),
    (f"dra-plan explain {QUICKSTART} pod/", ["pod/train"]),
    (f"dra-plan schedule {QUICKSTART} deployment/s", ["deployment/serve"]),
    (
        f"dra-plan explain {QUICKSTART} --device gpu.example.com/gpu-a/",
        [f"gpu.example.com/gpu-a/gpu-{n}" for n in "01"],
    ),
    (f"dra-plan allocate {QUICKSTART} -n d", ["default"]),
    (f"dra-plan allocate {QUICKSTART} --without node/g", ["node/gpu-a", "node/gpu-b"]),
    ("dra-plan allocate no-such-file --node g", []),
    ("dra-plan allocate fixtures/qui", []),
]
"""Lines, and what their last word may become; nothing where the shell completes paths itself."""


@pytest.mark.parametrize(("words", "expected"), CANDIDATES)
def test_candidates(words: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    line = "\n".join(words.split())
    ran = in_process(_DRA_PLAN_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words.split()) - 1))
    assert ran.out.split() == expected
    assert ran.err == ""


def test_large_input_is_not_read_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completing, "MOST_BYTES", 100)
    test_candidates(f"dra-plan allocate {ROOT / QUICKSTART} --node gpu", [], monkeypatch)


BASH = """
source completions/dra-plan.bash
COMP_WORDS=({line}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_dra_plan_completion dra-plan
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -Uz compinit && compinit -u -d {home}/dump
compdef() {{ : }}
_arguments() {{ printf '%s\\n' "$@"; }}
_describe() {{ print -l ${{(P)${{@[-1]}}}}; }}
source completions/_dra-plan
words=({line}) CURRENT=${{#words}}
_dra_plan_completion
"""
FISH = """
source completions/dra-plan.fish
complete --do-complete='{line}'
"""
IN_SHELLS = [CANDIDATES[index] for index in (3, 7, 12, 15)]


def completed(shell: str, program: str, line: str, home: Path) -> str:
    """What a real shell offers for the line, with a `dra-plan` on its PATH that is this one."""
    command = home / "dra-plan"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dra_plan "$@"\n')
    command.chmod(0o755)
    env = environment(HOME=str(home), PATH=f"{home}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    text = program.format(line=line, home=home)
    done = subprocess.run([shell, "-c", text], capture_output=True, text=True, cwd=ROOT, env=env, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("line", [words for words, _ in IN_SHELLS])
@pytest.mark.parametrize(("shell", "program"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_real_shells_offer_the_same(shell: str, program: str, line: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}, which is not installed here")
    expected = next(candidates for words, candidates in IN_SHELLS if words == line)
    offered = completed(shell, program, line, tmp_path)
    for candidate in expected:
        assert candidate.replace(":", "\\:") in offered.replace('"', "")


def test_no_space_comes_after_a_value_that_goes_on(tmp_path: Path) -> None:
    """Neither shell gets it from the program, so each script says it in its own way; fish does so by itself."""
    told = {"bash": ("compopt() {{ echo $*; }}\n" + BASH, "-o nospace"), "zsh": (ZSH, "-S -- jsonpath=")}
    shells = [shell for shell in told if shutil.which(shell)]
    if not shells:
        pytest.skip("needs bash or zsh")
    for shell in shells:
        program, said = told[shell]
        program = program.replace("compdef()", "compadd() {{ echo $*; }}\ncompdef()")
        assert said in completed(shell, program, "dra-plan allocate -o jsonp", tmp_path)
        assert said not in completed(shell, program, "dra-plan allocate -o wi", tmp_path)


def test_zsh_answers_when_it_first_reads_the_file(tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("needs zsh")
    program = ZSH.replace("source completions/_dra-plan", "").replace("_dra_plan_completion\n", "_dra-plan\n")
    program = f"fpath=(completions $fpath)\nautoload -Uz _dra-plan\n{program}"
    assert "wide" in completed("zsh", program, "dra-plan allocate -o wi", tmp_path)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_takes_the_script() -> None:
    """Bash reads the script and registers a completion for the program."""
    program = f"source {FILES[Shell.BASH]} && complete -p dra-plan"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert "_dra_plan_completion" in done.stdout


def asked_by_kubectl(*words: str) -> list[str]:
    """What kubectl's plugin completion gets, and last the directive."""
    return candidates(program(), list(words))


@pytest.mark.parametrize(("line", "found"), [(line, found) for line, found in CANDIDATES if "schema" not in line])
def test_kubectl_gets_the_same_of_its_plugin(line: str, found: list[str]) -> None:
    *values, directive = asked_by_kubectl(*line.split(" ")[1:])
    assert values == found
    assert directive == (":4" if found else ":0")


def test_kubectl_puts_no_space_after_what_goes_on() -> None:
    assert asked_by_kubectl("allocate", "-o", "json") == ["json", "jsonpath=", ":4"]
    assert asked_by_kubectl("allocate", "-o", "jsonp") == ["jsonpath=", ":6"]


def test_kubectl_is_told_nothing_that_could_be_another_line(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([node("good"), node("bad\n:1"), node("worse\x1b[2J")]))
    assert asked_by_kubectl("allocate", str(path), "--node", "") == ["good", ":4"]


@pytest.mark.parametrize("words", [(), ("",), ("--",), ("no-such-command", ""), ("allocate", "--node")])
def test_whatever_kubectl_asks_has_an_answer(words: tuple[str, ...]) -> None:
    assert re.fullmatch(r":\d", asked_by_kubectl(*words)[-1])


def test_the_program_that_kubectl_starts() -> None:
    code = "from dra_plan.main import complete_plugin; complete_plugin()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "explai"], capture_output=True, text=True, env=environment(), check=True
    )
    assert ran.stdout.splitlines() == ["explain", ":4"]
