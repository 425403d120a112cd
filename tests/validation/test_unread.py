"""What can't be read as manifests: a finding with its line beside those of the other files; what kubectl prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dra_plan.wording import DUMP
from tests.cli.running import ROOT, Ran, in_process

CLASS = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.example.com}\nspec: {}\n"
BAD_CLASS = CLASS.replace("spec: {}", "spec: {selectors: [{cel: {expression: device.drivr}}]}")
DESCRIBED = """Name:             train-0
Namespace:        ml
Node:             <none>
Labels:           app=train
Status:           Pending
Containers:
  main:
    Image:      app
Events:           <none>
"""
TABLE = "NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   0/1     Pending   0          2m\n"
TEMPLATE = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}-gpu\n"


def validated(folder: Path, *options: str, **texts: str) -> Ran:
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    return in_process("validate", *(str(folder / f"{name}.yaml") for name in texts), *options)


@pytest.mark.parametrize(
    ("text", "line", "marked", "said"),
    [
        ("kind: Pod\nmetadata: {name: x\nspec: {}\n", 3, "spec: {}", "YAML: "),
        ("kind: Pod\nmetadata:\n  name: [x\n", 3, "  name: [x", "YAML: "),
        ("a: 1\na: 2\n", 2, "a: 2", "key 'a' is set twice in one map"),
        ("- 1\n", 1, "- 1", "expected a Kubernetes object"),
        (DESCRIBED, 1, "Name:             train-0", DUMP),
        (TABLE, 1, TABLE.partition("\n")[0], "this is kubectl's table output"),
        (TEMPLATE, 4, "  name: {{ .Release.Name }}-gpu", "a template has to be rendered first"),
    ],
)
def test_a_broken_file_is_a_finding_and_the_others_are_checked(
    text: str, line: int, marked: str, said: str, tmp_path: Path
) -> None:
    ran = validated(tmp_path, "-o", "json", broken=text, other=BAD_CLASS)
    assert (ran.status, ran.err) == (1, "")
    first, second = json.loads(ran.out)["findings"]
    assert (first["code"], first["line"], second["code"]) == ("DRA016", line, "DRA121")
    assert said in first["message"]
    assert first["excerpt"]["text"] == marked.strip()
    assert first["excerpt"]["column"] == first["column"] == len(marked) - len(marked.lstrip()) + 1


def test_every_other_document_of_the_file_is_checked(tmp_path: Path) -> None:
    ran = validated(tmp_path, "-o", "json", one=f"{BAD_CLASS}---\na: [\n---\n{BAD_CLASS.replace('gpu', 'nic')}")
    assert [each["code"] for each in json.loads(ran.out)["findings"]] == ["DRA016", "DRA121", "DRA121"]


def test_a_broken_file_alone_is_an_error(tmp_path: Path) -> None:
    ran = validated(tmp_path, broken="a: [")
    assert (ran.status, ran.out) == (2, "")
    assert "broken.yaml:" in ran.err


def test_nothing_is_fixed_beside_a_broken_file(tmp_path: Path) -> None:
    old = CLASS.replace("/v1\n", "/v1beta1\n")
    ran = validated(tmp_path, "--fix", broken="a: [", other=old)
    assert (ran.status, ran.out) == (2, "")
    assert (tmp_path / "other.yaml").read_text() == old


def test_a_file_that_is_not_there_is_an_error_still(tmp_path: Path) -> None:
    ran = in_process("validate", str(tmp_path / "none.yaml"))
    assert (ran.status, ran.out) == (2, "")


def test_a_comment_or_setting_spares_it(tmp_path: Path) -> None:
    assert validated(tmp_path, "--ignore", "DRA016", broken="a: [", other=CLASS).status == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DESCRIBED, DUMP),
        (DESCRIBED.replace("\n", "\r\n"), DUMP),
        (DESCRIBED.replace("train-0", "$(id)"), DUMP),
        (DESCRIBED.replace("ml\n", "`id`\n"), DUMP),
        ("Name:   n1\nRoles:  <none>\nLabels: a=b\n", DUMP),
        ("Name:   c\nNamespace:  d\nKind:  ResourceClaim\n", DUMP),
        (TABLE, DUMP),
        ("NAMESPACE   NAME   READY\nml   a   1/1\n", DUMP),
        ("No resources found in ml namespace.\n", "it says: No resources found in ml namespace."),
        ("error: the server doesn't have a resource type\n", "it says: error: the server"),
    ],
)
def test_what_kubectl_prints_is_answered_with_what_to_run(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text(text)
    for command in ("explain", "schedule", "allocate", "pools"):
        ran = in_process(command, str(tmp_path / "given.txt"))
        assert (ran.status, ran.out) == (2, "")
        assert said in ran.err
    ran = in_process("explain", str(tmp_path))
    assert (ran.status, ran.out) == (2, "")
    assert "no .yaml, .yml or .json file in this directory; given.txt is " in ran.err
    assert said in ran.err


def test_the_command_for_a_dump_is_that_of_the_docs() -> None:
    for name in ("README.md", "docs/input.md", "docs/pending.md"):
        assert f"\n{DUMP}\n" in (ROOT / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("text", ["NAME: x\n", "Name: x\n", "Name:  x\nkind: Pod\napiVersion: v1\n", "NAME\n", ""])
def test_other_texts_are_not_taken_for_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "given.yaml").write_text(text)
    assert "this is" not in in_process("explain", str(tmp_path / "given.yaml")).err


def test_a_template_of_a_chart_is_answered_with_its_chart(tmp_path: Path) -> None:
    (tmp_path / "my chart" / "templates").mkdir(parents=True)
    (tmp_path / "my chart" / "Chart.yaml").write_text("name: x\n")
    (tmp_path / "my chart" / "values.yaml").write_text("model: A100\n")
    (tmp_path / "my chart" / "templates" / "pod.yaml").write_text(TEMPLATE)
    for given in ("", "values.yaml", "Chart.yaml", "templates", "templates/pod.yaml"):
        ran = in_process("explain", str(tmp_path / "my chart" / given))
        assert ran.status == 2
        assert f"`helm template '{tmp_path}/my chart' | dra-plan ... -`" in ran.err
