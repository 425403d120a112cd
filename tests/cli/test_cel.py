"""`dra-plan cel`: its document, its tables, and what it rejects."""

import io
import json
import re
import sys
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from dra_plan.cel.lexer import CelCompileError
from dra_plan.cli.running import Exit
from dra_plan.errors import UsageError
from dra_plan.questions import schema as schemas
from dra_plan.questions.cel import command
from dra_plan.questions.cel.answer import OF_THE_SHELL

from .running import ROOT


def cel(
    expression: str, paths: list[str] | None = None, *, device: str | None = None, output: str = "table", **given: Any
) -> Exit:
    """The command, without the option parser."""
    unsaid = {"filenames": None, "recursive": False, "kubernetes_version": None, "feature_gates": None}
    context = SimpleNamespace(params={**unsaid, "paths": paths, **given}, info_name="cel")
    return command.cel(context, expression=expression, device=device, output=output)


SLICES = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: old}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: rack/1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gone}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: new}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: rack/1, generation: 2, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    attributes: {model: {string: A100}, driverVersion: {version: 1.2.3}}
    capacity: {memory: {value: 40Gi}}
  - {name: gpu-1, attributes: {model: {string: H100}}, capacity: {memory: {value: 80Gi}}}
  - {name: gpu-2, attributes: {model: {string: H100}, odd: {version: "1"}}}
"""
SELECTOR = (
    'device.attributes["gpu.example.com"].model == "A100"'
    ' && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'
)


@pytest.fixture
def path(tmp_path) -> str:
    file = tmp_path / "slices.yaml"
    file.write_text(SLICES, encoding="utf-8")
    return str(file)


@pytest.fixture
def document(capsys) -> Any:
    def made(expression: str, *paths: str, **options: Any) -> dict[str, Any]:
        assert cel(expression, list(paths) or None, output="json", **options) is Exit.OK
        found = json.loads(capsys.readouterr().out)
        jsonschema.Draft202012Validator(schemas.load("SelectorReport")).validate(found)
        return found

    return made


def test_an_expression_alone(document):
    found = document(SELECTOR)
    assert (found["resultType"], found["maxCost"], found["costLimit"]) == ("bool", 12, 1_000_000)
    assert found["reads"] == [
        {"kind": "attributes", "domain": "gpu.example.com", "id": "model"},
        {"kind": "capacity", "domain": "gpu.example.com", "id": "memory"},
    ]
    assert found["devices"] == []
    assert found["warnings"] == []


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ("true", []),
        ("device.driver == 'a'", [{"kind": "driver"}]),
        ("device.attributes.exists(x, true)", None),
    ],
)
def test_what_is_read(document, expression, reads):
    assert document(expression)["reads"] == reads


def test_devices_of_the_newest_generation(document, path):
    found = document(SELECTOR, path)["devices"]
    assert [device["device"] for device in found] == ["gpu-0", "gpu-1", "gpu-2"]
    assert [device.get("match") for device in found] == [True, False, None]
    assert "odd" in found[2]["error"]
    assert {device["pool"] for device in found} == {"rack/1"}


def test_one_device_with_the_values_of_all_parts(document, path):
    found = document(SELECTOR, path, device="gpu.example.com/rack/1/gpu-0")
    assert [device["device"] for device in found["devices"]] == ["gpu-0"]
    model, memory = found["explanation"]["parts"]
    assert found["explanation"]["value"] == "true"
    assert model["parts"][0] == {
        "expression": 'device.attributes["gpu.example.com"].model',
        "value": '"A100"',
        "parts": [],
    }
    assert memory["parts"][0]["value"] == "0"


def test_what_was_not_evaluated_has_neither_value_nor_error(document, path):
    explanation = document(SELECTOR, path, device="gpu.example.com/rack/1/gpu-1")["explanation"]
    assert explanation["value"] == "false"
    assert not {"value", "error"} & explanation["parts"][1].keys()


def test_a_device_that_can_not_be_read(document, path):
    explanation = document("true", path, device="gpu.example.com/rack/1/gpu-2")["explanation"]
    assert "odd" in explanation["error"]


def test_devices_that_match_are_counted_by_nodes_or_by_pools_that_nodes_share(capsys):
    cel("true", [str(ROOT / "fixtures" / "network-attached")])
    assert "7 of 7 devices match, on 1 node and in 3 pools that nodes share." in capsys.readouterr().out.splitlines()


MIXED = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: mixed}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: mixed, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: linked, attributes: {nvl: {bool: true}}}
  - {name: bare}
"""
NVL = 'device.attributes["gpu.example.com"].nvl'


def test_an_expression_that_fails_on_some_devices_comes_with_its_guard(document, tmp_path, capsys):
    mixed = tmp_path / "mixed.yaml"
    mixed.write_text(MIXED, encoding="utf-8")
    better = f'"nvl" in device.attributes["gpu.example.com"] && {NVL}'
    assert document(NVL, str(mixed))["hint"]["expression"] == better
    assert "hint" not in document(better, str(mixed))
    cel(NVL, [str(mixed)])
    told = capsys.readouterr().out
    assert (
        "1 of 2 devices matches, on 1 node; the expression fails on 1 device: as soon as the scheduler checks "
        "this device," in told
    )
    assert f"This expression does not fail on any device:\n  {better}\n" in told


def test_table(path, capsys):
    cel(SELECTOR, [path], device="gpu.example.com/rack/1/gpu-0")
    assert capsys.readouterr().out == (
        "TYPE   ESTIMATED COST   LIMIT     READS\n"
        "bool   12               1000000   attributes gpu.example.com/model, capacity gpu.example.com/memory\n"
        "\n"
        "DRIVER            POOL     DEVICE   MATCH   COST   ERROR\n"
        "gpu.example.com   rack/1   gpu-0    yes     12     -\n"
        "\n"
        "1 of 1 device matches, on 1 node.\n"
        "\n"
        "VALUE              EXPRESSION\n"
        f"true               {SELECTOR}\n"
        'true                 device.attributes["gpu.example.com"].model == "A100"\n'
        '"A100"                 device.attributes["gpu.example.com"].model\n'
        'true                 device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0\n'
        '0                      device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi"))\n'
        'quantity("40Gi")         device.capacity["gpu.example.com"].memory\n'
        'quantity("40Gi")         quantity("40Gi")\n'
        "\n"
        "Kubernetes 1.36.3.\n"
    )


def test_names_of_matching_devices(path, capsys):
    cel(SELECTOR, [path], output="name")
    assert capsys.readouterr().out == "gpu.example.com/rack/1/gpu-0\n"


@pytest.mark.parametrize(
    ("expression", "code"),
    [("[1].includes(1)", "selector-refused"), ("lists.range(1000000).all(x, true)", "selector-too-expensive")],
)
def test_what_the_api_server_refuses_is_a_warning(document, expression, code):
    (warning,) = document(expression)["warnings"]
    assert warning["code"] == code


def test_gates_and_version(document):
    expression = "device.attributes['d'].a.exists(x, x == 1)"
    assert document(expression, feature_gates=["DRAListTypeAttributes=true"])["maxCost"] > 100
    with pytest.raises(CelCompileError, match="cannot be range of a comprehension"):
        cel(expression)
    with pytest.raises(CelCompileError, match="undeclared reference to 'includes'"):
        cel("[1].includes(1)", kubernetes_version="1.35")


def test_the_expression_from_standard_input(document, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("device.driver ==\n  'a'\n"))
    assert document("-")["expression"] == "device.driver ==\n  'a'"


@pytest.mark.parametrize(
    ("paths", "device", "message"),
    [
        ([], "a/b/c", "--device needs the manifests"),
        (["-"], None, "standard input cannot be both"),
    ],
)
def test_wrong_questions(paths, device, message):
    with pytest.raises(UsageError, match=message):
        cel("-", paths, device=device) if paths else cel("true", device=device)


@pytest.mark.parametrize("device", ["a", "a/b", "/b/c", "a//c", "a/b/"])
def test_malformed_devices(device, path):
    with pytest.raises(UsageError, match="is not DRIVER/POOL/DEVICE"):
        cel("true", [path], device=device)


def test_an_unknown_device_is_answered_with_a_near_one(path):
    with pytest.raises(UsageError, match=r"did you mean gpu\.example\.com/rack/1/gpu-0\?"):
        cel("true", [path], device="gpu.example.com/rack/1/gpu-00")


@pytest.mark.parametrize("name", ["gpu-0", "1/gpu-0", "rack/1/gpu-0", "gpu.example.com/rack/1/gpu-0"])
def test_the_end_of_a_devices_name_is_enough(name, path, capsys):
    cel("true", [path], device=name, output="name")
    assert capsys.readouterr().out == "gpu.example.com/rack/1/gpu-0\n"


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("gpu-9", "; there are gpu.example.com/rack/1/gpu-0, gpu.example.com/rack/1/gpu-1 and "),
        ("gpv-1", " (did you mean gpu.example.com/rack/1/gpu-1?)"),
        ("a/b/c", "no resource slice in the input has device 'a/b/c'; there are "),
    ],
)
def test_the_devices_are_listed_unless_one_is_meant(device, said, path):
    with pytest.raises(UsageError, match=re.escape(said)):
        cel("true", [path], device=device)


def test_two_devices_of_one_name_are_told_apart(tmp_path):
    path = tmp_path / "slices.yaml"
    path.write_text(
        f"{SLICES}---{SLICES.replace('rack/1', 'rack/2').replace('metadata: {name: ', 'metadata: {name: x')}",
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match="2 devices are called 'gpu-0': "):
        cel("true", [str(path)], device="gpu-0")


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ("device.attributes[gpu.example.com].model != A100", 'device.attributes["gpu.example.com"].model != "A100"'),
        ("(device.driver == gpu.example.com) || false", '(device.driver == "gpu.example.com") || false'),
    ],
)
def test_quotes_that_a_shell_removes(expression, meant, path):
    """With other quotes in the expression, or if they would not make it compile, quotes are not what is missing."""
    with pytest.raises(CelCompileError) as found:
        cel(expression, [path])
    assert f"\n | {meant}\n{OF_THE_SHELL}" in str(found.value)
    for other in (f'{expression} && "a" == b', f"{expression} +"):
        with pytest.raises(CelCompileError) as found:
            cel(other, [path])
        assert OF_THE_SHELL not in str(found.value)
