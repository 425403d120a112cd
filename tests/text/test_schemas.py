"""The shipped schemas: valid themselves, met by documents, and strict."""

import copy
from typing import Any

import jsonschema
import pytest

from dra_plan.questions import schema as schemas

from . import documents


def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schemas.load(kind))


@pytest.mark.parametrize("kind", schemas.kinds())
def test_schemas_are_schemas(kind: str) -> None:
    schema = schemas.load(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == kind
    assert schema["properties"]["kind"] == {"const": kind}


@pytest.mark.parametrize("document", [documents.small(), documents.large(20), documents.plan(), documents.pool_list()])
def test_documents_meet_them(document: dict[str, Any]) -> None:
    validator(document["kind"]).validate(document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("kind",), "Plan"),
        (("extra",), 1),
        (("claimSets", 0, "outcome"), "NodeError"),
        (("claimSets", 0, "nodes", 0, "outcome"), "Maybe"),
        (("claimSets", 0, "nodes", 0, "message"), "but it fits"),
        (("claimSets", 1, "nodes", 0, "message"), ""),
        (("claimSets", 0, "fittingNodes"), ["node-a", "node-a"]),
        (("claimSets", 0, "nodes", 0, "claims", 0, "allocation", "devices", "results", 0, "pool"), None),
        (("target", "featureGates", "DRAAdminAccess"), "true"),
        (("warnings", 0, "code"), "Not A Code"),
    ],
)
def test_they_refuse_what_is_no_plan(path: tuple[Any, ...], value: Any) -> None:
    document = copy.deepcopy(documents.small())
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not validator("AllocationPlan").is_valid(document)
