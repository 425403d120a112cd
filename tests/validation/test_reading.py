"""What validate reads: every version, form and kind; what is no document is rejected, what it says is judged."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import dra_plan
from dra_plan.errors import InputError, UsageError

from .judging import as_yaml, judged, line
from .objects import DRIVER, claim, device_class, piece, pod, request, template


def codes(*objects: Any, **options: Any) -> list[str]:
    return [finding.code for finding in dra_plan.validate(objects, **options).findings]


def test_one_object_one_path_or_both(tmp_path: Path) -> None:
    path = tmp_path / "classes.yaml"
    path.write_text(as_yaml([device_class("A_B")]))
    assert [f.code for f in dra_plan.validate(device_class("A_B")).findings] == ["DRA101"]
    assert [f.code for f in dra_plan.validate(path).findings] == ["DRA101"]
    assert [f.code for f in dra_plan.validate(str(path)).findings] == ["DRA101"]
    both = dra_plan.validate([str(path), piece(), claim(request(deviceClassName="gpu"))])
    assert [(f.code, f.file != "") for f in both.findings] == [("DRA101", True), ("DRA201", False)]


def test_nothing_is_changed() -> None:
    import copy

    objects = [piece(), device_class(), claim(), template(), pod()]
    before = copy.deepcopy(objects)
    dra_plan.validate(objects)
    assert objects == before


def test_options_of_the_function() -> None:
    wrong = claim(request("A B", selector=[]))
    assert codes(wrong, device_class()) == ["DRA002", "DRA101"]
    assert codes(wrong, device_class(), select=["DRA1"]) == ["DRA101"]
    assert codes(wrong, device_class(), ignore=["DRA1"]) == ["DRA002"]
    assert codes(wrong, device_class(), ignore_unknown=True) == ["DRA101"]
    with pytest.raises(UsageError):
        codes(wrong, select=["nope"])
    with pytest.raises(UsageError):
        codes(wrong, kubernetes_version="one")


def test_lists_and_other_kinds() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": 1}
    inside = {"apiVersion": "v1", "kind": "List", "items": [device_class("A_B"), config]}
    typed = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClassList",
        "items": [{"metadata": {"name": "C_D"}, "spec": {}}],
    }
    report = dra_plan.validate([inside, typed])
    assert [(f.code, f.object) for f in report.findings] == [
        ("DRA101", "DeviceClass A_B"),
        ("DRA101", "DeviceClass C_D"),
    ]
    assert report.to_dict()["summary"]["objects"] == 3


@pytest.mark.parametrize("text", ["a: [", "- 1", "'text'", "", "kind: List", "\tx: 1"])
def test_what_is_no_document_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        judged(tmp_path, text)


def test_too_deep() -> None:
    parameters: dict[str, Any] = {}
    for _ in range(250):
        parameters = {"inner": parameters}
    deep = claim(config=[{"opaque": {"driver": DRIVER, "parameters": parameters}}])
    [finding] = dra_plan.validate([deep, device_class()]).findings
    assert line(finding) == (
        ":0:0: error DRA013: ResourceClaim team/claim: can't be decoded: data nested more than 200 levels deep\n"
    )


V1BETA1 = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: slice}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: node-a, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    basic:
      attributes:
        model-name: {string: a}
      capacity:
        memory: {value: 1Gx}
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu
      allocationMode: Some
    - name: both
      deviceClassName: gpu
      firstAvailable: [{name: a, deviceClassName: gpu}]
"""


def test_places_are_those_of_the_version_that_was_written(tmp_path: Path) -> None:
    found = [f"{f.line}:{f.code}:{f.field}" for f in judged(tmp_path, V1BETA1, ignore=["DRA010", "DRA203"]).findings]
    assert found == [
        "12:DRA102:spec.devices[0].basic.attributes.model-name",
        "14:DRA001:spec.devices[0].basic.capacity.memory.value",
        "24:DRA142:spec.devices.requests[0].allocationMode",
        "27:DRA141:spec.devices.requests[1].firstAvailable",
    ]


@pytest.mark.parametrize(
    ("version", "group", "kind", "code"),
    [
        ("1.36", "v1beta2", "ResourceSlice", "DRA010"),
        ("1.34", "v1beta1", "DeviceClass", "DRA010"),
        ("1.34", "v1alpha3", "DeviceClass", "DRA011"),
        ("1.36", "v1alpha3", "DeviceTaintRule", "DRA010"),
        ("1.36", "v1beta2", "DeviceTaintRule", None),
        ("1.35", "v1alpha3", "DeviceTaintRule", None),
        ("1.35", "v1beta2", "DeviceTaintRule", "DRA011"),
        ("1.36", "v1", "DeviceClass", None),
    ],
)
def test_versions_that_a_release_serves(version: str, group: str, kind: str, code: str | None) -> None:
    bare = {"apiVersion": f"resource.k8s.io/{group}", "kind": kind, "metadata": {"name": "a"}, "spec": {}}
    found = codes(bare, kubernetes_version=version, select=["DRA010", "DRA011"])
    assert found == ([code] if code else [])


def test_real_objects_may_leave_out_what_components_report() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"nodeInfo": {"kubeletVersion": "v1.36.2"}},
    }
    shared = {"driver": DRIVER, "pool": "node-a", "device": "gpu-0"}
    result = {**shared, "request": "gpu"}
    used = claim(status={"allocation": {"devices": {"results": [result]}}, "devices": [shared]})
    assert codes(node, used, device_class()) == []


def test_null_is_not_set() -> None:
    empty = claim(request(selectors=None, tolerations=None, count=None), constraints=None)
    assert codes(empty, device_class()) == []


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClass", "PodSchedulingContext"])
def test_objects_of_the_first_dra_api(kind: str) -> None:
    obj = {"apiVersion": "resource.k8s.io/v1alpha2", "kind": kind, "metadata": {"name": "a"}}
    [finding] = dra_plan.validate([obj]).findings
    assert finding.code == "DRA004"
    assert finding.message.startswith("Kubernetes 1.31 removed resource.k8s.io/v1alpha2; ")
    with pytest.raises(InputError, match=r"Kubernetes 1\.31 removed resource\.k8s\.io/v1alpha2"):
        dra_plan.explain([obj])


def test_kinds_of_other_groups_of_kubernetes() -> None:
    for api_version, kind in (
        ("v1", "Deployment"),
        ("apps/v1", "Pod"),
        ("batch/v1", "ResourceClaim"),
        ("resource.k8s.io", "Pod"),
    ):
        assert codes({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}) == ["DRA004"]
    for api_version, kind in (
        ("serving.knative.dev/v1", "Service"),
        ("v1", "ConfigMap"),
        ("apps/v1", "ControllerRevision"),
    ):
        assert codes({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}) == []


def test_many_documents_are_read_in_linear_time(tmp_path: Path) -> None:
    def seconds(number: int) -> float:
        path = tmp_path / f"{number}.yaml"
        path.write_text(
            "---\n".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m{i}\n" for i in range(number))
        )
        begin = time.process_time()
        assert len(dra_plan.validate(path)) == 0
        return time.process_time() - begin

    seconds(10)
    few = seconds(1_000)
    assert seconds(8_000) < 20 * few


def test_taint_rules_of_1_37() -> None:
    rule = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "a"}}
    spec = {"deviceSelector": {"device": "a.b"}, "taint": {"key": "k", "effect": "NoExecute"}}
    assert codes({**rule, "spec": spec}, kubernetes_version="1.37") == ["DRA101"]


def test_an_object_given_twice_in_a_json_list_names_the_line_of_the_first(tmp_path: Path) -> None:
    lines = ["{", '"apiVersion": "v1", "kind": "List",', '"items": [']
    lines += [json.dumps(device_class()), ",", json.dumps(device_class(), indent=1), "]", "}"]
    path = tmp_path / "list.json"
    path.write_text("\n".join(lines))
    [found] = dra_plan.validate(path).findings
    assert (found.code, found.line) == ("DRA007", 6)
    assert found.message == "defined twice; first in line 4 of this file"
    again = tmp_path / "again.yaml"
    again.write_text(as_yaml([device_class()]))
    assert f"first in {path}:4" in dra_plan.validate([path, again]).findings[1].message
