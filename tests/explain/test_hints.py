"""What was probably meant by a selector: the same in `explain`, `validate` and `cel`, and each expression was tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_plan.cel import compile_selector
from dra_plan.cel.meant import meant, rewritten
from dra_plan.explanation.hints import marked, of_text
from dra_plan.explanation.selectors import Publications
from tests.build import device, device_class, node, pod, request, slice_, template
from tests.cli.running import in_process

DRIVER = "gpu.acme.com"
MODEL = f'device.attributes["{DRIVER}"].model'
COMPUTE = f'device.attributes["{DRIVER}"].compute'
BY_MODEL = f'{MODEL} == "A100"'
SAME: dict[str, tuple[str, str, str]] = {
    "one equals sign": (f'{MODEL} = "A100"', BY_MODEL, "="),
    "no device": ('attributes.model == "A100"', BY_MODEL, "attributes"),
    "domain and name together": (f'device.attributes["{DRIVER}/model"] == "A100"', BY_MODEL, f'"{DRIVER}/model"'),
    "no domain": ('device.attributes["model"] == "A100"', BY_MODEL, "device"),
    "no domain, with a dot": ('device.attributes.model == "A100"', BY_MODEL, "device"),
    "a field of the device": ('device.model == "A100"', BY_MODEL, "device"),
    "nothing but the name": ('model = "A100"', BY_MODEL, "model"),
    "and": (f"{BY_MODEL} and {MODEL} != \"B\"", f"{BY_MODEL} && {MODEL} != \"B\"", "and"),
    "a sign for quantities": (
        f'device.capacity["{DRIVER}"].memory >= "40Gi"',
        f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
        ">=",
    ),
    "a misspelt name": (f'device.attributes["{DRIVER}"].modle == "A100"', BY_MODEL, "modle"),
    "another domain": ('device.attributes["acme.com"].model == "A100"', BY_MODEL, '"acme.com"'),
    "another profile": (
        f'device.attributes["{DRIVER}"].profile == "7g.79gb"',
        f'device.attributes["{DRIVER}"].profile == "7g.80gb"',
        '"7g.79gb"',
    ),
    "a number in quotes": (
        f'device.attributes["{DRIVER}"].cores == "8"',
        f'device.attributes["{DRIVER}"].cores == 8',
        '"8"',
    ),
    "a version in quotes": (f'{COMPUTE} >= "9.0.0"', f'{COMPUTE}.compareTo(semver("9.0.0")) >= 0', '"9.0.0"'),
    "a short version in quotes": (f'{COMPUTE} == "v9.0"', f'{COMPUTE} == semver("9.0.0")', '"v9.0"'),
    "a method for versions": (
        f'{COMPUTE}.isGreaterThan("8.9")',
        f'{COMPUTE}.isGreaterThan(semver("8.9.0"))',
        "(",
    ),
    "compareTo a string": (
        f'device.capacity["{DRIVER}"].memory.compareTo("40Gi") >= 0',
        f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
        "(",
    ),
    "an amount in bytes": (
        f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40GB")) >= 0',
        f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40G")) >= 0',
        '"40GB"',
    ),
    "a version with two numbers": (
        f'{COMPUTE}.isGreaterThan(semver("v8.9"))',
        f'{COMPUTE}.isGreaterThan(semver("8.9.0"))',
        '"v8.9"',
    ),
    "the order of a number in quotes": (
        f'device.attributes["{DRIVER}"].cores > "4"',
        f'device.attributes["{DRIVER}"].cores > 4',
        '"4"',
    ),
}  # fmt: skip


def cluster(folder: Path, expression: str) -> str:
    shape = pod("p", templates={"gpu": "t"})
    shape["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    gpu = device(
        "gpu-0", model="A100", profile="7g.80gb", cores=8, compute={"version": "9.0.0"}, capacity={"memory": "80Gi"}
    )
    objects = [
        *(node("n1"), slice_("n1", gpu, driver=DRIVER), device_class(DRIVER)),
        *(template("t", request("r", expression, of=DRIVER)), shape),
    ]
    path = folder / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(objects, width=10_000))
    return str(path)


@pytest.mark.parametrize("case", SAME)
def test_the_same_selector_gets_the_same_hint_in_all_three(case: str, tmp_path: Path) -> None:
    expression, better, part = SAME[case]
    path = cluster(tmp_path, expression)
    findings = json.loads(in_process("validate", path, "-o", "json").out)["findings"]
    assert {each["suggestion"] for each in findings} == {better}
    document = json.loads(in_process("explain", path, "pod/p", "-o", "json").out)
    changes = document["claimSets"][0]["suggestions"][0]["changes"]
    assert [change["replacement"] for change in changes] == [better]
    assert better in in_process("explain", path, "pod/p").out
    ran = in_process("cel", expression, path)
    assert better in (ran.err or ran.out).replace("error:  | ", "")
    # the part that is wrong has the caret
    at = expression.index(part) if part != "=" else expression.index(" = ") + 1
    assert f"{expression}\n{' ' * at}^\n" in f"{_bare(ran)}\n"
    line = Path(path).read_text().splitlines()[findings[0]["line"] - 1]
    assert all(line[each["column"] - 1 : each["endColumn"] - 1] == part for each in findings)


def _bare(ran: Any) -> str:
    """Quoted lines without what stands before them; the compiler's own carets have dots before them."""
    lines = [line.removeprefix("error:  | ") for line in ran.err.splitlines()]
    lines += [line.removeprefix("  ") for line in ran.out.splitlines()]
    return "\n".join(line.replace(".", " ") if line.endswith("^") else line for line in lines)


@pytest.mark.parametrize("case", SAME)
def test_a_hint_says_nothing_of_a_selector_that_is_right(case: str, tmp_path: Path) -> None:
    better = SAME[case][1]
    path = cluster(tmp_path, better)
    assert json.loads(in_process("validate", path, "-o", "json").out)["findings"] == []
    assert "hint" not in json.loads(in_process("cel", better, path, "-o", "json").out)


def published() -> Publications:
    return Publications([])


def compiles(text: str) -> bool:
    try:
        compile_selector(text, rules="new")
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "text",
    [
        'device.driver == "a = b and c"',
        "device.driver != 'attributes.model'",
        "[1, 2].exists(model, model == 1)",
        "device.allowMultipleAllocations",
        'device.attributes["d"].model == "and"',
        "has(device.attributes) // model = x",
        "cel.bind(model, 1, model == 1)",
    ],
)
def test_what_is_in_texts_comments_and_variables_is_left_alone(text: str) -> None:
    assert rewritten(text, meant(text, lambda _: [("attribute", "d")])) == text


@pytest.mark.parametrize("text", ["", "=", "= =", '"', "((((", "and", "attributes", "device.", 'x["' * 50, "\x00 = 1"])
def test_a_hint_is_never_what_does_not_compile(text: str) -> None:
    hint = of_text(text, published(), compiles)
    assert hint is None or not hint.expression or compiles(hint.expression)


def test_without_devices_the_domain_is_not_guessed() -> None:
    hint = of_text('attributes.model == "A100"', published(), compiles)
    assert hint is not None
    assert hint.expression == ""
    assert hint.said == ('attributes.model is device.attributes["DRIVER"].model',)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (f'{MODEL} == "A100"', "gpu-0 has no attribute model; other devices have it"),
        ('"acme.com" in device.attributes', "gpu-0 has no attribute in domain acme.com; other devices have one"),
        (f'{MODEL}s == "A100"', f"no device has attribute models in domain {DRIVER}; did you mean model?"),
        (f'device.attributes["{DRIVER}"].cores == 9', "cores is 8 on 1 device"),
    ],
)
def test_what_one_device_lacks_is_not_said_of_all_devices(expression: str, said: str, tmp_path: Path) -> None:
    path = cluster(tmp_path, expression)
    lacking = slice_("n2", device("gpu-0", cores=8), driver=DRIVER)
    other = slice_("n3", device("gpu-1", attributes={"acme.com/rack": "r1"}), driver=DRIVER)
    Path(path).write_text(f"{Path(path).read_text()}---\n{yaml.safe_dump_all([node('n2'), lacking, other])}")
    _, _, checks = in_process("explain", path, "pod/p", "--device", f"{DRIVER}/n2/gpu-0").out.partition("\ndevice ")
    assert f"\n             {said}\n" in checks
    ran = in_process("cel", expression, path, "--device", f"{DRIVER}/n2/gpu-0").out
    assert f"{said.replace('gpu-0 has', 'this device has').lower()}" in ran.lower()


def test_several_mistakes_are_mended_together(tmp_path: Path) -> None:
    text = 'model = "A100" and not profile = "x" & device.driver == "gpu.acme.com"'
    better = f'{BY_MODEL} && ! device.attributes["{DRIVER}"].profile == "x" && device.driver == "{DRIVER}"'
    homes = [("attribute", DRIVER)]
    assert rewritten(text, meant(text, lambda _: homes)) == better  # type: ignore[arg-type]
    assert "This compiles" not in in_process("cel", text, cluster(tmp_path, "true")).err  # `!` of a string


@pytest.mark.parametrize("expression", ["a\nb = 1", "\u00e9 = 1", "a\tb"])
def test_a_caret_stands_below_plain_lines_only(expression: str) -> None:
    assert marked(expression, 2) == []
    assert marked("a = 1", 2) == ["a = 1", "  ^"]
