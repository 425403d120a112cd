"""`dra-plan pools` as a user sees it: pools in every state, in every format."""

import json

import jsonschema
import pytest
import yaml

from dra_plan.questions import schema as schemas
from tests.conftest import Golden

from .running import ROOT, dra_plan, given, in_process

GOLDEN = ROOT / "tests" / "cli" / "golden"


@pytest.mark.parametrize("form", ["table", "wide", "json", "yaml", "name"])
def test_every_format(form: str, golden: Golden) -> None:
    ran = in_process("pools", *given("pools"), "-o", form)
    assert (ran.status, ran.err) == (0, "")
    golden(GOLDEN / f"pools-{form}.txt", ran.out)


def test_the_documents_are_the_same_and_as_the_schema_says() -> None:
    as_json = json.loads(in_process("pools", *given("pools"), "-o", "json").out)
    as_yaml = yaml.safe_load(in_process("pools", *given("pools"), "-o", "yaml").out)
    assert as_json == as_yaml
    jsonschema.Draft202012Validator(schemas.load("PoolList")).validate(as_json)
    assert {pool["state"] for pool in as_json["pools"]} == {"Complete", "Incomplete", "Invalid", "Obsolete"}
    states = {device["state"] for pool in as_json["pools"] for device in pool["devices"]}
    assert states == {"Available", "Allocated", "Shared", "Unavailable"}


def test_the_process_prints_the_same_into_a_pipe() -> None:
    assert dra_plan("pools", *given("pools")).out == (GOLDEN / "pools-table.txt").read_text(encoding="utf-8")


def test_of_one_node() -> None:
    ran = in_process("pools", *given("pools"), "--node", "node-b", "-o", "name")
    assert ran.out.split() == ["fabric.example.com/rack/1", "gpu.example.com/node-a", "nic.example.com/node-b"]


def test_of_several_nodes() -> None:
    template = 'jsonpath={range .pools[*]}{.poolName}={.nodes[*]}{"\\n"}{end}'
    ran = in_process("pools", *given("pools"), "--node", "node-b", "--node", "node-a", "-o", template)
    assert ran.out.splitlines() == [
        "rack/1=node-a node-b",
        "node-a=node-b",
        "node-a=node-a",
        "node-a=node-a",
        "node-b=node-b",
    ]


def test_unknown_node() -> None:
    ran = in_process("pools", *given("pools"), "--node", "node-x")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "error: unknown node 'node-x' (did you mean 'node-a'?): the input has 2 nodes\n"


def test_no_pool_at_all() -> None:
    ran = in_process("pools", "-", stdin="{apiVersion: v1, kind: Node, metadata: {name: node-a}}")
    assert (ran.status, ran.err) == (0, "")
    assert "Kubernetes 1.36.3" in ran.out
