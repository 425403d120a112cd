"""`--against`: objects as updates of those that are there. The rules are read from upstream's sources, not recorded."""

import copy
from pathlib import Path
from typing import Any

import pytest

import dra_plan
from dra_plan.errors import UsageError
from tests.cli.running import in_process

from .judging import as_yaml
from .objects import Data, allocated, claim, device, device_class, piece, pod, request, taint_rule, template

REFUSED = ("DRA0", "DRA1", "DRA3")


def told(new: Data, old: Data, **options: Any) -> list[tuple[str, str, str]]:
    found = dra_plan.validate([new], against=[old], select=REFUSED, ignore="DRA010", **options).findings
    return [(one.code, one.field, one.message) for one in found]


def changed(one: Data, *path: str | int, to: Any) -> Data:
    made = copy.deepcopy(one)
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return made


JOB: Data = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "job", "namespace": "team"},
    "spec": {"template": {"spec": pod({"name": "gpu"})["spec"]}},
}
WAS_THERE = 'can\'t be removed: it was the string "node-a"'


@pytest.mark.parametrize(
    ("new", "old", "field", "message"),
    [
        (
            claim(request(count=2)),
            claim(),
            "spec",
            "devices.requests[0].exactly.count can't be changed: it was the number 1",
        ),
        (
            claim(request(selectors=[{"cel": {"expression": "true"}}])),
            claim(),
            "spec",
            "devices.requests[0].exactly.selectors can't be added",
        ),
        (
            claim(),
            claim(request(), request("b"), config=[]),
            "spec",
            "devices.requests[1] can't be removed: it was an object",
        ),
        (
            template(request("a", count=2)),
            template(),
            "spec",
            'spec.devices.requests[0].name can\'t be changed: it was the string "gpu"; 1 more field differs',
        ),
        (
            piece(driver="b.example.com"),
            piece(),
            "spec.driver",
            'can\'t be changed: it was the string "gpu.example.com"',
        ),
        (
            piece(pool={"name": "b", "generation": 2, "resourceSliceCount": 1}),
            piece(),
            "spec.pool.name",
            'can\'t be changed: it was the string "node-a"',
        ),
        (
            piece(nodeName=None, allNodes=True),
            piece(),
            "spec.nodeName",
            'can\'t be removed: it was the string "node-a"',
        ),
        (piece(), piece(nodeName=None, allNodes=True), "spec.nodeName", "can't be added"),
        (
            pod(entry={"name": "gpu", "resourceClaimName": "gpus"}),
            pod(),
            "spec.resourceClaims",
            "[0].resourceClaimName can't be added; 1 more field differs",
        ),
        (pod({"name": "gpu"}), pod(), "spec.containers[0].resources.claims", "can't be added"),
        (
            changed(JOB, "spec", "template", "spec", "resourceClaims", 0, "resourceClaimTemplateName", to="b"),
            JOB,
            "spec.template.spec.resourceClaims",
            '[0].resourceClaimTemplateName can\'t be changed: it was the string "gpus"',
        ),
        (
            changed(claim(), "metadata", "uid", to="2"),
            changed(claim(), "metadata", "uid", to="1"),
            "metadata.uid",
            'can\'t be changed: it was the string "1"',
        ),
        (
            changed(claim(status=allocated()), "status", "allocation", "devices", "results", 0, "device", to="gpu-1"),
            claim(status=allocated()),
            "status.allocation",
            'devices.results[0].device can\'t be changed: it was the string "gpu-0"',
        ),
    ],
)
def test_what_cannot_be_changed(new: Data, old: Data, field: str, message: str) -> None:
    assert told(new, old) == [("DRA301", field, message)]
    assert told(old, old) == []


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (changed(claim(), "metadata", "labels", to={"a": "b"}), claim()),
        (claim(request(allocationMode="ExactCount", count=1)), claim()),
        (claim(constraints=[]), claim()),
        (
            claim(request(capacity={"requests": {"memory": "1Gi"}})),
            claim(request(capacity={"requests": {"memory": "1024Mi"}})),
        ),
        (changed(claim(), "metadata", "uid", to="1"), claim()),
        (claim(status=allocated()), claim()),
        (claim(), claim(status=allocated())),
        (piece("node-a-gpu", device("other")), piece()),
        (piece(pool={"name": "node-a", "generation": 2, "resourceSliceCount": 3}), piece()),
        (device_class("gpu", "true"), device_class()),
        (taint_rule(driver="b.example.com"), taint_rule()),
        (changed(pod(), "spec", "containers", 0, "image", to="b"), pod()),
        (changed(JOB, "spec", "parallelism", to=2), JOB),
    ],
)
def test_what_can(new: Data, old: Data) -> None:
    assert told(new, old) == []


def test_other_versions_of_the_same_object() -> None:
    flat = {"name": "gpu", "deviceClassName": "gpu"}
    old = {**claim(flat), "apiVersion": "resource.k8s.io/v1beta1"}
    assert told(claim(), old) == []
    assert [one[0] for one in told(claim(request(count=3)), old)] == ["DRA301"]


def test_what_was_as_bad_before_is_no_finding() -> None:
    bad = piece("node-a-gpu", device("GPU_0"), device("gpu-1", attributes={"a-b": {"int": 1}}))
    assert [one[0] for one in told(bad, piece())] == ["DRA101", "DRA102"]
    assert told(bad, bad) == []
    moved = changed(bad, "spec", "devices", to=bad["spec"]["devices"][::-1])
    assert told(moved, bad) == []
    worse = changed(bad, "spec", "devices", 0, "name", to="GPU_1")
    assert [one[:2] for one in told(worse, bad)] == [("DRA101", "spec.devices[0].name")]


def test_what_can_not_be_decoded_is_found_in_any_case() -> None:
    bad = claim(request(selector=[]))
    assert [one[0] for one in told(bad, bad)] == ["DRA002"]
    gone = changed(device_class(), "apiVersion", to="resource.k8s.io/v1alpha3")
    assert [one[0] for one in told(gone, gone)] == ["DRA011"]


def test_the_spec_of_a_claim_is_not_judged_again() -> None:
    bad = claim(request("A B"))
    assert told(bad, bad) == []
    assert [one[0] for one in told(claim(request("C D")), bad)] == ["DRA301"]
    assert [one[0] for one in told(changed(bad, "metadata", "labels", to={"a b": ""}), bad)] == ["DRA105"]


def test_selectors_of_a_class_are_judged_as_a_whole() -> None:
    bad = device_class("gpu", "device.no", "true")
    assert told(bad, bad) == []
    assert told(changed(bad, "metadata", "labels", to={"a": "b"}), bad) == []
    assert [one[0] for one in told(device_class("gpu", "device.no"), bad)] == ["DRA121"]
    assert [one[0] for one in told(device_class("gpu", "true", "device.no"), bad)] == ["DRA121"]


def test_what_is_being_deleted_gets_nothing_new() -> None:
    gone = changed(claim(status=allocated()), "metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z")
    user = {"resource": "pods", "name": "pod", "uid": "u"}
    used = changed(gone, "status", "reservedFor", to=[user])
    assert [one[:2] for one in told(used, gone)] == [("DRA302", "status.reservedFor[0]")]
    assert told(gone, used) == []
    assert told(used, used) == []
    final = changed(gone, "metadata", "finalizers", to=["example.com/a"])
    assert [one[:2] for one in told(final, gone)] == [("DRA302", "metadata.finalizers[0]")]
    assert told(final, claim(status=allocated())) == []


def test_what_is_only_new_is_judged_as_new() -> None:
    assert [one[0] for one in told(claim(request("A B")), claim(name="other"))] == ["DRA101"]
    unnamed = changed(claim(request("A B")), "metadata", to={"generateName": "claim", "namespace": "team"})
    assert [one[0] for one in told(unnamed, unnamed)] == ["DRA101"]


def test_clusters() -> None:
    old, new = dra_plan.Cluster.of([claim()]), dra_plan.Cluster.of([claim(request(count=2))])
    assert [one.code for one in new.validate(against=old, select="DRA3")] == ["DRA301"]
    assert list(old.validate(against=old, select="DRA3")) == []
    with pytest.raises(UsageError, match="against"):
        new.validate(against=[claim()])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="against"):
        dra_plan.validate(claim(), against=3)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.yaml").write_text(as_yaml([claim(), piece()]), encoding="utf-8")
    Path("new.yaml").write_text(as_yaml([claim(request(count=2)), piece()]), encoding="utf-8")
    ran = in_process("validate", "new.yaml", "--against", "old.yaml", "--select", "DRA3")
    assert ran.status == 1
    assert ran.out.startswith(
        "new.yaml:12:16: error[DRA301] devices.requests[0].exactly.count can't be changed: it was the number 1\n"
    )
    assert in_process("validate", "old.yaml", "--against", "old.yaml").status == 0
    assert in_process("validate", "new.yaml", "--against", "gone.yaml").status == 2
    ran = in_process("validate", "-", "--against", "-", stdin=as_yaml([claim()]))
    assert (ran.status, ran.out) == (2, "")
    ran = in_process(
        "validate", "new.yaml", "--against", "-", "-o", "name", "--select", "DRA3", stdin=as_yaml([claim()])
    )
    assert ran.out == "resourceclaim/team/claim\n"
