"""What `dra-plan cel` prints, as golden files: every format, errors with their place, and the exit statuses."""

import json

import pytest

from tests.conftest import Golden

from .running import ROOT, Ran, dra_plan, in_process

GOLDEN = ROOT / "tests" / "cli" / "golden"
QUICKSTART = str(ROOT / "fixtures" / "quickstart")
SELECTOR = (
    'device.attributes["gpu.example.com"].model == "A100"'
    ' && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'
)
DEVICE = "gpu.example.com/gpu-a/gpu-0"


@pytest.mark.parametrize("form", ["table", "json", "yaml", "name"])
def test_every_format(form: str, golden: Golden) -> None:
    ran = in_process("cel", SELECTOR, QUICKSTART, "--device", DEVICE, "-o", form)
    assert (ran.status, ran.err) == (0, "")
    golden(GOLDEN / f"cel-{form}.txt", ran.out)


REFUSED = {
    "misspelt": 'device.drvier == "x"',
    "two-lines": 'device.driver == "é" &&\n  device.driver.size() == "1"',
    "syntax": "device.driver == ",
    "several": 'nope == 1 || device.driver.foo() || "a" < 1',
    "type": "device.capacity",
    "conversion": 'int("abc") == 1',
    "empty": "",
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_show_their_place(name: str, golden: Golden) -> None:
    ran = in_process("cel", REFUSED[name])
    assert (ran.status, ran.out) == (2, "")
    golden(GOLDEN / f"cel-error-{name}.txt", ran.err)


@pytest.mark.parametrize("name", ["misspelt", "two-lines"])
def test_the_caret_is_under_the_place(name: str) -> None:
    lines = in_process("cel", REFUSED[name]).err.splitlines()
    at = next(index for index, line in enumerate(lines) if line.rstrip().endswith("^"))
    column = lines[at].rindex("^")
    assert lines[at - 1][column:].startswith(("drvier", ".drvier", "=="))


def piped(*arguments: str, stdin: str = "", **env: str) -> Ran:
    return dra_plan("cel", *arguments, stdin=stdin, **env)


def test_the_process_prints_the_same_into_a_pipe() -> None:
    ran = piped("-", QUICKSTART, "--device", DEVICE, stdin=f"{SELECTOR}\n")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (GOLDEN / "cel-table.txt").read_text(encoding="utf-8")
    assert "\x1b" not in ran.out
    assert piped(SELECTOR, QUICKSTART, "--device", DEVICE, NO_COLOR="1").out == ran.out


def test_manifests_from_standard_input() -> None:
    manifests = (ROOT / "fixtures" / "quickstart" / "cluster.yaml").read_text(encoding="utf-8")
    ran = in_process("cel", SELECTOR, "-", "-o", "name", stdin=manifests)
    assert ran.status == 0
    assert ran.out.splitlines() == ["gpu.example.com/gpu-a/gpu-0", "gpu.example.com/gpu-a/gpu-1"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["true"], 0),
        (["lists.range(1000000).all(x, true)"], 0),
        (["true", QUICKSTART], 0),
        (["nope"], 2),
        ([], 2),
        (["true", "/nowhere"], 2),
        (["true", QUICKSTART, "--device", "a/b/c"], 2),
        (["true", "-o", "dot"], 2),
        (["true", "--kubernetes-version", "1."], 2),
    ],
)
def test_exit_status(arguments: list[str], status: int) -> None:
    assert in_process("cel", *arguments).status == status


def test_runtime_errors_are_told_per_device() -> None:
    ran = in_process("cel", 'device.attributes["gpu.example.com"].nope == 1', QUICKSTART, "-o", "json")
    assert ran.status == 1
    assert {device["error"] for device in json.loads(ran.out)["devices"]} == {"no such key: nope"}
