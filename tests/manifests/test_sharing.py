"""Parts that many objects of a JSON list have in common are decoded once, and make no difference to what is read."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from dra_plan.api.inventory import Inventory
from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load
from tests.build import allocated, device, slice_

NODES = 24
Objects = list[dict[str, Any]]
Change = Callable[[Objects], None]


def fleet() -> Objects:
    """Nodes with a slice of GPUs, each with a UUID of its own, and one of NICs that are the same everywhere."""
    objects: Objects = []
    for node in range(NODES):
        gpus = [
            device(
                f"gpu-{at}",
                uuid=f"GPU-{node:04}-{at}",
                model="A100",
                root=f"pci{at // 2}",
                driverVersion={"version": f"1.{(node * at) % 3}.0"},
                index=at,
                capacity={"memory": "80Gi"},
            )
            for at in range(4)
        ]
        nics = [device(f"nic-{at}", rdma=at > 0) for at in range(2)]
        name = f"node-{node:02}"
        held = allocated(f"claim-{node}", f"{name}/gpu-0", driver="gpu")
        objects += [slice_(name, *gpus, driver="gpu"), slice_(name, *nics, driver="nic"), held]
    return objects


def gpus_of(objects: Objects, node: int) -> Objects:
    devices: Objects = objects[3 * node]["spec"]["devices"]
    return devices


def read(objects: Objects, folder: Any, indent: int | None = None) -> Inventory:
    path = folder / "list.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=indent))
    return load([path])


def parts(inventory: Inventory) -> tuple[Any, ...]:
    return inventory.slices, inventory.claims, inventory.notices


def _uuid(value: Any) -> Change:
    def change(objects: Objects) -> None:
        gpus_of(objects, 20)[1]["attributes"]["uuid"] = value

    return change


def _taint(objects: Objects) -> None:
    gpus_of(objects, 20)[2]["taints"] = [{"key": "k", "effect": "NoSchedule"}]


def _count(objects: Objects) -> None:
    objects[3 * 20 + 2]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2


def _consumed(objects: Objects) -> None:
    result = objects[3 * 20 + 2]["status"]["allocation"]["devices"]["results"][0]
    result |= {"shareID": "s", "consumedCapacity": {"memory": "1Gi"}}


def _counters(objects: Objects) -> None:
    objects[3 * 20]["spec"]["sharedCounters"] = [{"name": "s", "counters": {"m": {"value": "9"}}}]


def _missing(objects: Objects) -> None:
    del gpus_of(objects, 20)[1]["attributes"]["uuid"]


def _nothing(_objects: Objects) -> None:
    pass


ODD = {
    "nothing": _nothing,
    "text that is escaped": _uuid({"string": 'a"b\\c'}),
    "text in other letters": _uuid({"string": "GPU-\u00e9\u4e2d"}),
    "an empty text": _uuid({"string": ""}),
    "what stands for values": _uuid({"string": "\x7fuuid"}),
    "another type": _uuid({"int": 3}),
    "text and more": _uuid({"string": "a", "int": 1}),
    "no such attribute": _missing,
    "a taint": _taint,
    "another claim": _count,
    "a share": _consumed,
    "counters": _counters,
}


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("name", ODD)
def test_what_is_read_is_what_each_object_alone_says(name: str, indent: int | None, tmp_path: Any) -> None:
    objects = fleet()
    ODD[name](objects)
    plain = copy.deepcopy(objects)
    assert parts(read(objects, tmp_path, indent)) == parts(from_dicts(plain))


def test_devices_that_are_the_same_are_one_list(tmp_path: Any) -> None:
    inventory = read(fleet(), tmp_path)
    nics = [slice_.spec.devices for slice_ in inventory.slices if slice_.spec.driver == "nic"]
    assert all(devices is nics[0] for devices in nics[5:])


def test_devices_share_all_but_their_uuid(tmp_path: Any) -> None:
    inventory = read(fleet(), tmp_path)
    last = [slice_.spec.devices[0] for slice_ in inventory.slices if slice_.spec.driver == "gpu"][-4:]
    assert len({device.attributes["uuid"].string_value for device in last}) == len(last)
    assert all(device.attributes["model"] is last[0].attributes["model"] for device in last)
    assert all(device.capacity is last[0].capacity for device in last)


def test_claims_share_what_they_ask_for(tmp_path: Any) -> None:
    claims = read(fleet(), tmp_path).claims
    assert all(claim.spec is claims[0].spec for claim in claims)
    assert claims[0].spec.devices.requests[0].exactly.count == 1


def _amount(objects: Objects) -> None:
    gpus_of(objects, 20)[1]["capacity"]["memory"]["value"] = "80Gib"


def _type(objects: Objects) -> None:
    gpus_of(objects, 20)[1]["attributes"]["uuid"] = {"string": 7}


def _request(objects: Objects) -> None:
    objects[3 * 20 + 2]["spec"]["devices"]["requests"][0]["exactly"]["count"] = "two"


FAULTS = {
    _amount: ("ResourceSlice node-20-gpu", "spec.devices[1].capacity.memory.value"),
    _type: ("ResourceSlice node-20-gpu", "spec.devices[1].attributes.uuid.string"),
    _request: ("ResourceClaim default/claim-20", "spec.devices.requests[0].exactly.count"),
}


@pytest.mark.parametrize("change", FAULTS)
def test_faults_are_told_where_they_are(change: Change, tmp_path: Any) -> None:
    objects = fleet()
    change(objects)
    with pytest.raises(ManifestErrors) as raised:
        read(objects, tmp_path, indent=1)
    [fault] = raised.value.faults
    assert (fault.object, fault.path) == FAULTS[change]
    text = (tmp_path / "list.json").read_text().splitlines()
    name = fault.object.split()[-1].rpartition("/")[2]
    assert next(number for number, line in enumerate(text, 1) if f'"{name}"' in line) < fault.line
    assert f'"{fault.path.rpartition(".")[2]}"' in text[fault.line - 1]


def test_a_broken_part_is_told_of_each_object_that_has_it(tmp_path: Any) -> None:
    objects = fleet()
    for node in range(NODES):
        objects[3 * node + 1]["spec"]["devices"][0]["capacity"] = {"speed": {"value": "fast"}}
    with pytest.raises(ManifestErrors) as raised:
        read(objects, tmp_path)
    assert len(raised.value.faults) == NODES
