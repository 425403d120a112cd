"""`dra-plan schema`: everything that is printed or read has a schema, and meets it."""

import json
import tomllib
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml

from dra_plan.cli import settings
from dra_plan.manifests.load import load_objects
from dra_plan.questions import schema as schemas
from dra_plan.text import accepted, structured

from .running import ROOT, given, in_process

NAMES = in_process("schema").out.split()
PRINTED = {
    "AllocationPlan": ["allocate", *given("cluster", "fits", "too-many"), "--explain"],
    "CapacityPlan": ["capacity", "fixtures/quickstart", "--add-nodes", "1=gpu-a"],
    "ClusterDiff": ["diff", "fixtures/quickstart", "--without", "node/gpu-a", "--to-kubernetes-version", "1.37"],
    "Explanation": ["explain", *given("cluster", "fits", "too-many")],
    "DrainList": ["diff", "fixtures/quickstart", "--drain", "each"],
    "Impact": ["impact", "-f", "examples/impact/changes/recall.yaml", "examples/impact/cluster.yaml"],
    "MaintenancePlan": ["maintain", "tests/cli/inputs/racks.yaml"],
    "Replay": ["replay", "examples/replay/cluster.yaml", "examples/replay/events.jsonl", "--orders", "2"],
    "AutoscalePlan": [
        "autoscale",
        "tests/cli/inputs/autoscale.yaml",
        "--groups",
        "tests/cli/inputs/autoscale-groups.yaml",
    ],
    "GrowthPlan": ["grow", "fixtures/quickstart", "--like", "gpu-a", "--cost", "gpu-a=1.5"],
    "Placement": ["place", "fixtures/quickstart", "--most"],
    "PoolList": ["pools", *given("cluster")],
    "RepackPlan": ["repack", "fixtures/scattered", "--for", "pod/ml/train"],
    "RuleList": ["rule", "DRA101"],
    "SchedulePlan": ["schedule", "fixtures/quickstart", "--trace"],
    "SelectorReport": ["cel", 'device.driver == "a.example.com"', *given("cluster")],
    "ValidationReport": ["validate", "fixtures/old-api"],
}
"""A run that prints each kind of document."""


def of(name: str) -> Any:
    ran = in_process("schema", name)
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(of(name))


def test_all_are_listed_once() -> None:
    assert [*schemas.kinds(), *accepted.kinds()] == NAMES
    assert len(set(NAMES)) == len(NAMES)
    assert set(PRINTED) == set(schemas.kinds())


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_schema_without_loose_ends(name: str) -> None:
    schema = of(name)
    assert schema["title"] == name.rpartition("/")[2]
    text = json.dumps(schema)
    for part in text.split('"$ref": "')[1:]:
        assert part.split('"')[0].removeprefix("#/$defs/") in schema["$defs"]


def test_all_are_schemas() -> None:
    """What several have in common is looked at once."""
    whole: list[Any] = []
    parts: dict[str, Any] = {}
    for name in NAMES:
        schema = of(name)
        parts |= {json.dumps(part): part for part in schema.pop("$defs", {}).values()}
        whole.append(schema)
    jsonschema.Draft202012Validator.check_schema({"anyOf": [*whole, *parts.values()]})


@pytest.mark.parametrize("kind", PRINTED)
def test_what_is_printed_meets_its_schema(kind: str) -> None:
    ran = in_process(*PRINTED[kind], "-o", "json")
    document = json.loads(ran.out)
    assert document["kind"] == kind
    validator(kind).validate(document)


@pytest.mark.parametrize("kind", PRINTED)
def test_what_is_printed_is_what_its_struct_says(kind: str) -> None:
    """Nothing in a document is beside the struct: read into it and written again it is the same text."""
    printed = in_process(*PRINTED[kind], "-o", "json").out
    assert structured.json(msgspec.json.decode(printed, type=schemas.document_type(kind))) == printed


def test_what_is_read_meets_its_schema() -> None:
    """The objects of the fixtures, in all the versions that they are written in; their nodes are shortened."""
    folders = sorted(path for path in (ROOT / "fixtures").iterdir() if path.name != "expected")
    objects = load_objects(folders)
    names = {f"{each['apiVersion']}/{each['kind']}" for each in objects}
    assert len(names) > 10
    checks = {name: validator(name) for name in names}
    for each in objects:
        errors = list(checks[f"{each['apiVersion']}/{each['kind']}"].iter_errors(each))
        assert [error for error in errors if (each["kind"], error.validator) != ("Node", "required")] == []


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("v1/Node", {"apiVersion": "v1", "kind": "Pod"}),
        ("resource.k8s.io/v1/ResourceClaim", {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": 1}),
        ("apps/v1/Deployment", {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": "two"}}),
        ("KubeSchedulerConfiguration", {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "x"}),
        ("Settings", {"selected": ["DRA1"]}),
        ("Settings", {"select": ["X1"]}),
        ("Settings", {"fail-on": "never"}),
    ],
)
def test_they_refuse_what_is_wrong(name: str, document: Any) -> None:
    assert not validator(name).is_valid(document)


def test_settings_that_meet_the_schema_are_read(tmp_path: Any) -> None:
    text = """
select = ["DRA1"]
ignore = ["DRA101"]
ignore-unknown = true
fail-on = "warning"
[per-file-ignores]
"old/*" = ["DRA010"]
"""
    validator("Settings").validate(tomllib.loads(text))
    assert set(of("Settings")["properties"]) == set(tomllib.loads(text))
    (tmp_path / ".dra-plan.toml").write_text(text)
    found = settings.find(tmp_path)
    assert found.select == ("DRA1",)


def test_the_schedulers_configuration() -> None:
    text = (ROOT / "examples" / "scheduler-plugin" / "config.yaml").read_text(encoding="utf-8")
    validator("KubeSchedulerConfiguration").validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("resourceclaim", "resource.k8s.io/v1/ResourceClaim"),
        ("DeviceTaintRule", "resource.k8s.io/v1beta2/DeviceTaintRule"),
        ("resource.k8s.io/v1beta1/resourceslice", "resource.k8s.io/v1beta1/ResourceSlice"),
        ("pod", "v1/Pod"),
    ],
)
def test_names(asked: str, found: str) -> None:
    assert of(asked)["properties"]["apiVersion"] == {"const": found.rpartition("/")[0]}


def test_an_unknown_kind() -> None:
    ran = in_process("schema", "AllocatonPlan")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "error: no document of kind 'AllocatonPlan' (did you mean AllocationPlan?)\n"
