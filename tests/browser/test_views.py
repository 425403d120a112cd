"""Views that can be sent by their address, and counts that are those of the answer."""

import re
from functools import cache
from typing import Any

from benchmarks.fleet import GPU
from dra_plan import Cluster
from tests.browser.conftest import Open, settled
from tests.browser.test_finding import RACK, items_of_fleet
from tests.build import bare_pod, request, template


@cache
def _asked() -> tuple[Cluster, Any]:
    """Two pods that no node takes: one wants a rack that there is not, one more cpu and devices than nodes have."""
    picky = bare_pod("picky", templates={"g": "two"})
    picky["spec"]["nodeSelector"] = {RACK: "rack-99"}
    huge = bare_pod("huge", templates={"g": "nine"})
    huge["spec"]["containers"][0].setdefault("resources", {})["requests"] = {"cpu": "4000"}
    templates = [template(name, request("r", of=GPU, count=count)) for name, count in (("two", 2), ("nine", 9))]
    cluster = Cluster.of([*items_of_fleet(), *templates, picky, huge])
    return cluster, cluster.explain("pod/picky", "pod/huge")


@cache
def _html() -> str:
    cluster, answer = _asked()
    return cluster.page(answer)


def _view(page: Any) -> dict[str, Any]:
    settled(page)
    return {
        "picked": page.locator(".pick[aria-current] .name").all_inner_texts(),
        "node": page.locator("#node .title").all_inner_texts(),
        "find": page.input_value("#filter"),
        "group": page.input_value(".group-by"),
        "only": page.locator(".reason[aria-pressed=true]").all_inner_texts(),
        "count": page.inner_text(".count"),
        "groups": page.locator(".group h3").all_inner_texts(),
    }


def _change(page: Any) -> None:
    page.locator(".pick").last.click()
    settled(page)
    page.select_option(".group-by", f"label:{RACK}")
    page.locator(".reason").first.click()
    page.fill("#filter", "worker-0001")
    page.locator(".hits a").nth(1).click()


def test_an_address_shows_all_of_a_view(opens: Open) -> None:
    page = opens(_html()).page
    opening = _view(page)
    _change(page)
    sent = _view(page)
    assert all(sent[part] != opening[part] for part in sent)
    other = opens(_html()).page
    other.evaluate("hash => { location.hash = hash; }", page.evaluate("location.hash"))
    assert _view(other) == sent
    other.reload()
    other.wait_for_selector("html[data-ready]", state="attached")
    assert _view(other) == sent
    page.go_back()
    assert _view(page)["node"] != sent["node"]
    page.go_forward()
    assert _view(page) == sent


def test_a_view_without_a_pick_has_an_address_too(opens: Open) -> None:
    page = opens(_html()).page
    page.click("#nothing")
    sent = _view(page)
    assert not sent["picked"]
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert _view(page) == sent


def test_a_filter_of_a_reason_that_another_pick_lacks_is_dropped(opens: Open) -> None:
    page = opens(_html()).page
    page.locator(".reason").first.click()
    page.locator(".pick").last.click()
    view = _view(page)
    assert not view["only"]
    assert view["count"].startswith(view["count"].split(" of ")[1].split()[0] + " of ")


def test_counts_above_the_fleet_are_those_of_the_answer(opens: Open) -> None:
    _, answer = _asked()
    page = opens(_html()).page
    for verdict in answer.document.verdicts:
        page.locator(".pick", has_text=verdict.name).click()
        settled(page)
        of_devices = [any(one.plugin == "DynamicResources" for one in group.reasons) for group in verdict.nodes]
        near = sum(len(group.nodes) for group, is_of in zip(verdict.nodes, of_devices, strict=True) if not is_of)
        said = [len(group.nodes) for group, is_of in zip(verdict.nodes, of_devices, strict=True) if is_of]
        said = sorted([*said, near] if near else said)
        chips = [int(each.split()[0]) for each in page.locator(".reason").all_inner_texts()]
        rest = [each for each in page.locator(".rest").all_inner_texts() if each]
        if not rest:
            assert sorted(chips) == said
        else:
            assert set(chips) <= set(said)
            assert sum(chips) + int(rest[0].split()[0]) == sum(said)
        shown = page.locator(".answer:not(.aside) .told").all_inner_texts()
        told = [found for line in shown if (found := re.match(r"(\d+) nodes \(", line.strip()))]
        assert sum(int(found[1]) for found in told) == sum(said)


def test_the_answer_opens_on_the_node_that_lacks_least(opens: Open) -> None:
    page = opens(_html()).page
    page.locator(".pick", has_text="huge").click()
    names = settled(page).locator("#node .dev.free .n").all_inner_texts()
    assert len([name for name in names if name.startswith("gpu-")]) == 8


def test_the_list_as_it_is_searched_is_in_the_address(opens: Open) -> None:
    templates = [template(name, request("r", of=GPU, count=count)) for name, count in (("one", 1), ("nine", 9))]
    pods = [bare_pod(f"p{at:02}", templates={"g": "nine" if at % 2 else "one"}) for at in range(20)]
    cluster = Cluster.of([*items_of_fleet(), *templates, *pods])
    html = cluster.page(cluster.schedule())
    page = opens(html).page
    page.locator("#tabs button", has_text="Failing").click()
    page.fill("#find", "p1")
    listed = settled(page).locator(".pick .name").all_inner_texts()
    assert listed == [f"pod/default/p{at}" for at in range(11, 20, 2)]
    other = opens(html).page
    other.evaluate("hash => { location.hash = hash; }", page.evaluate("location.hash"))
    for _ in range(2):
        assert settled(other).locator(".pick .name").all_inner_texts() == listed
        assert other.input_value("#find") == "p1"
        assert other.locator("#tabs [aria-pressed=true]").inner_text().startswith("Failing")
        other.reload()
        other.wait_for_selector("html[data-ready]", state="attached")


def test_nodes_on_which_only_the_devices_fit_are_told_apart_and_say_which_label_they_have(opens: Open) -> None:
    page = opens(_html()).page
    [plan] = _asked()[0].allocate("pod/picky", devices_only=True).to_dict()["claimSets"]
    chip = page.locator(".reason", has_text="only the devices fit")
    assert chip.locator("b").inner_text() == str(len(plan["fittingNodes"]))
    chip.click()
    hits = dict(hit.split(": ", 1) for hit in page.locator(".hits li").all_inner_texts())
    assert sorted(hits) == sorted(plan["fittingNodes"])
    assert hits["worker-00007"] == f"wants {RACK}=rack-99, has {RACK}=rack-07"
    assert hits["worker-00003"] == f"cordoned; wants {RACK}=rack-99, has {RACK}=rack-03"
    page.locator(".hits a", has_text="worker-00007").click()
    page.locator("#node .title", has_text="worker-00007").wait_for()
    assert page.inner_text("#node .message") == hits["worker-00007"]
    assert page.locator("#node .dev.gets", has_text="fits").count() == 2
    assert "given" not in page.inner_text("#node .fill >> nth=0")
