"""What a platform engineer looks for on a fleet of which some nodes keep pods away, in racks that a pod selects."""

from functools import cache

import pytest

from benchmarks.fleet import GPU, fleet
from dra_plan import Cluster
from tests.browser.conftest import Open, settled
from tests.build import bare_pod, claim, gpus, placed, request, template, used
from tests.page.reading import ROOT, html_of, read

NODES, RACKS, RACK = 300, 30, "example.com/rack"
AWAY = ("worker-00003", "worker-00050", "worker-00111")


@cache
def _cluster() -> Cluster:
    items = fleet(NODES)["items"]
    for at, node in enumerate(each for each in items if each["kind"] == "Node"):
        node["metadata"].setdefault("labels", {})[RACK] = f"rack-{at % RACKS:02}"
    pod = bare_pod("picky", templates={"g": "two"})
    pod["spec"]["nodeSelector"] = {RACK: "rack-07"}
    cluster = Cluster.of([*items, template("two", request("r", of=GPU, count=2)), pod])
    for name in AWAY:
        cluster = cluster.cordon(name)
    return cluster


@cache
def _html(command: str) -> str:
    asked = {"explain": lambda: _cluster().explain("pod/picky"), "pools": lambda: _cluster().pools()}
    return _cluster().page(asked[command]())


def _free(driver: str, nodes: tuple[str, ...] | None = None) -> int:
    pools = [pool for pool in _cluster().pools().to_dict()["pools"] if pool["driver"] == driver]
    return sum(pool["availableDevices"] for pool in pools if nodes is None or pool["poolName"] in nodes)


def test_keeping_pods_away_is_of_nodes_and_a_pod_is_refused_in_another_word(opens: Open) -> None:
    page = opens(_html("explain")).page
    away, *_ = said = page.locator(".reason", has_text="not for this pod").all_inner_texts()
    said += page.locator(".reason", has_text="only the devices fit").all_inner_texts()
    counts = [int(each.split()[0]) for each in said]
    assert sum(counts) >= NODES - NODES // RACKS
    assert "affinity" in away
    assert "kept away" not in page.locator("main").inner_text().lower()
    page.select_option(".group-by", "away")
    settled(page)
    assert [each.partition(",")[0] for each in page.locator(".group h3").all_inner_texts()] == [
        f"cordoned {len(AWAY)} nodes",
        f"takes pods {NODES - len(AWAY)} nodes",
    ]


@pytest.mark.parametrize("width", [390, 1080, 1440])
def test_headings_of_groups_name_every_model_and_are_not_cut(width: int, opens: Open) -> None:
    page = opens(_html("pools"), width=width).page
    page.select_option(".group-by", "away")
    models = {each["models"][at] for each in _layouts() for at in each["whole"]}
    heading = page.locator(".group h3").last
    assert heading.inner_text().count(" free") == len(models) + 1 > 2  # one for all of them
    cut = "h => h.scrollWidth > h.clientWidth || h.scrollHeight > h.clientHeight + 2"
    assert not [each.inner_text() for each in page.locator(".group h3").all() if each.evaluate(cut)]
    assert heading.evaluate("h => getComputedStyle(h).textOverflow") == "clip"


def _layouts() -> list[dict[str, list[int]]]:
    layouts: list[dict[str, list[int]]] = read(_html("pools")).data["scenes"][0]["layouts"]
    return layouts


def test_free_devices_on_nodes_that_keep_pods_away_are_counted_apart(opens: Open) -> None:
    page = opens(_html("pools")).page
    headline = page.inner_text("h1")
    for driver in (GPU, *_others()):
        assert f"{driver}: {_free(driver):,} of " in headline
        assert f"devices free, {_free(driver, AWAY):,} of them on cordoned nodes" in headline
    said = page.locator("#left").inner_text()
    counts = [int(each.split(" ")[0].replace(",", "")) for each in _parts(said, " on nodes that keep pods away")]
    assert sum(counts) == _free(GPU, AWAY) + sum(_free(d, AWAY) for d in _others())


def _others() -> set[str]:
    return {pool["driver"] for pool in _cluster().pools().to_dict()["pools"]} - {GPU}


def _parts(said: str, end: str) -> list[str]:
    """The numbers before an end, but for those of frames."""
    return [each.rpartition(", ")[2] for each in said.split(end)[:-1] if not each.endswith("of them")]


def test_use_is_that_of_the_leading_driver_and_nodes_that_keep_pods_away_are_apart(opens: Open) -> None:
    page = opens(_html("pools")).page
    counts = {
        each.rpartition(" · ")[2]: int(each.partition(" ")[0])
        for each in (" ".join(text.split()) for text in page.locator(".reason").all_inner_texts())
    }
    expected = {"keep pods away": len(AWAY)}
    for pool in _cluster().pools().to_dict()["pools"]:
        if pool["driver"] == GPU and pool["poolName"] not in AWAY:
            free, there = pool["availableDevices"], len(pool["devices"])
            word = f"{GPU} {'wholly' if free == there else 'partly' if free else 'nothing'} free"
            expected[word] = expected.get(word, 0) + 1
    assert counts == expected


@pytest.mark.parametrize("command", ["pools", "explain"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bar_buttons_and_tiles_have_the_same_colours(command: str, scheme: str, opens: Open) -> None:
    page = opens(_html(command), color_scheme=scheme).page
    buttons = page.evaluate("[...document.querySelectorAll('.reason')].map(b => getComputedStyle(b).borderTopColor)")
    pieces = page.evaluate("[...document.querySelectorAll('.share .piece')].map(b => getComputedStyle(b).fill)")
    assert buttons == pieces[: len(buttons)]
    for at, look in enumerate(page.evaluate("[...document.querySelectorAll('.reason')].map(b => b.classList[1])")):
        for stroke in page.evaluate(
            f"[...document.querySelectorAll('.back.{look}')].map(b => getComputedStyle(b).stroke)"
        ):
            assert stroke == buttons[at], look
    assert len(set(buttons)) == len(buttons)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900)])
@pytest.mark.parametrize("by", ["enter", "link", "tile", "address"])
def test_the_panel_of_a_node_that_is_chosen_comes_into_view(by: str, width: int, height: int, opens: Open) -> None:
    page = opens(_html("explain"), width=width, height=height).page
    settled(page)
    page.evaluate("document.querySelector('.answers').scrollTo(0, 1e6)")
    if by == "tile":
        page.locator('.tile[href="#node/worker-00042"]').click()
    elif by == "address":
        page.goto(page.url + "#node/worker-00042")
    else:
        page.fill("#filter", "worker-00042")
        if by == "enter":
            page.press("#filter", "Enter")
        else:
            page.locator(".hits a").click()
    assert settled(page).inner_text("#node .title") == "worker-00042"
    top = page.locator("#node .title").evaluate("t => t.getBoundingClientRect().top")
    assert 0 <= top < height - 100


def test_a_label_that_pods_select_by_groups_is_found_and_is_in_the_panel(opens: Open) -> None:
    page = opens(_html("explain")).page
    page.select_option(".group-by", f"label:{RACK}")
    settled(page)
    assert page.locator(".group").count() == RACKS
    page.fill("#filter", "rack-07")
    assert page.inner_text(".count").startswith(f"{NODES // RACKS} of {NODES} nodes")
    page.press("#filter", "Enter")
    assert f"{RACK}=rack-07" in settled(page).inner_text("#node")


def test_names_of_nodes_in_answers_are_links_and_those_of_devices_are_not(opens: Open) -> None:
    page = opens(html_of("gpu-fleet", "explain")).page
    page.locator(".pick", has_text="next-gen").click()
    links = settled(page).locator(".answer:not(.aside) a:visible").all()
    assert {each.inner_text() for each in links} == {"hopper-1", "hopper-2", "ada-1", "control-1"}
    links[1].click()
    assert settled(page).locator(".card[aria-current] .title").first.inner_text() == links[1].inner_text()
    scattered = Cluster.load(ROOT / "fixtures" / "scattered")  # a device gpu-1 on a node gpu-1
    page = opens(scattered.page(scattered.explain("pod/train", moves=3))).page
    assert "gpu-1 to gpu-2" in page.inner_text(".answer:not(.aside)")
    assert page.locator(".answer:not(.aside) a").count() == 0


def test_a_running_pod_has_its_devices_and_those_that_share_them_are_named(opens: Open) -> None:
    shared = claim("both", request(), status=used("a", "gpu-0", "one", "two"))
    pods = [placed(name, "a", claims={"g": "both"}) for name in ("one", "two")]
    new = bare_pod("new", templates={"g": "one"})
    cluster = Cluster.of([*gpus("a"), shared, *pods, template("one", request()), new])
    page = opens(cluster.page(cluster.schedule())).page
    page.locator(".pick", has_text="pod/default/one").click()
    assert settled(page).locator(".dev.gets .s").all_inner_texts() == ["in use"]
    assert page.locator(".dev.gets .d").inner_text() == "by claim default/both (pods one and two)"
    page.locator(".pick", has_text="pod/default/new").click()
    assert settled(page).locator(".dev.gets .s").all_inner_texts() == ["gets"]
    assert page.locator(".dev.gets .n").inner_text() == "gpu-1"
