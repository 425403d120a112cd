"""Kinds by the names that kubectl knows them by."""

from __future__ import annotations

import pytest

from dra_plan.manifests import kinds


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("po", "Pod"),
        ("PODS", "Pod"),
        ("deploy", "Deployment"),
        ("deployments.apps", "Deployment"),
        ("deviceclasses", "DeviceClass"),
        ("resourceclaim", "ResourceClaim"),
        ("resourceclaims.resource.k8s.io", "ResourceClaim"),
        ("priorityclasses", "PriorityClass"),
        ("pvc", "PersistentVolumeClaim"),
        ("csistoragecapacities", "CSIStorageCapacity"),
    ],
)
def test_kinds_are_known_as_to_kubectl(text: str, name: str) -> None:
    kind = kinds.named(text)
    assert kind is not None
    assert kind.name == name


@pytest.mark.parametrize("text", ["", ".", "podz", "deploy.batch", "pod.v1", "train"])
def test_other_words_are_no_kinds(text: str) -> None:
    assert kinds.named(text) is None


def test_no_two_kinds_have_a_name_in_common() -> None:
    names = [name for kind in kinds.every() for name in (kind.name.lower(), kind.plural)]
    assert len(names) == len(set(names))
    for kind in kinds.every():
        assert kinds.named(kind.plural) is kind
