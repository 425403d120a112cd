"""What boxes of the picture say, as text in the articles: nothing has to be picked to read it."""

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.page import content as boxes
from dra_plan.page.content import Page, fill_boxes
from dra_plan.page.told import Article
from dra_plan.questions.registry import of_kind
from tests.page.reading import ROOT, html_of, read


def _filled(fixture: str, asked: Any) -> Page:
    cluster = Cluster.load(ROOT / "fixtures" / fixture)
    answer = asked(cluster)
    made = of_kind(answer.document.kind).page(answer, cluster.inventory, cluster.view)
    fill_boxes(made)
    return made


def _article(made: Page, name: str) -> Article:
    return next(article for article in made.articles if article.name == name)


def _said(article: Article) -> list[tuple[str, tuple[str, ...]]]:
    return [(box.title, box.lines) for box in article.boxes]


def test_what_is_refused_and_what_is_given_node_by_node() -> None:
    made = _filled("gpu-fleet", lambda cluster: cluster.explain())
    false = "selector of the request is false"
    assert _said(_article(made, "pod/research/next-gen")) == [
        ("hopper-1: does not fit", ("gpu-0: in use", f"gpu-1, gpu-2 and gpu-3: {false}")),
        ("hopper-2: does not fit", (f"gpu-0, gpu-1, gpu-2 and gpu-3: {false}",)),
        ("ada-1: does not fit", (f"gpu-0 and gpu-1: {false}",)),
    ]
    assert _said(_article(made, "pod/research/allreduce")) == [
        ("hopper-1: fits", ("gpu-2 and gpu-3: would get, request gpu",)),
        ("hopper-2 and ada-1: fits", ("gpu-0 and gpu-1: would get, request gpu",)),
    ]


def test_before_and_after_are_told_apart() -> None:
    made = _filled("scattered", lambda cluster: cluster.explain("pod/train", moves=3))
    [first, *_] = _said(_article(made, "Room for ml/train"))
    titles = [box.title for box in made.articles[1].boxes]
    assert titles[0] == "Now: gpu-1: 2 pods leave"
    assert "After the moves: gpu-1: holds 1 pod" in titles
    assert "gpu-0: has to move, ml/serve-a goes to gpu-2" in first[1]
    assert made.headline.endswith("no node can take it (0 of 3); moves make room")


def test_of_very_many_groups_those_with_the_most_nodes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "MOST_GROUPS", 1)
    made = _filled("gpu-fleet", lambda cluster: cluster.explain())
    assert [title for title, _ in _said(_article(made, "pod/research/allreduce"))] == [
        "hopper-2 and ada-1: fits",
        "1 other group of nodes: on the picture, one by one.",
    ]


def test_the_devices_of_each_possible_copy_are_marked() -> None:
    made = _filled("gpu-fleet", lambda cluster: cluster.capacity())
    assert made.headline == "Room for copies of 3 of 4 pods, each on its own"
    article = _article(made, "pod/research/allreduce")
    assert dict(_said(article)) == {
        "hopper-1: 1 copy": ("gpu-2 and gpu-3: in a copy, copy 3",),
        "hopper-2: 1 copy": ("gpu-0 and gpu-1: in a copy, copy 2",),
        "ada-1: 1 copy": ("gpu-0 and gpu-1: in a copy, copy 1",),
    }
    assert _said(_article(made, "pod/research/next-gen")) == []


def test_without_a_known_placement_no_device_of_a_copy_is_marked() -> None:
    made = _filled("gpu-fleet", lambda cluster: cluster.capacity(possible=False))
    assert not made.marks_devices
    assert not any(article.boxes for article in made.articles)


def test_a_difference_is_named_once_in_its_article() -> None:
    html = html_of("gpu-fleet", "diff")
    articles = [part.split("</article>")[0] for part in html.split('<article class="answer')[1:]]
    assert [part.count("Fewer nodes") for part in articles] == [1, 1, 0, 0]
    assert "fits on 2 nodes: hopper-2, ada-1" in articles[0]


def test_an_answer_of_allocate_says_where_or_why_not_in_a_sentence() -> None:
    made = _filled("gpu-fleet", lambda cluster: cluster.allocate())
    summaries = {article.name: [line.text for line in article.summary] for article in made.articles}
    assert summaries["pod/research/burn-in"] == ["On hopper-2, ada-1."]
    assert summaries["pod/research/next-gen"] == ["Why not: selector on cudaComputeCapability (0 of 1 for gpu)."]


def test_with_new_nodes_the_head_says_when_so_much_is_free() -> None:
    assert "With the new nodes, before pending pods are bound." in read(html_of("gpu-fleet", "grow")).text
