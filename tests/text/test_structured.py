"""json, yaml, name: the document as data."""

import json

import pytest
import yaml

from dra_plan.questions.allocate import text as allocation_table
from dra_plan.questions.pools import text as pool_table
from dra_plan.text import structured
from dra_plan.text.formats import parse

from . import documents


@pytest.mark.parametrize("document", [documents.small(), documents.large(20), documents.pool_list()])
def test_json_and_yaml_hold_the_document(document: dict[str, object]) -> None:
    struct = documents.typed(document)
    assert json.loads(structured.json(struct)) == document
    assert yaml.safe_load(structured.yaml(struct.to_dict())) == document


def _acting() -> dict[str, object]:
    return documents.plan(
        documents.claim_set("Pod/a/\u2028::error::", "Fits"), warnings=(documents.warning("x", '\n  "a": [\n    null'),)
    )


@pytest.mark.parametrize(
    "document",
    [documents.plan(), documents.small(), documents.large(20), documents.pool_list(), _acting()],
    ids=["empty", "small", "large", "pools", "acting"],
)
def test_the_parts_of_json_are_the_whole(document: dict[str, object]) -> None:
    struct = documents.typed(document)
    parts = list(structured.json_parts(struct))
    assert "".join(parts) == structured.json(struct)
    assert len(parts) > sum(len(value) for value in document.values() if isinstance(value, list))


@pytest.mark.parametrize(
    "text",
    ["1e3", "0x1f", "0o17", "1_000", "yes", "No", "y", "on", "null", "~", "", "0000:1e:00.0", ".5", "-1", "+1", ".inf"],
)
def test_text_that_looks_typed_is_quoted(text: str) -> None:
    """Readers of YAML 1.1 and 1.2 differ in what these are; in quotes they are text for all."""
    written = structured.yaml({"value": text})
    assert written.removeprefix("value: ").strip() in {f'"{text}"', f"'{text}'"}


def test_yaml_writes_no_aliases() -> None:
    shared = {"a": ["b"]}
    assert "&" not in structured.yaml({"x": shared, "y": shared})


def test_names() -> None:
    assert parse("name", allocation_table.FORMATS)(documents.typed(documents.small()), None) == (
        "pod/default/train node/node-a\npod/default/train node/node-b\nresourceclaim/default/watch node/node-b\n"
    )
    assert parse("name", pool_table.FORMATS)(documents.typed(documents.pool_list()), None).splitlines() == [
        "gpu.example.com/node-a",
        "gpu.example.com/node-b",
        "gpu.example.com/node-c",
        "nic.example.com/fabric/blue",
    ]
