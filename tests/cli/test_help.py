"""What --help prints, as golden files; and that it imports little."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dra_plan import __version__
from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.cli.helping import TOPICS
from dra_plan.main import program
from dra_plan.wording import DUMP

from .running import ROOT, dra_plan, environment, in_process

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = [command.callback.__name__ for command in program().registered_commands if command.callback]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command: str, golden: object) -> None:
    ran = in_process(*filter(None, [command]), "--help")
    assert (ran.status, ran.err) == (0, "")
    assert max(len(line) for line in ran.out.splitlines() if "kubectl get" not in line) <= 80  # that is to be copied
    assert not re.search("[\x1b\u2500-\u257f]", ran.out)
    golden(GOLDEN / f"help-{command or 'dra-plan'}.txt", ran.out)  # type: ignore[operator]


def test_the_default_of_max_steps_is_told() -> None:
    told = {name: " ".join(in_process(name, "--help").out.split()) for name in COMMANDS}
    having = [name for name, text in told.items() if "--max-steps" in text]
    assert {"allocate", "capacity", "diff", "grow", "place", "schedule"} <= set(having)
    assert [name for name in having if f"Undecided (default: {DEFAULT_MAX_STEPS:,})." not in told[name]] == []


def test_the_list_of_commands_has_whole_sentences() -> None:
    shown = in_process("--help").out
    listed = [
        line for topic in TOPICS for line in shown.partition(f"\n{topic}:\n")[2].partition("\n\n")[0].splitlines()
    ]
    sentences = {name: sentence for commands in TOPICS.values() for name, sentence in commands.items()}
    assert [tuple(line.split(maxsplit=1)) for line in listed] == list(sentences.items())
    assert sentences == {name: in_process(name, "--help").out.split("\n\n")[1].strip() for name in COMMANDS}
    assert sorted(line.split()[0] for line in listed) == sorted(COMMANDS)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_begins_with_examples_that_are_its_own(command: str) -> None:
    """They stand before the options, and each names the command with options that it has."""
    ran = in_process(command, "--help")
    before, _, rest = ran.out.partition("\nExamples:\n")
    assert before.count("\n\n") == 1, "the sentence"
    examples = [line.strip() for line in rest.partition("\n\n")[0].splitlines()]
    assert len(examples) >= (2 if command in ("schema", "completion") else 3)
    known = set(re.findall(r"(?<![\w-])-{1,2}[a-zA-Z][a-z-]*", rest.partition("\n\n")[2]))
    assert any(re.search(rf"dra-plan {command}\b", line) for line in examples)
    for line in examples:
        own = re.search(rf"dra-plan {command} (.*?)(?:\)|$)", line)
        options = re.findall(r"(?<!\S)-{1,2}[a-zA-Z][a-z-]*", own[1]) if own else []
        assert set(options) <= known, line


def test_no_option_tells_how_its_parser_checks_it() -> None:
    for command in COMMANDS:
        assert not re.search(r"\[x[<>]|<list|\[default: None", in_process(command, "--help").out), command


def test_the_plugin_s_examples_are_called_as_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dra_plan.cli.live.is_plugin", lambda: True)
    text = in_process("explain", "--help").out
    assert "  kubectl dra-plan explain --live pod/train\n" in text


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_short_help(flag: str) -> None:
    assert in_process("allocate", flag).out == in_process("allocate", "--help").out


def test_version() -> None:
    assert dra_plan("--version") == (0, f"dra-plan {__version__}\n", "")


def test_no_arguments_show_help() -> None:
    ran = in_process()
    assert "\nQuery:\n" in ran.out + ran.err
    assert f"\n    {DUMP}\n" in ran.out + ran.err, "the command that makes a dump, on a line of its own, to be copied"
    assert ran.status == 2


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_start_imports_nothing_heavy(flag: str) -> None:
    """Deterministic stand-in for the start-up time, which benchmarks/startup.py measures."""
    heavy = [
        "rich",
        "yaml",
        "jsonschema",
        "re2",
        "celpy",
        "lark",
        "msgspec",
        "dra_plan.planner",
        "dra_plan.manifests",
        "dra_plan.allocator",
    ]
    program = (
        "import sys; from dra_plan.main import run\n"
        f"sys.argv = ['dra-plan', {flag!r}]\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        f"print('HEAVY', [name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=environment(), check=True
    )
    assert done.stdout.splitlines()[-1] == "HEAVY []"
