"""`dra_plan.load`: dicts that are made when looked at, beside the typed objects; what is changed counts."""

from __future__ import annotations

import json

import pytest

import dra_plan
from dra_plan.manifests import load
from tests.manifests.objects import claim, dra, pod

GPU = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}
OBJECTS = [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}},
    dra("DeviceClass", "gpu", spec={}),
    dra("ResourceSlice", "s", spec={"driver": "d", "nodeName": "a", "pool": POOL, "devices": [{"name": "x"}]}),
    claim("c", GPU),
]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}, indent=1))
    return file


@pytest.fixture
def decoded(monkeypatch):
    """The dicts that are decoded."""
    seen: list[object] = []
    real = load.from_dicts

    def watching(objects, **options):
        objects = list(objects)
        seen.extend(objects)
        return real(objects, **options)

    monkeypatch.setattr(load, "from_dicts", watching)
    return seen


def fits(objects) -> list[str]:
    [plan] = dra_plan.allocate(objects).claim_sets
    return plan.fitting_nodes


def test_what_nobody_looked_at_is_not_decoded_again(path, decoded):
    objects = dra_plan.load([path])
    assert fits(objects) == ["a"]
    assert len(objects) == 4
    assert repr(objects) == f"<4 objects of {path}>"
    dra_plan.gather_pools(objects)
    dra_plan.schedule(objects)
    assert decoded == []


def test_places_are_kept(path):
    objects = [*OBJECTS[:3], pod("p", {"name": "a", "resourceClaimTemplateName": "t"})]
    path.write_text("[" + ",\n".join(map(json.dumps, objects)) + "]")
    [warning] = dra_plan.allocate(dra_plan.load([path])).to_dict()["warnings"]
    assert warning["source"] == f"{path}:4"


def test_what_is_changed_counts(path, decoded):
    objects = dra_plan.load([path])
    assert fits(objects) == ["a"]
    objects[2]["spec"]["devices"].clear()
    assert fits(objects) == []
    assert len(decoded) == 4


def test_it_can_be_changed_as_a_list(path):
    objects = dra_plan.load(path)
    assert objects == OBJECTS
    objects.append(claim("d", GPU))
    del objects[3]
    objects[0] = {**objects[0], "metadata": {"name": "b"}}
    assert [each["metadata"]["name"] for each in objects] == ["b", "gpu", "s", "d"]
    assert objects[1:3] == OBJECTS[1:3]
    assert objects + OBJECTS[3:] == [*objects, OBJECTS[3]]
    assert OBJECTS[3:] + objects == [OBJECTS[3], *objects]
    assert fits(objects) == []


def test_objects_that_cannot_be_planned_are_loaded_and_refused_with_their_place(path):
    wrong = {**OBJECTS[2], "spec": {"devices": 7}}
    path.write_text(json.dumps(wrong))
    objects = dra_plan.load([path])
    with pytest.raises(dra_plan.InputError, match=f"{path}:1: .*devices"):
        dra_plan.allocate(objects)
    assert objects[0] == wrong
    with pytest.raises(dra_plan.InputError, match=r"objects\[0\]"):
        dra_plan.allocate(objects)


def test_what_holds_no_objects_is_refused_at_once(path):
    path.write_text("[7]")
    with pytest.raises(dra_plan.InputError, match="expected a Kubernetes object"):
        dra_plan.load([path])


def test_a_string_is_no_list_of_objects():
    with pytest.raises(dra_plan.UsageError, match=r"^objects: expected Kubernetes objects, got 'dir'"):
        dra_plan.allocate("dir")


def test_one_object_is_taken_for_a_list_of_it():
    assert dra_plan.gather_pools(OBJECTS[0]).to_dict()["pools"] == []
