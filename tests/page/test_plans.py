"""Pages of plans: new nodes and what sits on them, drains and their harm, placements and proofs."""

from typing import Any

import dra_plan
from dra_plan import Cluster
from tests.page.clusters import busy_cluster
from tests.page.reading import ROOT, ReadPage, read


def _load(fixture: str) -> Cluster:
    return Cluster.load(ROOT / "fixtures" / fixture)


def _marks(page: ReadPage, name: str) -> dict[str, Any]:
    """Of the pick of this name, by place: label, message, and the words on devices."""
    data = page.data
    texts, places = data["texts"], data["scenes"][0]["places"]
    pick = next(pick for pick in data["picks"] if pick["name"] == name)
    return {
        places[int(at)]["name"]: (
            texts[label],
            texts[message],
            *({int(device): texts[said] for device, said in part.items()} for part in parts),
        )
        for at, (_, label, message, *parts) in pick["marks"][0].items()
    }


def _picks(page: ReadPage) -> list[tuple[str, str]]:
    return [(pick["name"], pick["word"]) for pick in page.data["picks"]]


def test_growth_has_new_nodes_apart_and_what_sits_on_them() -> None:
    cluster = _load("mig")
    page = read(cluster.page(cluster.grow(like="a100-1")))
    assert page.data["opens_on"] == 0
    assert _picks(page)[:2] == [("1 like a100-1", "1 pod stays pending"), ("no new nodes", "not enough")]
    places = page.data["scenes"][0]["places"]
    assert [(place["name"], place.get("new", False)) for place in places] == [("a100-1-new-1", True), ("a100-1", False)]
    label, message, gets, *_ = _marks(page, "1 like a100-1")["a100-1-new-1"]
    assert (label, message) == ("like a100-1: holds 1 pod", "default/whole-or-small")
    assert list(gets.values()) == ["for pod default/whole-or-small"]


def test_growth_tells_why_one_node_fewer_is_not_enough_on_the_devices() -> None:
    cluster = _load("mig")
    page = read(cluster.page(cluster.grow(like="a100-1")))
    marks = _marks(page, "no new nodes")
    assert marks["a100-1-new-1"][0] == "not there"
    assert marks["a100-1"][0] == "does not fit"
    notes = marks["a100-1"][3]
    assert notes[0] == (
        "gpu/whole: counter gpu-0-counter-set/memory: 40Gi needed, 1408Mi left; "
        "gpu/small: selector of class mig.nvidia.com is false"
    )
    pick = next(pick for pick in page.data["picks"] if pick["name"] == "no new nodes")
    devices, _ = page.data["moments"][pick["moment"]]
    assert {letter for _, _, letter, _ in devices} == {"u", "o"}


def test_growth_that_needs_nothing_and_that_finds_nothing() -> None:
    cluster = busy_cluster()
    page = read(cluster.page(cluster.grow(like="gpu-a")))
    assert "No new nodes are needed" in page.text
    hopeless = _load("gpu-fleet").grow("pod/next-gen", like="hopper-1")
    assert "New nodes would not help" in read(_load("gpu-fleet").page(hopeless)).text
    partly = _load("gpu-fleet").grow("pod/next-gen", "pod/finetune", like="hopper-1")
    page = read(_load("gpu-fleet").page(partly))
    assert "New nodes would not help 1 pod" in page.text
    assert "needed" not in page.data["picks"][0]["word"]


def test_growth_that_reaches_its_limit_says_what_was_tried() -> None:
    waiting = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"waiting-{at}"},
            "spec": {"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}]},
        }
        for at in range(9)
    ]
    cluster = Cluster.of([*dra_plan.load(ROOT / "fixtures" / "quickstart"), *waiting])
    page = read(cluster.page(cluster.grow(like="gpu-a", limit=1)))
    assert _picks(page)[:2] == [("What was tried last", "undecided"), ("1 like gpu-a", "not enough")]
    assert "Undecided: with 1 like gpu-a, not every pod is bound" in page.text


def test_drains_have_a_row_for_each_node_with_the_harm_drawn() -> None:
    cluster = busy_cluster()
    page = read(cluster.page(cluster.drain_each()))
    assert _picks(page) == [
        ("each node in turn", "2 of 3 with loss"),
        ("gpu-a", "1 pod left pending"),
        ("gpu-b", "1 pod left pending"),
        ("gpu-c", "nothing is lost"),
    ]
    assert {node: mark[0] for node, mark in _marks(page, "each node in turn").items()} == {
        "gpu-a": "1 pod left pending",
        "gpu-b": "1 pod left pending",
        "gpu-c": "nothing is lost",
    }
    _, _, gets, _, harms, _ = _marks(page, "gpu-a")["gpu-a"]
    assert gets == {0: "ml/train-0", 1: "ml/train-0"}
    assert harms == {2: "ml/train-1 could not be scheduled", 3: "ml/train-1 could not be scheduled"}
    pieces = [a["class"] for tag, a in page.elements if tag == "rect" and "piece" in (a.get("class") or "")]
    assert pieces == ["piece bad", "piece good", "piece bad", "piece good", "piece good"]
    assert "1 left pending, 1 moved" in page.text


def test_a_placement_has_each_pod_on_its_node() -> None:
    cluster = _load("gpu-fleet")
    placed = cluster.place("pod/allreduce", "pod/finetune")
    page, entries = read(cluster.page(placed)), placed.to_dict()["placed"]
    assert len(entries) == 2
    assert _picks(page)[0] == ("all of them at the same time", "Placed")
    for entry in entries:
        marks = _marks(page, f"pod/{entry['namespace']}/{entry['name']}")
        assert marks[entry["node"]][0] == "placed here"
        results = [r for claim in entry["claims"] for r in claim["allocation"]["devices"]["results"]]
        assert len(marks[entry["node"]][2]) == len(results)


def test_what_can_not_be_placed_has_the_proof_on_the_picture() -> None:
    cluster = _load("gpu-fleet")
    page = read(cluster.page(cluster.place()))
    assert _picks(page) == [("all of them at the same time", "Impossible")]
    label, message, _, notes, *_ = _marks(page, "all of them at the same time")["hopper-1"]
    assert label == "no room for research/next-gen"
    assert message == "cannot allocate all claims"
    assert notes[1] == "selector of the request is false"
    assert "3 can run at the same time, 1 cannot run next to them (proved)" in page.text


def test_most_of_them_have_a_picture_of_their_own_beside_the_proof() -> None:
    cluster = _load("nic-bandwidth")
    page = read(cluster.page(cluster.place(most=True)))
    label, _, gets, *_ = _marks(page, "as many as can run at the same time")["net-1"]
    assert label == "holds 3 pods"
    assert gets == {0: "for pods default/small and default/odd", 1: "for pod default/half"}
    assert _marks(page, "why not all of them")["net-2"][0] == "no room for default/too-fast"
    assert ("pod/default/too-fast", "no place") in _picks(page)


def test_moves_are_drawn_before_and_after_side_by_side() -> None:
    cluster = _load("scattered")
    data = read(cluster.page(cluster.explain("pod/train", moves=3))).data
    assert data["moments_in"] == 1
    texts, pick = data["texts"], data["picks"][data["opens_on"]]
    assert (pick["name"], pick["word"]) == ("Room for ml/train", "moves make room")
    now, after = pick["marks"]
    places = [place["name"] for place in data["scenes"][0]["places"]]
    leaving = {places[int(at)]: sorted(texts[said] for said in mark[5].values()) for at, mark in now.items() if mark[5]}
    assert leaving == {"gpu-1": ["ml/embed goes to gpu-2", "ml/serve-a goes to gpu-2"]}
    holding = {places[int(at)]: (texts[mark[1]], texts[mark[2]]) for at, mark in after.items()}
    assert holding == {
        "gpu-1": ("holds 1 pod", "ml/train"),
        "gpu-2": ("holds 2 pods", "ml/serve-a and ml/embed"),
    }
    devices, _ = data["moments"][pick["moment"]]
    taken = {(places[place], letter) for place, _, letter, _ in devices}
    assert taken == {("gpu-1", "u"), ("gpu-2", "u")}


def test_moves_that_are_of_no_use_and_moves_that_are_not_needed_name_nobody() -> None:
    hopeless = _load("gpu-fleet")
    page = read(hopeless.page(hopeless.explain("pod/next-gen", moves=1)))
    assert _picks(page)[-1] == ("Room for research/next-gen", "no room")
    assert page.data["picks"][-1]["line"] == ""
    easy = _load("quickstart")
    page = read(easy.page(easy.explain("pod/train", moves=1)))
    assert page.data["picks"][-1]["line"] == ""


def test_capacity_draws_what_is_stranded_and_says_why() -> None:
    cluster = _load("gpu-fleet")
    answer = cluster.capacity("pod/next-gen")
    page = read(cluster.page(answer))
    [h100, *_] = answer.document.fleet.kinds
    assert h100.stranded == 0
    assert "1 in use, 1 (taint gpu.nvidia.com/xid=79:NoExecute), 6 not asked for" in page.text
    pieces = [a["class"] for tag, a in page.elements if tag == "rect" and "piece" in (a.get("class") or "")]
    assert pieces == ["piece used", "piece other", "piece other", "piece other"]


def test_what_was_not_decided_is_not_drawn_as_if_it_were() -> None:
    cluster = _load("quickstart")
    drains = read(cluster.page(cluster.drain_each(max_steps=1)))
    assert ("each node in turn", "undecided") in _picks(drains)
    assert not [name for name, word in _picks(drains) if word == "nothing is lost"]
    changed = read(cluster.page(cluster.diff(cluster.cordon("cpu-a"), max_steps=1)))
    undecided = [pick for pick in changed.data["picks"] if pick["word"] == "Undecided"]
    assert [pick["name"] for pick in undecided][:1] == ["pod/default/train"]
    assert undecided[0]["marks"] == [{}, {}]
    room = read(cluster.page(cluster.capacity("deploy/serve", max_steps=1)))
    assert [word for _, word in _picks(room)] == ["at least 0 copies"]


def test_growth_says_that_ties_decided() -> None:
    cluster = _load("quickstart")
    assert "1 new node for 1 more pod if the first of equally good nodes is always chosen" in cluster.page(
        cluster.grow(like="gpu-b")
    )
