"""A fleet of 1,000 nodes as tiles: every node is there as it is, found, opened, grouped, reached with the keyboard."""

import re
from functools import cache
from typing import Any

import pytest

from benchmarks.fleet import GPU, fleet
from dra_plan import Cluster
from tests.browser.conftest import Open, Opened, settled
from tests.build import bare_pod, request, template
from tests.page.clusters import busy_cluster
from tests.page.reading import ROOT
from tests.page.test_truths import _evicting

NODES = 1000
AWAY = ("worker-00003", "worker-00500")


@cache
def _cluster() -> Cluster:
    items = fleet(NODES)["items"]
    for item in items:
        if item["kind"] == "Node" and item["metadata"]["name"] == AWAY[1]:
            item["spec"] = {"taints": [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}]}
    return Cluster.of(items).cordon(AWAY[0])


@cache
def _html(command: str = "explain") -> str:
    return _cluster().page(getattr(_cluster(), command)())


def _tile(opened: Opened, name: str) -> Any:
    return settled(opened.page).locator(f'.tile[href="#node/{name}"]')


@pytest.mark.parametrize("command", ["explain", "pools"])
def test_every_node_is_a_tile_on_one_screen(command: str, opens: Open) -> None:
    page = opens(_html(command)).page
    assert settled(page).locator(".tile").count() == NODES
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    low = settled(page).evaluate(
        "Math.max(...[...document.querySelectorAll('.tile')].map(t => t.getBoundingClientRect().bottom))"
    )
    assert low <= 900
    assert page.locator("*").count() < 6000


def test_a_browser_without_idle_callbacks_has_the_same_tiles(opens: Open) -> None:
    """Safari, for example."""
    links = "[...document.querySelectorAll('.tile')].map(t => [t.hash, t.getAttribute('aria-label'), t.dataset.look])"
    opened = opens(_html())
    page = settled(opened.page)
    before = page.evaluate(links)
    page.add_init_script("delete window.requestIdleCallback; delete window.cancelIdleCallback")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate("'requestIdleCallback' in window") is False
    assert settled(page).evaluate(links) == before
    assert len(before) == NODES
    assert opened.said == []


def test_what_is_free_on_each_tile_is_what_pools_says(opens: Open) -> None:
    """Two facts of each node: its free GPUs and NICs."""
    page = opens(_html("pools")).page
    said = settled(page).evaluate(
        "[...document.querySelectorAll('.tile')].map(t => [t.hash.slice(6), t.getAttribute('aria-label')])"
    )
    free: dict[str, list[str]] = {}
    for pool in _cluster().pools().to_dict()["pools"]:
        number = sum(device["state"] == "Available" for device in pool["devices"])
        model = pool["driver"] if pool["driver"].startswith("nic") else ""
        free.setdefault(pool["poolName"], []).append(f"{number} of {len(pool['devices'])} {model}".strip())
    assert len(free) == NODES
    for name, told in said:
        assert all(fact in told for fact in free[name]), (name, told, free[name])


def test_fits_are_those_of_the_document(opens: Open) -> None:
    [one] = _cluster().explain().to_dict()["claimSets"]
    page = opens(_html()).page
    fits = settled(page).evaluate("[...document.querySelectorAll('.tile[data-look~=good]')].map(t => t.hash.slice(6))")
    assert sorted(fits) == sorted(one["fittingNodes"])
    assert page.locator(".reason").first.inner_text().startswith(str(len(fits)))
    assert page.locator("h1").inner_text() == f"resourceclaim/default/train fits on {len(fits)} of 1,000 nodes"


def test_what_keeps_pods_away_is_hatched_and_said(opens: Open) -> None:
    opened = opens(_html())
    page = opened.page
    away = settled(page).evaluate("[...document.querySelectorAll('.tile[data-look~=away]')].map(t => t.hash.slice(6))")
    assert sorted(away) == sorted(AWAY)
    _tile(opened, AWAY[0]).click()
    assert "Keeps pods away: cordoned" in settled(page).inner_text("#node")
    _tile(opened, AWAY[1]).click()
    assert "Keeps pods away: taint dedicated=ml:NoSchedule" in settled(page).inner_text("#node")
    page.select_option(".group-by", "away")
    groups = page.locator(".group h3").all_inner_texts()
    assert [each.partition(", ")[0] for each in groups] == [
        "cordoned 1 node",
        "taint dedicated=ml:NoSchedule 1 node",
        "takes pods 998 nodes",
    ]
    fits = int(page.locator(".reason b").first.inner_text()) - 1
    assert [re.findall(r", fits: (\d+)", each) for each in groups] == [[], ["1"], [str(fits)]]
    pools = {pool["poolName"]: pool for pool in _cluster().pools().to_dict()["pools"] if pool["driver"] == GPU}
    for name, said in zip(AWAY, (groups[0], groups[1]), strict=True):
        free, model = pools[name]["availableDevices"], pools[name]["devices"][0]["model"]
        assert f", {free} of 8 {model} free" in said


def test_a_device_is_found_by_its_whole_name_and_enter_opens_its_node(opens: Open) -> None:
    page = opens(_html()).page
    page.keyboard.press("/")
    page.keyboard.type(f"{GPU}/worker-00007/gpu-3")
    assert len(page.locator(".hits li").all()) == 1
    assert page.inner_text(".hits li").startswith("gpu-3 on worker-00007: ")
    assert page.inner_text(".count") == "1 of 1,000 nodes, 1 device"
    page.keyboard.press("Enter")
    assert settled(page).locator("#node .title").inner_text() == "worker-00007"


def test_a_device_is_found_by_each_attribute_that_names_it_and_the_only_node_opens(opens: Open) -> None:
    page = opens(_html()).page
    devices = next(
        each for each in _cluster().inventory.slices if each.metadata.name == f"worker-00123-{GPU}"
    ).spec.devices
    for attribute in ("uuid", "serial"):
        page.fill("#filter", str(devices[5].attributes[attribute].string_value))
        [hit] = page.locator(".hits li").all_inner_texts()
        assert hit.startswith("gpu-5 on worker-00123: ")
        assert settled(page).locator("#node .title").inner_text() == "worker-00123"
    page.fill("#filter", "worker-00124")
    assert settled(page).locator("#node .title").inner_text() == "worker-00124"


def test_of_what_fails_the_answer_stands_before_a_node_until_one_is_opened(opens: Open) -> None:
    asked = template("nine", request("r", of=GPU, count=9))
    cluster = Cluster.of([*fleet(100)["items"], asked, bare_pod("never", templates={"g": "nine"})])
    page = opens(cluster.page(cluster.explain("pod/never"))).page
    top = "part => document.querySelector(part).getBoundingClientRect().top"
    assert page.evaluate(top, ".first-answer") < page.evaluate(top, "#node")
    page.locator('.tile[href="#node/worker-00042"]').click()
    assert settled(page).evaluate(top, "#node") < page.evaluate(top, ".first-answer")


def test_search_finds_holders_whatever_is_drawn_and_says_when_there_is_nothing(opens: Open) -> None:
    page = opens(_html()).page
    holder = next(claim for claim in _cluster().inventory.claims if claim.status is not None)
    page.fill("#filter", holder.status.reserved_for[0].name)
    assert settled(page).locator(".tile:not([data-look~=dim])").count() == 1
    [hit] = page.locator(".hits li").all_inner_texts()
    assert f"in use, by claim jobs/{holder.metadata.name}" in hit
    page.locator(".hits a").click()
    assert holder.status.reserved_for[0].name in settled(page).inner_text("#node")
    page.fill("#filter", "nothing is called so")
    assert "Nothing found for “nothing is called so”." in page.inner_text(".count")
    assert settled(page).locator(".tile:not([data-look~=dim])").count() == 0
    page.fill("#filter", "")
    assert settled(page).locator(".tile:not([data-look~=dim])").count() == NODES


def test_a_reason_shows_only_its_nodes(opens: Open) -> None:
    page = opens(_html()).page
    for at in range(page.locator(".reason").count()):
        reason = page.locator(".reason").nth(at)
        reason.click()
        number = int(reason.locator("b").inner_text().replace(",", ""))
        assert settled(page).locator(".tile:not([data-look~=dim])").count() == number
        page.locator(".reason").nth(at).click()
    assert settled(page).locator(".tile:not([data-look~=dim])").count() == NODES


def test_addresses_name_nodes_and_back_goes_back(opens: Open) -> None:
    opened = opens(_html())
    page = opened.page
    _tile(opened, "worker-00007").click()
    assert "#node/worker-00007" in settled(page).url
    _tile(opened, "worker-00008").click()
    assert settled(page).locator("#node .title").inner_text() == "worker-00008"
    page.go_back()
    assert settled(page).locator("#node .title").inner_text() == "worker-00007"
    page.goto(page.url.partition("#")[0] + "#node/worker-00042")
    assert settled(page).locator("#node .title").inner_text() == "worker-00042"
    assert settled(page).locator(".tile[aria-current]").get_attribute("href") == "#node/worker-00042"


def test_tiles_are_one_stop_and_arrows_go_between_them(opens: Open) -> None:
    page = opens(_html()).page
    assert settled(page).locator('.tile[tabindex="0"]').count() == 1
    settled(page).locator('.tile[tabindex="0"]').focus()
    first = page.evaluate("document.activeElement.hash")
    page.keyboard.press("Home")
    seen = [page.evaluate("document.activeElement.hash")]
    for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "End"):
        page.keyboard.press(key)
        seen.append(page.evaluate("document.activeElement.hash"))
    assert first
    assert seen[1] != seen[0] == seen[4]
    assert seen[2] not in seen[:2]
    assert seen[3] == seen[1]
    assert seen[5] == settled(page).locator(".tile").last.get_attribute("href")
    page.keyboard.press("Enter")
    assert settled(page).locator("#node .title").inner_text() == seen[5].removeprefix("#node/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "filter"


@pytest.mark.parametrize("group", ["model", "said", "together"])
def test_groups_hold_every_node_once(group: str, opens: Open) -> None:
    page = opens(_html()).page
    page.select_option(".group-by", group)
    assert settled(page).locator(".group .tile").count() == NODES
    sizes = [int(text.split(" node")[0].rsplit(" ", 1)[-1]) for text in page.locator(".group .more").all_inner_texts()]
    assert sum(sizes) == NODES


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (1024, "dark"), (1440, "light"), (1440, "dark"), (2560, "light")]
)
def test_axe_and_widths(width: int, scheme: str, opens: Open) -> None:
    opened = opens(_html(), width=width, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.axe() == []
    assert opened.said == []


def test_forced_colours_and_paper(opens: Open) -> None:
    page = opens(_html(), forced_colors="active").page
    colours = page.evaluate(
        "[...new Set([...document.querySelectorAll('.paint path')].map(each => getComputedStyle(each).fill))].length"
    )
    assert colours > 2
    page.emulate_media(media="print", forced_colors="none")
    squares = "[...document.querySelectorAll('.back')].map(each => each.getAttribute('d').split('z').length - 1)"
    assert sum(page.evaluate(squares)) == NODES
    assert page.locator(".paint:visible").count() == page.locator(".group").count()
    assert page.pdf()[:5] == b"%PDF-"


def test_before_and_after_of_many_nodes_are_a_choice_and_what_changes_is_ringed(opens: Open) -> None:
    cluster = busy_cluster().add_nodes(40, like="gpu-c")
    page = opens(cluster.page(cluster.diff(cluster.drain("gpu-a")))).page
    assert page.locator(".which button").all_inner_texts() == ["Before", "After"]
    ringed = settled(page).evaluate(
        "[...document.querySelectorAll('.tile[data-look~=touched]')].map(t => t.hash.slice(6))"
    )
    assert "gpu-a" in ringed
    assert page.locator("#node .scene-title").all_inner_texts() == ["Before", "After"]
    page.locator(".which button").first.click()
    assert settled(page).locator(".tile").count() == 43
    assert page.locator(".which button").first.get_attribute("aria-pressed") == "true"


# -- what was untrue ---------------------------------------------------------------------------------------------------


def test_a_device_that_an_evicted_pod_keeps_is_drawn_as_held(opens: Open) -> None:
    cluster, answer = _evicting()
    page = opens(cluster.page(answer)).page
    page.locator(".pick", has_text="hi").click()
    settled(page)
    page.locator("#time").fill(page.get_attribute("#time", "max"))
    box = page.locator(".dev", has_text="gpu-0")
    assert "used" in box.get_attribute("class").split()
    evictor = page.locator(".pick", has_text="pod/default/hi")
    assert "good" not in evictor.get_attribute("class").split()
    assert "1 running pod would be evicted" in page.inner_text("h1")


def test_no_loss_is_green(opens: Open) -> None:
    cluster = busy_cluster()
    page = opens(cluster.page(cluster.diff(cluster.without("pod/ml/notebook")))).page
    assert "1 pod is gone" in page.inner_text("h1")
    assert page.locator(".pick.good", has_text="Gone").count() == 0
    fixture = Cluster.load(ROOT / "fixtures" / "gpu-fleet")
    page = opens(fixture.page(fixture.grow("pod/next-gen", "pod/finetune", like="hopper-1"))).page
    assert page.locator(".pick.good", has_text="no help").count() == 0
    assert page.locator(".pick.bad", has_text="no help").count() == 1


def test_the_fleet_has_one_bar_and_what_is_given_is_not_counted_as_free(opens: Open) -> None:
    cluster = Cluster.load(ROOT / "fixtures" / "gpu-fleet")
    page = opens(cluster.page(cluster.capacity())).page
    assert page.locator(".bars", has_text="when no more copies are bound").count() == 1
    own = page.locator(".bars", has_text="for this owner alone").all_text_contents()
    assert any("used by its copies" in each for each in own)
    placed = Cluster.load(ROOT / "fixtures" / "gpu-fleet")
    page = opens(placed.page(placed.place("pod/allreduce", "pod/finetune"))).page
    for card in page.locator(".card").all():
        boxes = card.locator(".dev").count()
        free = card.locator(".dev.free").count()
        if boxes:
            assert f"{free} of {boxes} free" in card.inner_text()
    assert "0 of 0" not in page.inner_text("body")


def test_after_a_drain_the_fleet_counts_what_is_free_then_and_says_which_picture_it_is(opens: Open) -> None:
    cluster = busy_cluster().add_nodes(40, like="gpu-c")
    page = opens(cluster.page(cluster.diff(cluster.drain("gpu-a")))).page
    page.click("#nothing")
    assert page.inner_text(".picked").startswith("Nothing is picked: the cluster after the change")
    free = ".left-model:has-text('H100') b"
    assert page.inner_text(free) == "4 of 8 free"
    page.locator(".which button").first.click()
    assert page.inner_text(".picked") == "Nothing is picked: the cluster as it is."
    assert page.inner_text(free) == "2 of 8 free"
