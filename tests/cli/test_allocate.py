"""`dra-plan allocate`: where its output goes, and what its options choose."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from dra_plan.questions import schema as schemas
from tests.limits import HANGING

from .running import INPUTS, ROOT, environment, given, in_process


def plan(*arguments: str, stdin: str = "") -> dict[str, object]:
    return json.loads(in_process("allocate", *arguments, "-o", "json", stdin=stdin).out)  # type: ignore[no-any-return]


def planned(*arguments: str) -> list[str]:
    return in_process("allocate", *arguments, "-o", "jsonpath={.claimSets[*].claims[*].name}").out.split()


def test_document_meets_its_schema() -> None:
    document = plan(*given("cluster", "fits", "too-many", "error"))
    jsonschema.Draft202012Validator(schemas.load("AllocationPlan")).validate(document)


def test_standard_input_and_files_are_the_same() -> None:
    paths = given("cluster", "fits")
    text = "\n---\n".join(Path(path).read_text() for path in paths)
    for arguments in (["-"], ["-f", "-"], [paths[0], "-"]):
        stdin = Path(paths[1]).read_text() if paths[0] in arguments else text
        assert plan(*arguments, stdin=stdin) == plan(*paths)


def test_filename_option_is_a_path() -> None:
    first, second = given("cluster", "fits")
    assert plan("-f", first, "--filename", second) == plan(first, second)


def test_what_options_choose() -> None:
    inputs = given("cluster", "fits", "too-many")
    assert planned(*inputs) == ["fits", "too-many"]
    assert planned(*inputs, "-l", "size=fits") == ["fits"]
    assert planned(*inputs, "-l", "size notin (fits)") == ["too-many"]
    assert planned(*inputs, "-n", "elsewhere", "--allow-empty") == []
    assert planned(*inputs, "-n", "default") == ["fits", "too-many"]
    together = in_process("allocate", *inputs, "--together", "-o", "jsonpath={.claimSets[0].claims[*].name}")
    assert together.out == "fits too-many"


def test_nodes_choose_what_is_planned() -> None:
    names = "jsonpath={.claimSets[*].nodes[*].name}"
    inputs = given("cluster", "fits")
    assert in_process("allocate", *inputs, "-o", names).out == "node-a node-b"
    assert in_process("allocate", *inputs, "--node", "node-b", "-o", names).out == "node-b"
    assert in_process("allocate", *inputs, "--node", "node-b", "--node", "node-a", "-o", names).out == "node-a node-b"


def test_warnings_go_to_standard_error(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text((INPUTS / "fits.yaml").read_text().replace("k8s.io/v1", "k8s.io/v1beta2"))
    ran = in_process("allocate", *given("cluster"), str(old), "--runtime-config", "api/beta", "-o", "json")
    assert ran.status == 0
    assert json.loads(ran.out)["warnings"][0]["code"] == "deprecated-api"
    assert ran.err.startswith("warning: ")


def test_kinds_that_are_not_used_are_counted() -> None:
    extra = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    ran = in_process("allocate", *given("cluster", "fits"), "-", stdin=extra)
    assert ran.status == 0
    assert ran.err == "note: skipped, because planning does not use them: 1 ConfigMap\n"


def test_a_note_about_kinds_that_are_not_used_stands_below_the_result_and_above_an_error(tmp_path: Path) -> None:
    """Dumps with `-o json` of many kinds often have Events, and `explain` reads some: they are never named."""
    extra = tmp_path / "extra.yaml"
    told = "note: skipped, because planning does not use them: 1 ConfigMap"
    kinds = ("v1, kind: ConfigMap", "v1, kind: Event", "events.k8s.io/v1, kind: Event")
    extra.write_text("".join(f"---\n{{apiVersion: {kind}, metadata: {{name: x}}}}\n" for kind in kinds))

    def shown(*arguments: str) -> list[str]:
        command = [sys.executable, "-m", "dra_plan", *arguments, str(extra)]
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        ran = subprocess.run(command, check=False, text=True, cwd=ROOT, env=environment(), **both)
        return str(ran.stdout).splitlines()

    assert shown("explain", *given("cluster", "fits"))[-1] == told
    first, second = shown("explain", "pod/none")
    assert first == told
    assert second.startswith("error: ")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo terminals")
@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_on_a_terminal(env: dict[str, str]) -> None:
    text = _on_terminal(["allocate", *given("cluster", "fits", "error")], {"TERM": "xterm", **env})
    assert bool(re.search("\x1b\\[[0-9;]*m", text)) == (not env)
    assert max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in text.split("\r\n")) <= 80


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo terminals")
def test_a_terminal_gets_data_undecorated() -> None:
    text = _on_terminal(["allocate", *given("cluster", "fits"), "-o", "json"], {"TERM": "xterm"})
    assert json.loads(text)["kind"] == "AllocationPlan"


def _on_terminal(arguments: list[str], env: dict[str, str]) -> str:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "dra_plan", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(**env),
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux reports the end of a pseudo terminal as an error
            break
        if not chunk:
            break
        text += chunk
    os.close(ours)
    process.communicate(timeout=HANGING)
    return text.decode()


def test_explain_fills_the_reasons() -> None:
    inputs = given("cluster", "too-many")
    codes = "jsonpath={.claimSets[*].nodes[*].reasons[*].code}"
    assert in_process("allocate", *inputs, "-o", codes).out == ""
    assert in_process("allocate", *inputs, "--explain", "-o", codes).out != ""
    document = json.loads(in_process("allocate", *inputs, "--explain", "-o", "json").out)
    jsonschema.Draft202012Validator(schemas.load("AllocationPlan")).validate(document)


def test_nothing_to_plan_says_what_was_looked_for() -> None:
    ran = in_process("allocate", *given("cluster", "fits"), "-n", "other", "-l", "app=web")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "error: nothing to plan: the input has no pending claim, and no pod or workload that uses one,"
        " in namespace other, with labels app=web (--allow-empty makes that a success)\n"
    )
