"""Volumes, claims on them and storage.k8s.io: read, defaulted, and rejected where the API server would."""

from __future__ import annotations

import pytest

from dra_plan.errors import InputError
from dra_plan.manifests.decode import from_dicts

from .samples import SAMPLES

HOLDERS = {
    "volumes": 2,
    "volume_claims": 1,
    "storage_classes": 1,
    "csi_nodes": 1,
    "csi_drivers": 1,
    "storage_capacities": 1,
    "volume_attachments": 1,
}


def test_all_kinds_are_held() -> None:
    inventory = from_dicts(SAMPLES)
    assert {name: len(getattr(inventory, name)) for name in HOLDERS} == HOLDERS
    assert inventory.skipped == {"ConfigMap": 1}


def test_defaults_are_those_of_the_api_server() -> None:
    inventory = from_dicts(SAMPLES)
    assert [volume.spec.volume_mode for volume in inventory.volumes] == ["Filesystem", "Block"]
    assert inventory.volume_claims[0].spec.volume_mode == "Filesystem"
    assert inventory.storage_classes[0].volume_binding_mode == "Immediate"


def test_no_class_is_not_the_empty_class() -> None:
    claims = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}
        for name, spec in (("a", {}), ("b", {"storageClassName": ""}))
    ]
    assert [claim.spec.storage_class_name for claim in from_dicts(claims).volume_claims] == [None, ""]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"kind": "PersistentVolume", "spec": {"capacity": {"storage": "much"}}}, "is not a quantity"),
        ({"kind": "PersistentVolumeClaim", "spec": {"accessModes": "ReadWriteOnce"}}, "expected a list"),
        ({"kind": "PersistentVolume", "spec": {"nodeAffinity": {"required": []}}}, "expected an object"),
    ],
)
def test_what_is_no_such_object_is_refused(changed: dict, told: str) -> None:
    with pytest.raises(InputError, match=told):
        from_dicts([{"apiVersion": "v1", "metadata": {"name": "x"}, **changed}])
