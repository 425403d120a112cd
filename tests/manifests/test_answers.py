"""Files that hold what an API server answers instead of objects, and lists whose items say nothing of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load
from tests.live import clusters

FORBIDDEN = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": 'nodes is forbidden: User "viewer" cannot list resource "nodes" in API group "" at the cluster scope',
    "reason": "Forbidden",
    "details": {"kind": "nodes"},
    "code": 403,
}
META = {"apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "993"}}
TABLE = {**META, "kind": "Table", "columnDefinitions": [], "rows": [{"cells": ["a"]}]}
POD = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "p"}}
ALONE = {**META, "kind": "PartialObjectMetadataList", "items": [POD, POD]}


@pytest.mark.parametrize("end", ["json", "yaml"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (FORBIDDEN, f"an error of the API server instead of objects: {FORBIDDEN['message']} (Forbidden, 403)"),
        (TABLE, "a table instead of objects: use -o json, or Accept: application/json"),
        (ALONE, "only metadata, without spec and status: use -o json, or Accept: application/json"),
        (POD, "only metadata, without spec and status: use -o json, or Accept: application/json"),
    ],
)
def test_an_answer_that_is_no_object_is_said(answer, told, listed, end, tmp_path):
    path = tmp_path / f"in.{end}"
    value: Any = {"kind": "List", "apiVersion": "v1", "items": [answer]} if listed else answer
    path.write_text(("# \n" if end == "yaml" else "") + json.dumps(value))
    with pytest.raises(ManifestErrors) as caught:
        load([path])
    [fault] = caught.value.faults
    assert fault.message == told


@pytest.mark.parametrize("end", ["json", "yaml"])
def test_the_lists_kind_tells_what_its_items_are(end, tmp_path):
    """As raw answers have them: items without kind and apiVersion."""
    objects = clusters.objects("4-mid-pending")
    kinds: dict[tuple[str, str], list[dict]] = {}
    for obj in objects:
        kinds.setdefault((obj.pop("apiVersion"), obj.pop("kind")), []).append(obj)
    for index, ((version, kind), items) in enumerate(kinds.items()):
        value = {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": "9"}, "items": items}
        Path(tmp_path, f"{index:02}.{end}").write_text(("# \n" if end == "yaml" else "") + json.dumps(value))
    found = load([tmp_path])
    assert (len(found.nodes), len(found.pods), len(found.claims), len(found.slices)) == (2, 18, 11, 1)
    assert [each.kind for each in found.workloads] == ["Deployment"] * 2 + ["ReplicaSet"] * 2 + [
        "StatefulSet",
        "DaemonSet",
        "Job",
    ]
    assert not found.skipped


def page(number: int, *, goes_on: bool) -> str:
    """A page of a NodeList with one node."""
    metadata = {"resourceVersion": "9", **({"continue": f"token-{number}"} if goes_on else {"continue": ""})}
    items = [{"metadata": {"name": f"n{number}"}}]
    return json.dumps({"kind": "NodeList", "apiVersion": "v1", "metadata": metadata, "items": items})


@pytest.mark.parametrize("comment", ["", "# \n"], ids=["json", "yaml"])
def test_pages_without_the_last_one_are_said_to_be_incomplete(comment, tmp_path):
    for number in range(3):
        Path(tmp_path, f"{number}.yaml").write_text(comment + page(number, goes_on=number < 2))
    assert [len(load([tmp_path]).nodes), load([tmp_path]).notices] == [3, []]
    Path(tmp_path, "2.yaml").unlink()
    found = load([tmp_path])
    assert len(found.nodes) == 2
    [notice] = found.notices
    assert notice.code == "list-incomplete"
    assert notice.message.startswith("2 pages were read of a NodeList with more pages (metadata.continue): ")
