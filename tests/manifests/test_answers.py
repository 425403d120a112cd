"""Files that hold what an API server answers instead of objects, and lists whose items say nothing of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load
from tests.build import node
from tests.cli.running import in_process
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


def test_an_empty_file_is_a_warning_and_is_named_where_something_is_missing(tmp_path: Path) -> None:
    (tmp_path / "pods.yaml").write_text(" \n")
    (tmp_path / "comment.yaml").write_text("# nothing yet\n")
    (tmp_path / "nodes.json").write_text(json.dumps(node("a")))
    read = load([tmp_path])
    told = f"{tmp_path / 'pods.yaml'} is empty: did `kubectl get` fail?"
    assert [(notice.code, notice.message) for notice in read.notices] == [("file-empty", told)]
    ran = in_process("explain", str(tmp_path), "pod/train")
    assert ran.status == 2
    assert ran.err == f"error: no pod is named 'train'; {told}\n"


@pytest.mark.parametrize("end", ["    sc", "    sc ", "    y: {", "    x: 'a"])
def test_yaml_that_ends_in_the_middle_may_be_cut_off(end: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.yaml"
    path.write_text(f"apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  spec:\n    nodeName: a\n{end}")
    with pytest.raises(ManifestErrors, match="cut off"):
        load([path])
    path.write_text(f"apiVersion: v1\nitems:\n  a: b\n{end}\n c: [}}\nkind: List\n")
    with pytest.raises(ManifestErrors) as found:
        load([path])
    assert "cut off" not in str(found.value)
