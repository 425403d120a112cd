"""What each of a few alike nodes has left, who has the rest, and which devices a request could mean."""

from __future__ import annotations

from dra_plan import Cluster
from tests.build import (
    Object,
    bare_pod,
    claim,
    device,
    device_class,
    node,
    request,
    reserved,
    slice_,
)

CHANNEL = "channel.example.com"


def text(*objects: Object, name: str = "p") -> str:
    return " ".join(str(Cluster.of(list(objects)).explain(f"pod/{name}")).split())


def held(name: str, pool: str, *devices: str, driver: str = "gpu.example.com", by: str = "") -> Object:
    """A claim that has these devices of a pool, for a pod."""
    made = [{"request": "r", "driver": driver, "pool": pool, "device": each} for each in devices]
    status = {"allocation": {"devices": {"results": made}}, "reservedFor": reserved(by or name)}
    return {**claim(name, request()), "status": status}


def test_devices_in_use_are_those_that_the_request_could_mean() -> None:
    """Devices of other classes, and those that the request's own selector rejects, are not counted."""
    small = device("small", attributes={"size": 1})
    objects = [
        node("a"),
        node("empty"),
        device_class(),
        device_class(CHANNEL),
        slice_("a", device("gpu-0", attributes={"size": 2}), device("gpu-1", attributes={"size": 2}), small),
        slice_("a", device("channel-0"), driver=CHANNEL),
        held("x", "a", "gpu-0", "gpu-1", "small"),
        held("y", "a", "channel-0", driver=CHANNEL),
        bare_pod("p", claims={"c": "c"}),
    ]
    said = text(*objects, claim("c", request("channel", of=CHANNEL)))
    assert "channel needs 1, none available (1 in use, by claim default/y (pod y))" in said
    big = 'device.attributes["gpu.example.com"].size > 1'
    said = text(*objects, claim("c", request("gpu", big)))
    assert "gpu needs 1, none available (2 in use, by claim default/x (pod x))" in said
