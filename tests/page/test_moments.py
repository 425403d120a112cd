"""The picture at other moments: what pods have taken, and what a pod without a node found when it was tried last."""

from functools import cache
from pathlib import Path
from typing import Any

from dra_plan import Cluster
from tests.cli.running import in_process as run
from tests.page.reading import ROOT, read


@cache
def _data(fixture: str) -> Any:
    cluster = Cluster.load(ROOT / "fixtures" / fixture)
    return read(cluster.page(cluster.schedule(explain=True))).data


def _pick(data: Any, name: str) -> Any:
    return next(pick for pick in data["picks"] if pick["name"].endswith(name))


def _names(fixture: str) -> list[str]:
    cluster = Cluster.load(ROOT / "fixtures" / fixture)
    [pool] = cluster.pools().to_dict()["pools"]
    return [device["name"] for device in pool["devices"]]


def test_parts_of_a_device_can_not_be_had_when_others_have_its_slots() -> None:
    data, names = _data("mig"), _names("mig")
    devices, amounts = _pick(data, "mixed")["change"]
    now = {names[at]: (letter, data["texts"][text]) for _, at, letter, text in devices}
    assert now["gpu-0-mig-3g-20gb-4"] == ("u", "by claim default/mixed-mig (pod mixed)")
    assert now["gpu-0"] == ("o", "counter memory of gpu-0-counter-set: 40Gi needed, 1408Mi left")
    assert len(now) == len(names)
    left = {data["texts"][text]: (pips, percent) for text, pips, percent in amounts["0"]}
    assert left["0 of 98 left"] == (7, 100.0)
    assert left["1408Mi of 40Gi left"] == (0, 96.6)


def test_a_pod_without_a_node_is_shown_the_cluster_of_its_last_attempt_and_why_each_device_was_refused() -> None:
    data = _data("gpu-fleet")
    places = [place["name"] for place in data["scenes"][0]["places"]]
    pick = _pick(data, "next-gen")
    devices, _ = data["moments"][pick["moment"]]
    taken = {(places[place], at): data["texts"][text] for place, at, letter, text in devices if letter == "u"}
    assert taken == {
        ("ada-1", 0): "by claim research/allreduce-gpu (pod allreduce)",
        ("ada-1", 1): "by claim research/allreduce-gpu (pod allreduce)",
        ("hopper-2", 0): "by claim research/finetune-gpu (pod finetune)",
    }
    notes = {
        (places[int(place)], at): data["texts"][note]
        for place, mark in pick["marks"][0].items()
        for at, note in mark[4].items()
    }
    assert notes["hopper-1", "1"] == "selector of the request is false"
    assert notes["hopper-2", "0"].startswith("in use")
    assert len(notes) == 10


def test_pods_that_bring_nothing_new_change_nothing_and_a_share_leaves_less() -> None:
    data = _data("nic-bandwidth")
    [[_, _, letter, text]], amounts = _pick(data, "small")["change"]
    assert letter == "s"
    assert data["texts"][text] == (
        "by claim default/stream-1 (pod stream-1) and default/small-nic (pod small); "
        "egressBandwidth: 39G of 100G left; virtualFunctions: 6 of 8 left"
    )
    assert amounts == {}
    assert _pick(data, "too-fast")["change"] == [[], {}]


def test_the_page_explains_where_the_answer_does_not(tmp_path: Path) -> None:
    plain = run("schedule", "fixtures/gpu-fleet", "-o", "json")
    reported = run("schedule", "fixtures/gpu-fleet", "-o", "json", "--report", f"html={tmp_path / 'page.html'}")
    assert reported.out == plain.out
    assert "explanations" not in plain.out
    page = read((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.data["document"]["explanations"]
    assert "no device is available" in page.text
