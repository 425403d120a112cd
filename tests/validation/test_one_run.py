"""All findings come in one run: a field of the wrong type hides nothing but what follows from it."""

from typing import Any

import pytest

import dra_plan

from .objects import Data, claim, device, device_class, piece, pod, pool, request, selecting, template


def told(*objects: Data, **options: Any) -> list[str]:
    findings = dra_plan.validate(objects, ignore=["DRA012", "DRA203"], **options).findings
    return [f"{finding.code} {finding.field}" for finding in findings]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (
            [claim(request(count="2", selectors=selecting("device.nothing")))],
            [
                "DRA001 spec.devices.requests[0].exactly.count",
                "DRA121 spec.devices.requests[0].exactly.selectors[0].cel.expression",
            ],
        ),
        (
            [device_class(), claim(request(count="two")), claim(request(deviceClassName="gpus"), name="b")],
            [
                "DRA001 spec.devices.requests[0].exactly.count",
                "DRA201 spec.devices.requests[0].exactly.deviceClassName",
            ],
        ),
        # What is wrong is there all the same, for those who name it.
        ([device_class(config="x"), claim(request())], ["DRA001 spec.config"]),
        ([template(request(count=[])), pod()], ["DRA001 spec.spec.devices.requests[0].exactly.count"]),
        (
            [claim(request(5), constraints=[{"requests": ["5"], "matchAttribute": "a/b"}])],
            ["DRA001 spec.devices.requests[0].name"],
        ),
        # No device of the input is known to lack what is asked for, where a slice can't be read.
        (
            [
                piece("node-a-gpu", device(capacity="much")),
                piece("node-b-gpu", pool=pool("node-b"), nodeName="node-b"),
                device_class(),
                claim(request(count=2)),
            ],
            ["DRA001 spec.devices[0].capacity"],
        ),
        # Here it is plain what was meant, and there is too little of it.
        (
            [
                piece("node-a-gpu", device(capacity={"memory": "40Gi"})),
                device_class(),
                claim(request(capacity={"requests": {"memory": "80Gi"}})),
            ],
            [
                "DRA001 spec.devices[0].capacity.memory",
                "DRA230 spec.devices.requests[0].exactly.capacity.requests.memory",
            ],
        ),
        (
            [piece("node-a-gpu", device(), device(7), nodeName="A_")],
            ["DRA101 spec.nodeName", "DRA001 spec.devices[1].name"],
        ),
    ],
)
def test_nothing_else_is_hidden(objects: list[Data], expected: list[str]) -> None:
    assert sorted(told(*objects)) == sorted(expected)
