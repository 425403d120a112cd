"""Keys without quotes that YAML reads as booleans, as Kubernetes does."""

from pathlib import Path

import pytest

from .judging import judged

SLICE = """\
apiVersion: resource.k8s.io/{version}
kind: ResourceSlice
metadata: {{name: grid, labels: {{KEY: a}}}}
spec:
  driver: grid.example.com
  pool: {{name: node-a, generation: 1, resourceSliceCount: 1}}
  nodeName: node-a
  devices:
  - name: tile-0
    {open}attributes: {{x: {{int: 4}}, KEY: {{int: 3}}}}{comma}
    capacity: {{KEY: {{value: 1}}}}{close}
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim}
spec:
  devices:
    requests:
    - {name: a, exactly: {deviceClassName: c, capacity: {requests: {KEY: 1}}}}
    - {name: b, firstAvailable: [{name: c, deviceClassName: c, capacity: {requests: {KEY: 1}}}]}
"""
FIELDS = ["metadata.labels.{}", "spec.devices[0].attributes.{}", "spec.devices[0].capacity.{}"]
REQUESTS = ["exactly", "firstAvailable[0]"]


def found(folder: Path, text: str) -> list[str]:
    return [one.field for one in judged(folder, text, select=["DRA015"]).findings]


def slice_with(key: str, version: str = "v1") -> str:
    old = version == "v1beta1"
    wrapped = {"open": "basic: {" if old else "", "comma": "," if old else "", "close": "}" if old else ""}
    return SLICE.format(version=version, **wrapped).replace("KEY", key)


@pytest.mark.parametrize(
    ("key", "read"), [("y", "true"), ("On", "true"), ("YES", "true"), ("n", "false"), ("off", "false"), ("No", "false")]
)
def test_every_free_key_is_told_as_what_it_becomes(key: str, read: str, tmp_path: Path) -> None:
    assert found(tmp_path, slice_with(key)) == [field.format(read) for field in FIELDS]
    whole = judged(tmp_path, slice_with(key), select=["DRA015"]).findings[1]
    assert whole.message == f"{key} without quotes is the boolean {read}, so the entry is called '{read}'"
    assert (whole.line, whole.suggestion) == (10, f'"{key}":')
    requests = [f"spec.devices.requests[{at}].{form}.capacity.requests.{read}" for at, form in enumerate(REQUESTS)]
    assert found(tmp_path, CLAIM.replace("KEY", key)) == requests


@pytest.mark.parametrize("key", ["x", '"y"', "'on'", "true", '"true"', "False", "yes_", "o"])
def test_what_is_quoted_or_nothing_but_text_or_plainly_a_boolean_is_not_told(key: str, tmp_path: Path) -> None:
    text = slice_with(key) if key != "x" else slice_with("z")
    assert found(tmp_path, text) == []
    assert found(tmp_path, CLAIM.replace("KEY", key)) == []


def test_old_versions_and_lists(tmp_path: Path) -> None:
    old = ["metadata.labels.true", *(f"spec.devices[0].basic.{name}.true" for name in ("attributes", "capacity"))]
    assert found(tmp_path, slice_with("y", "v1beta1")) == old
    items = "".join(f"{'- ' if at == 0 else '  '}{line}\n" for at, line in enumerate(slice_with("y").splitlines()))
    assert found(tmp_path, f"apiVersion: v1\nkind: List\nitems:\n{items}") == [field.format("true") for field in FIELDS]


def test_json_has_no_bare_keys(tmp_path: Path) -> None:
    path = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"true": "a"}}}'
    assert found(tmp_path, path) == []
