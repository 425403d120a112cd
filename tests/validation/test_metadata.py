"""Metadata as the API server judges it on every kind, and the formats of names in taint rules, pods and times."""

from typing import Any

import pytest

import dra_plan

from .objects import Data, claim, device, device_class, piece, pod, taint_rule, template

OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}


def found(obj: Data) -> list[str]:
    findings = dra_plan.validate(obj, ignore=["DRA010", "DRA2"]).findings
    return [f"{finding.code} {finding.field}" for finding in findings if str(finding.severity) == "error"]


def named(obj: Data, **metadata: Any) -> Data:
    return {**obj, "metadata": {**obj["metadata"], **metadata}}


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"labels": {"a": "b", "example.com/a": ""}}, []),
        ({"labels": {"a": "b c"}}, ["DRA105 metadata.labels.a"]),
        ({"labels": {"a b": "c"}}, ["DRA105 metadata.labels[a b]"]),
        ({"annotations": {"example.com/A": "any text"}}, []),
        ({"annotations": {"a b": "c"}}, ["DRA105 metadata.annotations[a b]"]),
        ({"annotations": {"a": "x" * (256 * 1024 - 1)}}, []),
        ({"annotations": {"a": "x" * (256 * 1024)}}, ["DRA111 metadata.annotations"]),
        ({"finalizers": ["example.com/x", "orphan", "kubernetes"]}, []),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, ["DRA157 metadata.finalizers"]),
        ({"finalizers": ["x"]}, ["DRA157 metadata.finalizers[0]"]),
        ({"finalizers": ["a b"]}, ["DRA105 metadata.finalizers[0]"]),
        ({"ownerReferences": [OWNER, {**OWNER, "controller": True}]}, []),
        ({"ownerReferences": [{**OWNER, "uid": ""}]}, ["DRA003 metadata.ownerReferences.uid"]),
        ({"ownerReferences": [{**OWNER, "controller": True}] * 2}, ["DRA157 metadata.ownerReferences[1].controller"]),
        ({"ownerReferences": [{**OWNER, "apiVersion": "a/b/c"}]}, ["DRA157 metadata.ownerReferences.apiVersion"]),
        ({"ownerReferences": [{**OWNER, "apiVersion": "apps/v1"}]}, []),
        ({"ownerReferences": [{**OWNER, "kind": "Event"}]}, ["DRA157 metadata.ownerReferences"]),
        ({"ownerReferences": [None]}, [f"DRA003 metadata.ownerReferences.{name}" for name in OWNER]),
        ({"name": "a-"}, ["DRA101 metadata.name"]),
        ({"generateName": "a-"}, []),
        ({"generateName": "A_"}, ["DRA101 metadata.generateName"]),
        ({"generation": 3}, []),
        ({"generation": -3}, ["DRA157 metadata.generation"]),
        ({"managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsType": "FieldsV1"}]}, []),
        (
            {"managedFields": [{"operation": "Apply", "fieldsType": "X"}]},
            ["DRA157 metadata.managedFields[0].fieldsType"],
        ),
        ({"managedFields": [{"operation": "apply"}]}, ["DRA157 metadata.managedFields[0].operation"]),
        (
            {"managedFields": [{"operation": "Update", "manager": "x" * 129}]},
            ["DRA111 metadata.managedFields[0].manager"],
        ),
        ({"managedFields": [{"operation": "Update", "manager": "a\n"}]}, ["DRA157 metadata.managedFields[0].manager"]),
        ({"generateName": "a."}, ["DRA101 metadata.generateName"]),
        ({"generateName": "aA-"}, []),
        ({"namespace": "A.b"}, ["DRA101 metadata.namespace"]),
        ({"namespace": "x" * 64}, ["DRA101 metadata.namespace"]),
        ({"creationTimestamp": "2024-02-29T01:02:03Z"}, []),
        ({"creationTimestamp": "yesterday"}, ["DRA001 metadata.creationTimestamp"]),
        ({"creationTimestamp": "2025-02-29T01:02:03Z"}, ["DRA001 metadata.creationTimestamp"]),
    ],
)
def test_metadata(metadata: Data, told: list[str]) -> None:
    assert found(named(claim(), **metadata)) == told


def test_generations_that_the_server_counts() -> None:
    assert found(named(device_class(), generation=-1)) == []


def test_names_that_are_made() -> None:
    assert found({**claim(), "metadata": {"generateName": "a-", "namespace": "team"}}) == []
    assert found(named(device_class(), generateName="A_")) == []
    assert found({**device_class(), "metadata": {"generateName": "A_"}}) == ["DRA101 metadata.name"]
    assert found({**piece(), "metadata": {"generateName": "A_"}}) == [
        "DRA101 metadata.generateName",
        "DRA101 metadata.name",
    ]
    assert found({**piece(), "metadata": {"generateName": "aA-"}}) == ["DRA101 metadata.name"]
    assert found({**device_class(), "metadata": {"generateName": f"{'a' * 58}_"}}) == []


def test_what_claims_get_from_a_template() -> None:
    made = template()
    made["spec"]["metadata"] = {"labels": {"a": "b"}, "annotations": {"c": "d e"}, "name": ""}
    assert found(made) == []
    made["spec"]["metadata"] = {"labels": {"a": "b c"}, "name": "x"}
    assert found(made) == ["DRA105 spec.metadata.labels.a", "DRA157 spec.metadata.name"]


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ({"driver": "A_B"}, ["DRA101 spec.deviceSelector.driver"]),
        ({"driver": ""}, ["DRA003 spec.deviceSelector.driver"]),
        ({"pool": "A_B"}, ["DRA101 spec.deviceSelector.pool"]),
        ({"device": "a.b"}, ["DRA101 spec.deviceSelector.device"]),
        ({"driver": "a.example.com", "pool": "a/b", "device": "a-b"}, []),
    ],
)
def test_selectors_of_taint_rules(selector: Data, told: list[str]) -> None:
    assert found(taint_rule(**selector)) == told


def test_times_of_taints() -> None:
    taint = {"key": "k", "effect": "NoSchedule"}
    path = "spec.devices[0].taints[0].timeAdded"
    assert found(piece("s", device(taints=[{**taint, "timeAdded": "2026-01-01T00:00:00+01:00"}]))) == []
    assert found(piece("s", device(taints=[{**taint, "timeAdded": "2026-13-01T00:00:00Z"}]))) == [f"DRA001 {path}"]


@pytest.mark.parametrize(
    ("uses", "entry", "told"),
    [
        ([], {"name": "gpu", "resourceClaimName": "A"}, ["DRA101 spec.resourceClaims[0].resourceClaimName"]),
        (
            [],
            {"name": "gpu", "resourceClaimTemplateName": ""},
            ["DRA003 spec.resourceClaims[0].resourceClaimTemplateName"],
        ),
        ([{"name": "gpu", "request": "A"}], None, ["DRA101 spec.containers[0].resources.claims[0].request"]),
        ([{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}], None, []),
        ([{"name": "gpu"}, {"name": "gpu", "request": "b"}], None, ["DRA104 spec.containers[0].resources.claims[1]"]),
        ([{"name": "gpu", "request": "b"}] * 2, None, ["DRA104 spec.containers[0].resources.claims[1]"]),
    ],
)
def test_claims_of_pods(uses: list[Data], entry: Data | None, told: list[str]) -> None:
    assert found(pod(*uses, entry=entry)) == told


@pytest.mark.parametrize(
    ("api_version", "kind", "told"),
    [
        ("resource.k8s.io", "DeviceClass", True),
        ("v1", "DeviceClass", True),
        ("resource.k8s.io/v1", "ResourceClaims", True),
        ("resource.k8s.io/v2", "Pod", True),
        ("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest", False),
        ("example.com/v1", "DeviceClass", False),
        ("v1", "ConfigMap", False),
    ],
)
def test_kinds_that_do_not_exist(api_version: str, kind: str, *, told: bool) -> None:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}
    assert found(obj) == (["DRA004 apiVersion"] if told else [])


def test_fields_of_node_selectors() -> None:
    def by(key: str, value: str) -> Data:
        fields = [{"key": key, "operator": "In", "values": [value]}]
        return piece("s", nodeName=None, nodeSelector={"nodeSelectorTerms": [{"matchFields": fields}]})

    path = "spec.nodeSelector.nodeSelectorTerms[0].matchFields[0]"
    assert found(by("metadata.name", "node-a")) == []
    assert found(by("spec.x", "node-a")) == [f"DRA131 {path}.key"]
    assert found(by("metadata.name", "A_B")) == [f"DRA101 {path}.values[0]"]
