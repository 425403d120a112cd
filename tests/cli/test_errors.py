"""Errors on the command line: one style, a line for each fault, no line that was not meant, nothing too long."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .running import ROOT, in_process

QUICKSTART = str(ROOT / "fixtures" / "quickstart")
LONG, DIGITS = "x" * 300, "9" * 5000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["allocate", "x", "--bogus"], "error: no such option: --bogus"),
        (["schedule", "x", "-v"], "error: no such option: -v; for more details use -o wide"),
        (["alocate", "x"], "error: no such command 'alocate'. Did you mean 'allocate'"),
        (["allocate", "x", "--max-steps", "a"], "error: '--max-steps': Input should be a valid integer"),
        (["allocate", "x", "--max-steps", DIGITS], "error: '--max-steps': "),
        (["completion"], "error: missing argument 'SHELL'. Choose from: bash, zsh, fish, powershell"),
        (["schema", "a", "b"], "error: got unexpected extra argument"),
        (["allocate", "-n"], "error: option '-n' requires an argument"),
        (["allocate", "x", "--a\nerror: forged\x1b"], "error: no such option: --a\\x0aerror: forged\\x1b"),
    ],
)
def test_the_option_parser_speaks_as_all_do(arguments: list[str], said: str) -> None:
    ran = in_process(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(said)
    assert ran.err.count("\n") == 1


def test_without_arguments_the_help_is_shown() -> None:
    ran = in_process()
    assert ran.status == 2
    assert ran.err.startswith("Usage: dra-plan")


FORGED = "a\nerror: forged"


@pytest.mark.parametrize(
    "arguments",
    [
        ["allocate", QUICKSTART, "--node", FORGED],
        ["allocate", QUICKSTART, FORGED],
        ["allocate", f"{FORGED}.yaml"],
        ["allocate", QUICKSTART, "-l", FORGED],
        ["allocate", QUICKSTART, "-o", FORGED],
        ["allocate", QUICKSTART, "-o", f"jsonpath={{.a[{FORGED}]}}"],
        ["allocate", QUICKSTART, "--kubernetes-version", FORGED],
        ["allocate", QUICKSTART, "--feature-gates", FORGED],
        ["allocate", QUICKSTART, "--quirks", FORGED],
        ["allocate", QUICKSTART, "--report", FORGED],
        ["allocate", QUICKSTART, "--fail-on", FORGED],
        ["allocate", QUICKSTART, "--cordon", FORGED],
        ["allocate", QUICKSTART, "--without", FORGED],
        ["explain", QUICKSTART, "--device", FORGED],
        ["schedule", QUICKSTART, "--config", FORGED],
        ["schedule", QUICKSTART, "--then", FORGED],
        ["schedule", QUICKSTART, "--api-server", FORGED],
        ["validate", QUICKSTART, "--select", FORGED],
        ["validate", QUICKSTART, "--config", FORGED],
        ["schema", FORGED],
        [FORGED],
    ],
)
def test_no_argument_makes_a_line_of_its_own(arguments: list[str]) -> None:
    ran = in_process(*arguments)
    assert ran.status == 2
    assert "forged" in ran.err
    assert [line for line in ran.err.splitlines() if line.startswith("error: forged")] == []


def test_no_manifest_makes_a_line_of_its_own() -> None:
    metadata = {"name": FORGED, "namespace": FORGED}
    claim = {"apiVersion": f"resource.k8s.io/{FORGED}", "kind": "ResourceClaim", "metadata": metadata}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {FORGED: 1, "nodeName": {FORGED: FORGED}}}
    ran = in_process("allocate", "-", stdin="\n---\n".join(map(json.dumps, (claim, pod))))
    assert ran.status == 2
    assert [line for line in ran.err.splitlines() if line.startswith("error: forged")] == []


@pytest.mark.parametrize(
    ("expression", "quoted", "under"),
    [
        ('device.driver == "a::b" && nope', '"a:\\u003ab" && nope', "nope"),
        ('"##[x]::\x1b" == nope', '"\\u0023#[x]:\\u003a\\x1b" == nope', "nope"),
        ("device.driver == 'é::' || nope", "'é:\\u003a' || nope", "nope"),
    ],
)
def test_the_caret_stands_under_its_place_in_what_is_shown(expression: str, quoted: str, under: str) -> None:
    *_, line, caret = in_process("cel", expression).err.splitlines()
    assert quoted in line
    assert line[caret.index("^") :].startswith(under)


@pytest.mark.parametrize("command", ["allocate", "explain", "schedule", "pools", "validate"])
def test_a_path_that_is_too_long_is_told(command: str) -> None:
    ran = in_process(command, f"{LONG}.yaml")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"error: {LONG}.yaml: file name too long\n"
    assert in_process(command, f"-f={LONG}").status == 2


def test_other_long_names_are_told() -> None:
    for arguments in (["--then", LONG], ["--config", LONG], ["--report", f"junit={LONG}"]):
        ran = in_process("schedule", QUICKSTART, *arguments)
        assert ran.status == 2
        assert "file name too long" in ran.err.lower()
    ran = in_process("allocate", QUICKSTART, LONG)
    assert ran.status == 2
    assert ran.err == f"error: no file, pod, workload or claim is named '{LONG}'\n"
    assert in_process("allocate", QUICKSTART, "--add-nodes", f"1={LONG}").status == 2


CLAIM = """{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "a"}, "spec": {"devices":
{"requests": [{"name": "g", "exactly": {"deviceClassName": "x", "count": %s}}]}}}"""


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("command", ["allocate", "explain", "schedule", "pools", "validate"])
def test_integers_of_5000_digits(command: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / f"claim.{form}"
    path.write_text(("# YAML\n" if form == "yaml" else "") + CLAIM % DIGITS)
    ran = in_process(command, str(path))
    assert ran.status == (1 if command == "validate" and form == "yaml" else 2), ran.err
    assert len(ran.err) < 1000


@pytest.mark.parametrize(
    "arguments",
    [
        ["-l", f"a>{DIGITS}"],
        ["-o", f"jsonpath={{.claimSets[{DIGITS}]}}"],
        ["-o", f"jsonpath={{.claimSets[:{DIGITS}]}}"],
        ["-o", f"jsonpath={{.claimSets[?(@.a=={DIGITS})]}}"],
        ["--kubernetes-version", f"1.{DIGITS}"],
        ["--kubernetes-version", f"1.36.{DIGITS}"],
    ],
)
def test_numbers_of_5000_digits_in_options(arguments: list[str]) -> None:
    assert in_process("allocate", QUICKSTART, *arguments).status == 2


@pytest.mark.parametrize(
    "function", ["int('-{}')", "int('{}')", "uint('{}')", "quantity('{}')", "duration('{}s')", "duration('0.{}s')"]
)
@pytest.mark.parametrize("digits", [DIGITS, "0" * 5000])
def test_numbers_of_5000_digits_in_selectors(function: str, digits: str) -> None:
    ran = in_process("cel", f"{function.format(digits)} == {function.format(digits)}", QUICKSTART)
    assert ran.status in (0, 1, 2)


def test_zeros_before_a_number_do_not_count() -> None:
    zeros = "0" * 5000
    for text, value in ((f"int('-{zeros}12')", "-12"), (f"int('{zeros}12')", "12"), (f"uint('{zeros}12')", "12u")):
        device = ("--device", "gpu.example.com/gpu-a/gpu-0", "-o", "jsonpath={.devices[*].match}")
        assert in_process("cel", f"{text} == {value}", QUICKSTART, *device).out == "true"


def test_a_list_that_is_cut_off_says_so() -> None:
    items = "apiVersion: v1\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n"
    ran = in_process("pools", "-", stdin=items)
    assert ran.status == 2
    assert "kind: missing (kubectl writes it after items: the file looks cut off)" in ran.err
    assert "cut off" not in in_process("pools", "-", stdin="apiVersion: v1\nmetadata: {name: a}\n").err


def test_nodes_cannot_be_inferred_without_slices() -> None:
    ran = in_process("explain", "-", "--infer-nodes", stdin="apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")
    assert (ran.status, "no ResourceSlices from which to create them" in ran.err) == (2, True)
