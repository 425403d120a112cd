"""Pages of what goes on in waves, and of what a change does: who leaves, who comes, and what is left in the end."""

from typing import Any

from dra_plan import Cluster
from tests.page.reading import ROOT, ReadPage, read

RACKS = ROOT / "tests" / "cli" / "inputs" / "racks.yaml"
CHANGES = ROOT / "examples" / "impact"


def _said(page: ReadPage, name: str, scene: int = 0) -> dict[str, tuple[str, list[str], list[str]]]:
    """Of the pick of this name, by node: its label, what is said of devices that pods leave, and of those they get."""
    data = page.data
    texts, places = data["texts"], data["scenes"][scene]["places"]
    pick = next(pick for pick in data["picks"] if pick["name"] == name)
    return {
        places[int(at)]["name"]: (
            texts[label],
            sorted(texts[said] for said in harms.values()),
            sorted(texts[said] for said in gets.values()),
        )
        for at, (_, label, _, gets, _, harms, _) in pick["marks"][scene].items()
    }


def _ways(page: ReadPage, name: str) -> list[tuple[str, str, int]]:
    [pick] = [pick for pick in page.data["picks"] if pick["name"] == name]
    return [(page.data["texts"][one], page.data["texts"][other], number) for one, other, number in pick["ways"]]


def _states(page: ReadPage, steps: int) -> dict[str, str]:
    """The letters of the devices of each node after so many steps."""
    [scene, *_] = page.data["scenes"]
    found = [list(place["states"]) for place in scene["places"]]
    for pick in page.data["picks"][:steps]:
        for place, at, letter, _ in (pick["change"] or [[]])[0]:
            found[place][at] = letter
    return {place["name"]: "".join(states) for place, states in zip(scene["places"], found, strict=True)}


def _page(cluster: Cluster, answer: Any) -> ReadPage:
    return read(cluster.page(answer))


def test_each_wave_of_a_maintenance_shows_who_leaves_for_where() -> None:
    cluster = Cluster.load(RACKS)
    page = _page(cluster, cluster.maintain(nodes="rack=r1"))
    assert page.headline == "2 nodes can be drained in 2 waves"
    assert _said(page, "Wave 1") == {
        "a1": ("drained, 1 pod leaves", ["ml/serve-0 goes to b2"], []),
        "b2": ("1 pod comes", [], ["for pod ml/serve-0"]),
    }
    assert _ways(page, "Wave 2") == [("a2", "a1", 1)]
    assert (page.data["steps"], page.data["before"]) == (3, "before the first wave")
    assert [_states(page, step)["a1"] + _states(page, step)["b2"] for step in range(3)] == ["uf", "fu", "uu"]


def test_nodes_that_come_back_changed_have_their_new_devices_in_a_picture_of_the_end() -> None:
    cluster = Cluster.load(RACKS).cordon("b2")
    to = Cluster.load(RACKS.with_name("racks-driver-2.yaml"))
    page = _page(cluster, cluster.maintain(nodes="rack=r1", surge="1=a1", to=to))
    assert [scene["title"] for scene in page.data["scenes"]] == ["During the waves", "After the last wave"]
    assert _states(page, 1)["a1"] == "o", "the device that the node had is gone"
    assert _said(page, "Wave 2")["a1"][0] == "comes back with new slices and 2 devices, 1 pod comes"
    assert _said(page, "Wave 2", 1)["a1"] == ("1 pod more", [], ["for pod ml/serve-1"])
    assert _said(page, "After the last wave")["a1-new-1"][0] == "removed"


def test_a_maintenance_that_stops_shows_where() -> None:
    cluster = Cluster.load(RACKS).cordon("b2")
    page = _page(cluster, cluster.maintain(nodes="rack=r1"))
    [pick] = page.data["picks"]
    assert (pick["name"], pick["tone"]) == ("The drain of a1", "bad")
    assert _said(page, "The drain of a1") == {"a1": ("stops at ml/serve-0", ["ml/serve-0 can't leave"], [])}


def test_moves_that_make_room_end_with_the_room() -> None:
    cluster = Cluster.load(ROOT / "fixtures" / "scattered")
    page = _page(cluster, cluster.repack(for_="pod/ml/train"))
    assert page.headline == "Moving 2 pods to other nodes in 1 wave makes room for pod/ml/train"
    assert _said(page, "Wave 1")["gpu-1"] == (
        "cordoned, 2 pods leave",
        ["ml/embed goes to gpu-2", "ml/serve-a goes to gpu-3"],
        [],
    )
    assert sorted(_ways(page, "Wave 1")) == [("gpu-1", "gpu-2", 1), ("gpu-1", "gpu-3", 1)]
    assert _said(page, "Room for pod/ml/train") == {"gpu-1": ("has the room", [], ["for pod ml/train"] * 4)}
    assert _states(page, 1)["gpu-1"] == "ffff"


def test_room_that_no_moves_make_is_not_green() -> None:
    cluster = Cluster.load(ROOT / "fixtures" / "scattered")
    page = _page(cluster, cluster.repack(for_="pod/ml/train", max_moves=1))
    [pick] = page.data["picks"]
    assert (pick["tone"], pick["word"]) == ("bad", "no room")
    assert "1 pod without a controller (ml/notebook)" in page.text


def test_what_a_change_does_stands_before_and_after() -> None:
    cluster = Cluster.load(CHANGES / "cluster.yaml")
    page = _page(cluster, cluster.impact(Cluster.load(CHANGES / "changes" / "recall.yaml")))
    assert [(pick["name"], pick["word"], pick["tone"]) for pick in page.data["picks"]] == [
        ("All pods", "2 pods", "bad"),
        ("pod/ml/notebook", "Not recreated", "bad"),
        ("pod/ml/serve-7d4f-a", "Moves", "other"),
    ]
    assert _said(page, "pod/ml/notebook") == {"gpu-1": ("1 pod not recreated", ["ml/notebook: not recreated"], [])}
    assert _said(page, "pod/ml/serve-7d4f-a", 1) == {"gpu-2": ("1 pod more", [], ["for pod ml/serve-7d4f-a"])}
    assert _ways(page, "All pods") == [("gpu-1", "gpu-2", 1)]
    after = {place["name"]: place["states"] for place in page.data["scenes"][1]["places"]}
    assert after == {"gpu-1": "tt", "gpu-2": "uu"}, "the second picture is of the cluster once it is at rest"


def test_a_change_by_which_a_selector_matches_nothing_says_so_first() -> None:
    cluster = Cluster.load(CHANGES / "cluster.yaml")
    page = _page(cluster, cluster.impact(Cluster.load(CHANGES / "changes" / "driver-2.yaml")))
    nothing = "No running pod is terminated, and no pending pod starts"
    assert page.headline == f"{nothing}; 1 selector in use would match no device"
    assert [(pick["tone"], pick["word"]) for pick in page.data["picks"]] == [("bad", "4 to 0 devices")]
