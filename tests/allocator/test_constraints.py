"""Constraints of claims as they are stored, whichever gates are on now."""

from __future__ import annotations

import pytest

from dra_plan import allocate
from tests.build import node

from .build import DRIVER, claim, device, device_class, exactly, pool

NO_SHARES = {"DRAConsumableCapacity": False}


@pytest.mark.parametrize(
    ("gates", "outcome", "given"),
    [
        ({}, "Fits", ["d0", "d2"]),
        (NO_SHARES, "Fits", ["d0", "d2"]),  # the API server drops the field on write; the allocator reads it
        ({**NO_SHARES, "DRADeviceBindingConditions": False}, "Error", []),  # the stable allocator (Q26)
    ],
)
def test_distinct_attribute_does_not_depend_on_its_gate(gates: dict[str, bool], outcome: str, given: list[str]) -> None:
    devices = pool(device("d0", v=1), device("d1", v=1), device("d2", v=2))
    asked = claim(exactly("r", 2), constraints=[{"distinctAttribute": f"{DRIVER}/v"}])
    document = allocate([node(), device_class(), *devices, asked], feature_gates=gates).to_dict()
    [answer] = document["claimSets"][0]["nodes"]
    assert answer["outcome"] == outcome
    results = [result for made in answer["claims"] for result in made["allocation"]["devices"]["results"]]
    assert [result["device"] for result in results] == given
