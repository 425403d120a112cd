"""Amounts that no device can give: the reason is told, and of several devices the one that comes nearest."""

from typing import Any

import dra_plan

from .objects import Data, claim, device, device_class, piece, request

WIDTH = {
    "value": "100G",
    "requestPolicy": {"default": "10G", "validRange": {"min": "10G", "max": "60G", "step": "10G"}},
}
CARD = device(
    allowMultipleAllocations=True,
    capacity={"bw": WIDTH, "vf": {"value": 4, "requestPolicy": {"default": 1, "validValues": [1, 2]}}},
)
PLAIN = device("plain", allowMultipleAllocations=True, capacity={"bw": {"value": "40G"}})
ID = "gpu.example.com/node-a/gpu-0"


def told(*devices: Data, **amounts: Any) -> list[str]:
    objects = [piece("s", *devices), device_class(), claim(request(capacity={"requests": amounts}))]
    return [f"{one.code} {one.message}" for one in dra_plan.validate(objects).findings]


def test_values_that_the_policy_does_not_have() -> None:
    assert told(CARD, vf=3) == [
        f"DRA230 no matching device can give 3 of vf: the request policy of {ID} allows 1, 2",
    ]
    assert told(CARD, vf=2) == []


def test_an_amount_outside_the_range_and_what_it_is_rounded_to() -> None:
    allows = f"the request policy of {ID} allows from 10G to 60G in steps of 10G"
    assert told(CARD, bw="80G") == [f"DRA230 no matching device can give 80G of bw: {allows}"]
    [rounded] = told(CARD, bw="61G")
    assert rounded.startswith(f"DRA230 no matching device can give 61G of bw: {allows}, and rounds it to ")


def test_a_device_without_the_capacity_is_not_the_reason_where_another_has_it() -> None:
    assert told(PLAIN, CARD, vf=3) == told(CARD, vf=3)
    assert told(PLAIN, vf=3) == ['DRA230 no matching device has capacity "vf"; they have bw']


def test_too_much_is_told_with_what_there_is() -> None:
    assert told(PLAIN, bw="61G") == [
        "DRA230 no matching device can give 61G of bw; gpu.example.com/node-a/plain has 40G"
    ]


def test_an_amount_that_nobody_asked_for() -> None:
    odd = device(allowMultipleAllocations=True, capacity={"bw": {**WIDTH, "requestPolicy": {"validValues": ["1G"]}}})
    [reason] = [one for one in told(odd) if one.startswith("DRA230")]
    amount = "DRA230 no matching device can give 100G of bw, the default without a request"
    assert reason == f"{amount}: the request policy of {ID} allows 1G"
