"""Suggested changes of `capacity` that are carried out before they are told."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from dra_plan import Cluster
from dra_plan.documents.suggestions import ObjectPatch, PatchedObject, PatchOperation
from dra_plan.planner.carried_out import carried_out
from dra_plan.questions.capacity import answer
from tests.build import GPU, device, device_class, node, pod, request, slice_, template


def models(**numbers: dict[str, int]) -> list[dict[str, Any]]:
    """Nodes with so many devices of each model."""
    objects = [device_class()]
    for name, of in numbers.items():
        made = [
            device(f"{model.lower()}-{index}", attributes={"model": {"string": model}})
            for model, number in of.items()
            for index in range(number)
        ]
        objects += [node(name, cpu="16"), slice_(name, *made)]
    return objects


WANTS_A = request("gpu", f'device.attributes["{GPU}"].model == "A"')


def suggested(objects: list[dict[str, Any]]) -> tuple[int, list[list[str]]]:
    item = Cluster.of(objects).capacity("pod/p").items[0]
    assert item.next_copy is not None
    return item.scheduled.copies, [[change.code for change in one.changes] for one in item.next_copy.suggestions]


def test_what_leaves_fewer_copies_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the model of the other node one more would fit there, and none where two are now."""
    objects = [*models(a={"A": 2}, b={"B": 1}), template("one", WANTS_A), pod("p", templates={"g": "one"})]
    assert suggested(objects) == (2, [])
    monkeypatch.setattr(answer, "MOST_COUNTED_AGAIN", 2)
    assert suggested(objects) == (2, [["change-value"]])  # where it is not counted again


def test_what_leaves_more_copies_is_told_with_its_template() -> None:
    objects = [*models(a={"A": 1}, b={"B": 3}), template("one", WANTS_A), pod("p", templates={"g": "one"})]
    copies, changes = suggested(objects)
    assert copies == 1
    assert ["change-value"] in changes
    assert "of template one" in str(Cluster.of(objects).capacity("pod/p"))


# Patches


def patch(*operations: PatchOperation, name: str = "one", kind: str = "ResourceClaimTemplate") -> ObjectPatch:
    about = PatchedObject(api_version="resource.k8s.io/v1", kind=kind, namespace="default", name=name)
    return ObjectPatch(object=about, patch=list(operations), recreate=False)


REQUESTS = "/spec/spec/devices/requests"


@pytest.mark.parametrize(
    ("operation", "names", "counts"),
    [
        (PatchOperation(op="add", path=f"{REQUESTS}/0/exactly/count", value=2), ["r", "s"], [2, 1]),
        (PatchOperation(op="remove", path=f"{REQUESTS}/0", value=UNSET), ["s"], [1]),
        (PatchOperation(op="replace", path=f"{REQUESTS}/1", value=request("t", count=3)), ["r", "t"], [1, 3]),
        (PatchOperation(op="add", path=f"{REQUESTS}/-", value=request("t", count=3)), ["r", "s", "t"], [1, 1, 3]),
    ],
)
def test_patches_of_templates(operation: PatchOperation, names: list[str], counts: list[int]) -> None:
    inventory = Cluster.of([template("one", request("r"), request("s"))]).inventory
    changed = carried_out(inventory, [patch(operation)])
    assert changed is not None
    requests = changed.templates[0].spec.spec.devices.requests
    assert [each.name for each in requests] == names
    assert [each.exactly.count for each in requests if each.exactly is not None] == counts
    assert len(inventory.templates[0].spec.spec.devices.requests) == 2


def test_what_is_not_in_the_input_is_not_carried_out() -> None:
    inventory = Cluster.of([template("one", request("r"))]).inventory
    count = PatchOperation(op="add", path=f"{REQUESTS}/0/exactly/count", value=2)
    assert carried_out(inventory, [patch(count, name="two")]) is None
    assert carried_out(inventory, [patch(count, kind="Node")]) is None
    assert carried_out(inventory, []) is None
