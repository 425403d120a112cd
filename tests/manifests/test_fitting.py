"""The fast path of validation says yes only to documents in which the slow one finds nothing."""

from typing import Any

import pytest

from dra_plan.manifests import kinds
from dra_plan.manifests.diagnose import diagnose
from dra_plan.manifests.fitting import fits
from tests.conformance.recorded import cases
from tests.validation.objects import claim, device, piece, pod, request


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (piece(), True),
        (claim(), True),
        (pod(), True),
        (claim(request(count=2)), True),
        (claim(request(count=2.0)), False),
        (claim(request(count=2**63)), False),
        (claim(request(count=True)), False),
        (claim(request(selector=[])), False),
        (claim(request(selectors=None)), False),
        (piece("a", device(capacity={"memory": {"value": "80Gi"}})), True),
        (piece("a", device(capacity={"memory": {"value": 80}})), True),
        (piece("a", device(capacity={"memory": {"value": "80Gx"}})), False),
        (piece("a", device(capacity={"memory": {}})), False),
        (piece("a", device(taints=[{"key": "k", "effect": "None", "timeAdded": "yesterday"}])), False),
        (piece("a", device(taints=[{"key": "k", "effect": "None", "timeAdded": "2026-01-01T00:00:00Z"}])), True),
        (piece(driver=None), False),
    ],
)
def test_fits(obj: dict[str, Any], expected: bool) -> None:
    kind = kinds.find(obj["apiVersion"], obj["kind"])
    assert kind is not None
    assert fits(obj, kind, "v1") == expected


def test_what_fits_has_no_fault() -> None:
    fitting = 0
    for case in cases("validate"):
        obj = case["object"]
        kind = kinds.find(str(obj.get("apiVersion")), str(obj.get("kind")))
        version = str(obj.get("apiVersion")).rpartition("/")[2]
        if kind is not None and version in kind.versions and fits(obj, kind, version):
            found = diagnose(obj, kind, version)
            assert (found.wrong, dict(found.unknown), found.missing, found.value) == ([], {}, [], obj), case["id"]
            fitting += 1
    assert fitting > 2000
