"""The page of `replay`: curves of what the document says, and the fleet as it is at each moment."""

from typing import Any

from dra_plan import Cluster
from dra_plan.page.curves import Curve, CurveLine, Curves, rounded
from dra_plan.questions.replay.ask import replayed
from tests.build import bare_pod, claim, device_class, node, request, running, slice_, template
from tests.page.reading import ReadPage, read

HOUR = 3600.0


def _cluster() -> Cluster:
    """Two nodes with two devices each, one of them held by a pod that runs."""
    results = [{"request": "r", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}]
    held = {
        "reservedFor": [{"resource": "pods", "name": "old", "uid": "old"}],
        "allocation": {"devices": {"results": results}},
    }
    return Cluster.of(
        [
            node("a"),
            node("b"),
            device_class(),
            slice_("a", "gpu-0", "gpu-1", name="a"),
            slice_("b", "gpu-0", "gpu-1", name="b"),
            template("two", request(count=2)),
            claim("held", request(), status=held),
            running("old", "a", "held"),
        ]
    )


def _page(cluster: Cluster, events: list[dict[str, Any]], **options: Any) -> tuple[ReadPage, Any]:
    answer = cluster.replay(events, **options)
    return read(cluster.page(answer)), answer.to_dict()


def test_moments_are_kept_for_a_page_only_and_are_the_same_when_they_are_simulated_again() -> None:
    events = [{"time": 60, "create": bare_pod("new", templates={"d": "two"}), "runs": HOUR}]
    answer = _cluster().replay(events)
    assert "kept" not in vars(answer)
    kept = replayed(_cluster(), events, {}, for_page=True).kept
    assert [(each.sample, each.nodes) for each in answer.kept] == [(each.sample, each.nodes) for each in kept]
    assert [[claim.allocation for claim in each.claims] for each in answer.kept] == [
        [claim.allocation for claim in each.claims] for each in kept
    ]
    assert len(kept) > 1


def _devices(data: Any, at: int) -> dict[tuple[str, int], tuple[str, str]]:
    """The devices of all places at a step: a letter, and what is said."""
    [scene] = data["scenes"]
    found = {
        (place["name"], number): (
            letter,
            data["texts"][place["details"][str(number)]] if str(number) in place.get("details", {}) else "",
        )
        for place in scene["places"]
        for number, letter in enumerate(place["states"])
    }
    for pick in data["picks"][: at + 1]:
        for place, number, letter, said in pick["change"][0]:
            found[scene["places"][place]["name"], number] = (letter, data["texts"][said])
    return found


EVENTS = [
    {"time": 60, "create": bare_pod("big", templates={"g": "two"}), "runs": HOUR},
    {"time": 2 * HOUR, "delete": ["Node", "b"]},
]


def test_the_fleet_is_that_of_the_moment() -> None:
    page, document = _page(_cluster(), EVENTS, at=[30, 120, 2 * HOUR - 1])
    data = page.data
    samples = document["runs"][0]["samples"]
    assert [pick["word"] for pick in data["picks"]] == [
        f"{one['bound']:g} bound, {one['waiting']:g} waiting" for one in samples
    ]
    letters = [{key: letter for key, (letter, _) in _devices(data, at).items()} for at in range(len(samples))]
    assert letters[0] == {("a", 0): "u", ("a", 1): "f", ("b", 0): "f", ("b", 1): "f"}
    assert letters[1] == {("a", 0): "u", ("a", 1): "f", ("b", 0): "u", ("b", 1): "u"}
    assert letters[2] == letters[0]
    assert letters[-1] == {("a", 0): "u", ("a", 1): "f", ("b", 0): "o", ("b", 1): "o"}
    assert _devices(data, len(samples) - 1)["b", 0][1] == "the node is not in the cluster"


def test_as_many_devices_are_in_use_as_the_samples_say() -> None:
    page, document = _page(_cluster(), EVENTS, every=600.0)
    for at, sample in enumerate(document["runs"][0]["samples"]):
        used = sum(letter == "u" for letter, _ in _devices(page.data, at).values())
        assert used == sample["allocated"], sample["second"]


def test_a_node_that_comes_has_no_free_devices_before() -> None:
    events = [
        {"time": 60, "create": node("c")},
        {"time": 60, "create": slice_("c", "gpu-0", name="c")},
        {"time": 120, "create": bare_pod("big", templates={"g": "two"})},
    ]
    page, _ = _page(_cluster(), events, at=[30, 90])
    assert _devices(page.data, 0)["c", 0] == ("o", "the node is not in the cluster")
    assert _devices(page.data, 1)["c", 0] == ("f", "")


def test_the_slider_stops_where_the_curves_are() -> None:
    page, document = _page(_cluster(), EVENTS, at=[0, 1800, 3600])
    seconds = [one["second"] for one in document["runs"][0]["samples"]]
    assert page.data["at"] == [0.0, *(round(100 * each / seconds[-1], 2) for each in seconds)]
    assert page.data["steps"] == len(seconds)
    assert page.data["before"] == ""


def test_of_very_many_samples_some_are_kept_and_the_end_is() -> None:
    page, document = _page(_cluster(), EVENTS, every=10.0)
    assert len(document["runs"][0]["samples"]) > 700
    assert 50 < len(page.data["picks"]) <= 101
    assert page.data["at"][-1] == 100.0


def test_two_runs_have_two_lines_and_orders_a_band() -> None:
    page, _ = _page(_cluster(), EVENTS, against="whole-nodes", orders=2)
    lines = [attributes["class"] for tag, attributes in page.elements if tag == "path" and attributes.get("class")]
    assert lines.count("curve-line line1") == lines.count("curve-line line2") == 4
    assert lines.count("band line1") == lines.count("band line2") == 4
    assert "The fleet is that of default." in page.text


def test_a_curve_is_drawn_on_its_scale() -> None:
    curve = Curve("x", "", [CurveLine("run", [0.0, 4.0, 2.0], [0.0, 3.0, 2.0], [0.0, 5.0, 2.0])])
    curves = Curves([0.0, 10.0, 40.0], ["", "", ""], [curve], [1])
    assert curve.top == 5.0
    assert curves.path(curve, curve.lines[0].values) == "M0 40L25 8L100 24"
    assert curves.band(curve, curve.lines[0]) == "M0 40L25 0L100 24L100 24L25 16L0 40z"
    assert curves.steps == [0.0, 25.0]


def test_a_scale_ends_at_a_round_number() -> None:
    assert [rounded(value) for value in (0, 0.3, 1, 1.1, 3, 7, 12, 99, 1001)] == [1, 0.5, 1, 2, 5, 10, 20, 100, 2000]
