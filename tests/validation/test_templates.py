"""What is not rendered yet: places of templates that are left in quotes, and values of a chart."""

from pathlib import Path

import pytest

from .judging import judged

SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice, labels: {a: b}}
spec:
  driver: gpu.example.com
  pool: {name: pool, generation: 1, resourceSliceCount: 1}
  nodeName: node-a
  devices:
  - name: gpu-0
    attributes:
      model: {string: a}
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("name: slice", "DRA101"),
        ("driver: gpu.example.com", "DRA101"),
        ("name: pool", "DRA101"),
        ("name: gpu-0", "DRA101"),
        ("model: ", "DRA102"),
        ("a: b", "DRA105"),
    ],
)
def test_a_place_of_a_template_is_told_as_one(text: str, code: str, tmp_path: Path) -> None:
    key, _, value = text.partition(": ")
    rendered = f'{key}: "{{{{ .Values.x }}}}"' if value else '"{{ .Values.x }}": '
    [found] = judged(tmp_path, SLICE.replace(text, rendered)).findings
    assert (found.code, found.suggestion) == (code, "")
    assert found.message.startswith('"{{ .Values.x }}" is not a valid ')
    assert found.message.endswith(": a template has to be rendered first")


def test_values_of_a_chart_are_one_finding(tmp_path: Path) -> None:
    [found] = judged(tmp_path, "replicaCount: 3\nimage: {repository: x}\n").findings
    assert (found.code, found.line, found.field) == ("DRA005", 1, "")
    assert found.message == "has neither apiVersion nor kind, and so is no manifest"
    assert [one.field for one in judged(tmp_path, "kind: Pod\nmetadata: {name: a}\n").findings] == ["apiVersion"]
