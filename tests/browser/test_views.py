"""Views that can be sent by their address, and counts that are those of the answer."""

import re
from functools import cache
from typing import Any

from benchmarks.fleet import GPU
from dra_plan import Cluster
from tests.browser.conftest import Open
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
    page.wait_for_selector(".groups:not([aria-busy])")
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
        said = sorted(len(group.nodes) for group in verdict.nodes)
        chips = [int(each.split()[0]) for each in page.locator(".reason").all_inner_texts()]
        rest = [each for each in page.locator(".rest").all_inner_texts() if each]
        if not rest:
            assert sorted(chips) == said
        else:
            assert set(chips) <= set(said)
            assert sum(chips) + int(rest[0].split()[0]) == sum(said)
        shown = page.locator(".answer:not(.aside) .told").all_inner_texts()
        assert re.search(rf"\b{max(chips)} nodes\b", " ".join(shown))


def test_the_answer_opens_on_the_node_that_lacks_least(opens: Open) -> None:
    page = opens(_html()).page
    page.locator(".pick", has_text="huge").click()
    names = page.locator("#node .dev.free .n").all_inner_texts()
    assert len([name for name in names if name.startswith("gpu-")]) == 8
