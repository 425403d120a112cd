"""The picture: what is drawn once, what frames devices, where parts lie; and what a pick says of it."""

from collections import Counter

import pytest

import dra_plan
from dra_plan import Cluster
from dra_plan.page import fleet, picks
from dra_plan.page.on_nodes import on_nodes
from dra_plan.page.picture import draw
from dra_plan.page.scene import Scene, Texts, scene
from tests.build import claim, device, device_class, node, request, slice_
from tests.page.reading import ROOT, read


def load(fixture: str) -> Cluster:
    return Cluster.load(ROOT / "fixtures" / fixture)


def drawn(cluster: Cluster) -> Scene:
    return scene(draw(cluster.inventory, cluster.view))


def test_devices_have_their_states_and_holders() -> None:
    states = {d.name: (d.state, d.detail) for place in drawn(load("gpu-fleet")).places for d in place.devices}
    assert states["gpu.nvidia.com/hopper-1/gpu-0"] == ("used", "by claim research/batch-7-gpu-x4v2p (pod batch-7)")
    assert states["gpu.nvidia.com/hopper-1/gpu-1"] == ("free", "")
    assert states["gpu.nvidia.com/hopper-2/gpu-3"] == ("tainted", "taint gpu.nvidia.com/xid=79:NoExecute")
    nics = {d.name: (d.state, d.detail) for place in drawn(load("nic-bandwidth")).places for d in place.devices}
    state, detail = nics["nic.example.com/net-1/eth0"]
    assert state == "shared"
    assert "egressBandwidth: 40G of 100G left" in detail
    pools = {d.state for place in drawn(load("tpu-slice")).places if "slice-b" in place.title for d in place.devices}
    assert pools == {"out"}


def frames(cluster: Cluster) -> dict[str, list[str]]:
    return {
        f"{pool.pool.name}: {frame.label}": [device.drawn.name for device in frame.devices]
        for place in drawn(cluster).places
        for pool in place.pools
        for frame in pool.frames
    }


def test_devices_of_one_pcie_root_are_framed_and_what_claims_compare_goes_before() -> None:
    assert frames(load("gpu-fleet"))["hopper-1: pcieRoot pci0000:10"] == ["gpu-0", "gpu-1"]
    assert frames(_of("example.com/rack"))["node: rack left"] == ["a", "b"]
    assert "node: pcieRoot 1" in frames(_of(None))


def _of(compared: str | None) -> Cluster:
    constraints = [{"matchAttribute": compared}] if compared else []
    devices = [
        device(name, attributes={"example.com/rack": rack, "resource.kubernetes.io/pcieRoot": root})
        for name, rack, root in (("a", "left", "1"), ("b", "left", "2"), ("c", "right", "1"))
    ]
    objects = [
        node("node"),
        slice_("node", *devices, driver="example.com", name="c"),
        claim("c", request(of="c"), constraints=constraints),
        device_class("c", selectors=None),
    ]
    return Cluster.of(objects)


def test_nodes_with_the_same_devices_have_one_layout_whatever_their_state() -> None:
    cluster = load("quickstart").add_nodes(50, like="gpu-a")
    data = fleet.plain(drawn(cluster), Texts())
    kinds = Counter(place["kind"] for place in data["places"])
    assert sorted(kinds.values()) == [1, 1, 51]
    assert [place["name"] for place in data["places"]][:4] == ["gpu-a", "gpu-b", "cpu-a", "gpu-a-new-1"]


def _kept_away(cluster: Cluster) -> dict[str, tuple[str, ...]]:
    return {place.node.name: place.node.away for place in drawn(cluster).places if place.node is not None}


def test_what_keeps_pods_away_is_known_of_each_node() -> None:
    taints = [
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
        {"key": "dedicated", "value": "ml", "effect": "NoSchedule"},
        {"key": "soft", "effect": "PreferNoSchedule"},
    ]
    cluster = Cluster.of(
        [
            node("cordoned", spec={"unschedulable": True, "taints": taints}),
            {**node("down"), "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
            {**node("failing"), "status": {"conditions": [{"type": "Ready", "status": "False"}]}},
            {**node("up"), "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
        ]
    )
    assert _kept_away(cluster) == {
        "cordoned": ("cordoned", "taint dedicated=ml:NoSchedule"),
        "down": ("not ready (unreachable)",),
        "failing": ("not ready",),
        "up": (),
    }
    assert _kept_away(load("gpu-fleet").cordon("ada-1"))["ada-1"][0] == "cordoned"


def test_as_lines_nodes_in_another_state_are_told_apart() -> None:
    said = list(fleet.lines(drawn(load("gpu-fleet").cordon("ada-1"))))
    assert any(line.startswith("ada-1: ") and line.endswith("; 2 free devices in pcieRoot pci0000:40") for line in said)
    assert any("cordoned" in line for line in said)
    assert len(said) == 4


def test_labels_that_put_nodes_together_are_offered_for_groups() -> None:
    zones = [node(f"n{at}", metadata={"labels": {"zone": "ab"[at % 2], "name": f"n{at}"}}) for at in range(4)]
    data = fleet.plain(drawn(Cluster.of(zones)), Texts())
    assert data["labels"] == ["zone"]


def test_parts_lie_over_the_slots_that_their_counters_name() -> None:
    [place] = drawn(load("mig")).places
    [physical] = place.pools[0].physical
    assert [(row.name, len(row.slots), row.taken) for row in physical.slots] == [("memory-slice", 8, 0)]
    spans = {device.drawn.name: (start, width) for row in physical.rows for start, width, device in row.parts}
    assert spans["gpu-0"] == (1, 8)
    assert spans["gpu-0-mig-3g-20gb-4"] == (5, 4)
    assert spans["gpu-0-mig-1g-5gb-2"] == (3, 1)
    assert {amount.name: len(amount.pips) for amount in physical.amounts}["copy-engines"] == 7


def test_slots_of_parts_in_use_are_taken_and_say_by_whom() -> None:
    cluster = load("mig")
    taken = cluster.allocate("pod/mixed").to_dict()["claimSets"][0]["nodes"][0]["claims"][0]
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "held", "namespace": "default"},
        "spec": {},
        "status": {"allocation": taken["allocation"]},
    }
    later = Cluster.of([*dra_plan.load(ROOT / "fixtures" / "mig"), claim])
    [physical] = drawn(later).places[0].pools[0].physical
    assert [slot.taken for slot in physical.slots[0].slots] == [True] * 8
    assert physical.slots[0].slots[4].by == "gpu-0-mig-3g-20gb-4"


@pytest.mark.parametrize("command", ["allocate", "explain"])
def test_a_pick_marks_what_it_gets_and_says_why_not(command: str) -> None:
    cluster = load("gpu-fleet").cordon("ada-1")
    answer = getattr(cluster, command)()
    plan = answer if command == "allocate" else answer.plan
    picture = drawn(cluster)
    names = [planned.name for planned in plan]
    found = dict(zip(names, on_nodes(plan.claim_sets, cluster.inventory, cluster.view), strict=True))
    fits = picks.marks(found["Pod research/allreduce"], picture)
    place = picture.by_node["hopper-1"]
    gets = {place.devices[at].drawn.name for at in fits[place.number].gets}
    assert (fits[place.number].label, gets) == ("fits", {"gpu-2", "gpu-3"})
    away = fits[picture.by_node["ada-1"].number]
    assert (away.label, away.message, away.detail) == (
        "only the devices fit",
        "",
        "node(s) were unschedulable; node(s) had untolerated taint(s)",
    )
    assert set(away.gets.values()) == {"request gpu"}
    refused = picks.marks(found["Pod research/next-gen"], picture)[place.number]
    notes = {place.devices[at].drawn.name: note for at, note in refused.notes.items()}
    assert notes["gpu-1"] == "selector of the request is false"
    assert notes["gpu-0"].startswith("in use")


def test_a_page_of_pods_says_which_nodes_refused_one() -> None:
    cluster = load("gpu-fleet")
    page = cluster.page(cluster.schedule(explain=True))
    data = read(page).data
    pick = next(each for each in data["picks"] if each["name"].endswith("next-gen"))
    places = data["scenes"][0]["places"]
    told = {places[int(at)]["name"]: data["texts"][mark[1]] for at, mark in pick["marks"][0].items()}
    assert told == dict.fromkeys(["hopper-1", "hopper-2", "ada-1", "control-1"], "does not fit")
