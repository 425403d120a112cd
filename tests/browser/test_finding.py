"""What is found on a fleet: everything is listed, told, marked in the panel, and the picture stays as it is."""

from functools import cache
from typing import Any

from benchmarks.fleet import GPU, fleet
from dra_plan import Cluster
from tests.browser.conftest import Open, settled
from tests.build import bare_pod, request, template
from tests.page.clusters import busy_cluster

NODES, RACK = 200, "example.com/rack"
AWAY = [f"worker-{at:05}" for at in range(3, NODES, 10)]
TAINTED = ("worker-00042", "gpu-1")


def items_of_fleet() -> list[Any]:
    """The objects of a fleet with racks, cordoned nodes, and a tainted device that is in use."""
    items = fleet(NODES)["items"]
    for at, node in enumerate(each for each in items if each["kind"] == "Node"):
        node["metadata"]["labels"][RACK] = f"rack-{at % 40:02}"
        if node["metadata"]["name"] in AWAY:
            node["spec"] = {"unschedulable": True}
    name, device = TAINTED
    [pool] = [each["spec"] for each in items if each["metadata"]["name"] == f"{name}-{GPU}"]
    [one] = [each for each in pool["devices"] if each["name"] == device]
    one["taints"] = [{"key": "xid", "value": "79", "effect": "NoSchedule"}]
    held = {
        "namespace": "jobs",
        "name": "holder",
        "uid": "holder",
    }
    items = [each for each in items if each["metadata"]["name"] != f"{name}-{device[-1]}"]
    result = {"request": "gpu", "driver": GPU, "pool": name, "device": device}
    items.append(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": held,
            "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": GPU}}]}},
            "status": {"allocation": {"devices": {"results": [result]}}},
        }
    )
    return items


@cache
def _cluster() -> Cluster:
    return Cluster.of(items_of_fleet())


@cache
def _html() -> str:
    return _cluster().page(_cluster().pools())


def _hits(page: Any) -> list[str]:
    return [str(text) for text in page.locator(".hits li").all_inner_texts()]


def test_all_nodes_of_a_reason_or_a_search_are_listed_by_name_and_the_open_one_is_of_them(opens: Open) -> None:
    page = opens(_html()).page
    page.locator(".reason", has_text="pods away").click()
    pools = {pool["poolName"]: pool for pool in _cluster().pools().to_dict()["pools"] if pool["driver"] == GPU}
    kept = [f"{name}: cordoned, {pools[name]['availableDevices']} of {len(pools[name]['devices'])} " for name in AWAY]
    assert [hit.startswith(said) for hit, said in zip(_hits(page), kept, strict=True)] == [True] * len(AWAY)
    assert page.inner_text("#node .title") == AWAY[0]
    page.fill("#filter", "gpu-")
    assert page.inner_text(".count") == f"{len(AWAY)} of {NODES} nodes, {len(AWAY) * 8} devices"
    page.locator(".reason", has_text="pods away").click()
    page.fill("#filter", "cordoned")
    assert [hit.startswith(said) for hit, said in zip(_hits(page), kept, strict=True)] == [True] * len(AWAY)
    page.fill("#filter", f"{RACK}=rack-07")
    assert _hits(page) == [f"worker-{at:05}" for at in range(7, NODES, 40)]
    page.fill("#filter", "")
    assert _hits(page) == []


def test_tiles_stay_as_large_as_they_are_while_hits_are_listed(opens: Open) -> None:
    page = opens(_html()).page
    wide = "document.querySelector('.tile').getBoundingClientRect().width"
    before = page.evaluate(wide)
    page.fill("#filter", "worker")
    settled(page)
    assert len(_hits(page)) == NODES
    assert page.evaluate(wide) == before


def test_devices_are_found_by_their_state_their_frame_and_a_taint_also_while_they_are_in_use(opens: Open) -> None:
    page = opens(_html()).page
    pools = _cluster().pools().to_dict()["pools"]
    free = [device for pool in pools for device in pool["devices"] if device["state"] == "Available"]
    page.fill("#filter", "free")
    assert page.inner_text(".count").endswith(f", {len(free):,} devices")
    name, device = TAINTED
    for wanted in ("xid=79", "tainted"):
        page.fill("#filter", wanted)
        [hit] = _hits(page)
        assert hit.startswith(f"{device} on {name}: in use, by claim jobs/holder; tainted xid=79:NoSchedule")
    page.fill("#filter", f"{name} pci0000:00")
    assert [hit.partition(" on ")[0] for hit in _hits(page)] == ["gpu-0", "gpu-1", "nic-0"]


def test_the_attribute_that_is_found_is_told_and_its_device_marked(opens: Open) -> None:
    page = opens(_html()).page
    [pool] = [each for each in _cluster().inventory.slices if each.metadata.name == f"worker-00123-{GPU}"]
    uuid = str(pool.spec.devices[5].attributes["uuid"].string_value)
    page.fill("#filter", uuid)
    [hit] = _hits(page)
    assert hit.endswith(uuid)
    [box] = page.locator("#node .dev.found").all()
    assert box.inner_text().startswith("gpu-5")
    assert uuid in box.inner_text()


def test_arrows_go_only_to_tiles_that_are_left(opens: Open) -> None:
    page = opens(_html()).page
    page.locator(".reason", has_text="pods away").click()
    settled(page)
    page.locator(f'.tile[href="#node/{AWAY[0]}"]').focus()
    seen = set()
    for key in ("Home", *["ArrowRight"] * len(AWAY), "ArrowDown", "ArrowUp", "End"):
        page.keyboard.press(key)
        seen.add(page.evaluate("document.activeElement.hash").removeprefix("#node/"))
    assert seen == set(AWAY)


def test_groups_of_what_keeps_pods_away_come_before_the_rest_and_others_count_it(opens: Open) -> None:
    page = opens(_html()).page
    page.select_option(".group-by", "away")
    settled(page)
    assert [each.partition(",")[0] for each in page.locator(".group h3").all_inner_texts()] == [
        f"cordoned {len(AWAY)} nodes",
        f"takes pods {NODES - len(AWAY)} nodes",
    ]
    page.select_option(".group-by", f"label:{RACK}")
    settled(page)
    assert page.locator(".group h3", has_text="rack-03").inner_text().startswith("rack-03 5 nodes, 5 keep pods away, ")


def test_a_short_list_is_not_folded_on_a_phone_and_what_is_free_stands_before_the_tables(opens: Open) -> None:
    cluster = busy_cluster().add_nodes(40, like="gpu-c")
    page = opens(cluster.page(cluster.diff(cluster.drain("gpu-a"))), width=390, height=844).page
    assert 1 < page.locator(".pick:visible").count() < 9
    assert not page.locator("#choose").is_visible()
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        inside = "part => { const own = document.querySelector(part); return own.scrollWidth <= own.clientWidth; }"
        assert page.evaluate(inside, ".side-left" if width > 1000 else ".picks")
    page.set_viewport_size({"width": 390, "height": 844})
    top = "part => document.querySelector(part).getBoundingClientRect().top"
    assert page.evaluate(top, "#left") < page.evaluate(top, ".tables")
    many = [bare_pod(f"p{at}", templates={"g": "one"}) for at in range(12)]
    cluster = busy_cluster([template("one", request("r", of="any"), namespace="default"), *many])
    page = opens(cluster.page(cluster.schedule()), width=390, height=844).page
    assert not page.locator(".pick:visible").count()
    assert page.locator("#choose").is_visible()
    page.fill("#find", "p7")
    assert page.locator("#choose option").all_inner_texts()[1:] == ["pod/default/p7: Unschedulable"]


def test_links_that_name_nothing_asked_leave_what_is_picked(opens: Open) -> None:
    cluster = busy_cluster()
    page = opens(cluster.page(cluster.diff(cluster.drain("gpu-a")))).page
    page.locator(".pick").last.click()
    name = settled(page).locator(".pick[aria-current] .name").inner_text()
    page.evaluate("location.hash = 'main'")
    assert settled(page).locator(".pick[aria-current] .name").inner_text() == name


def test_the_name_of_a_device_finds_no_uuid_that_begins_alike(opens: Open) -> None:
    page = opens(_html()).page
    for wanted in ("worker-00123 gpu-5", f"{GPU}/worker-00123/gpu-5"):
        page.fill("#filter", wanted)
        assert [hit.partition(":")[0] for hit in _hits(page)] == ["gpu-5 on worker-00123"]


def test_the_picked_row_and_the_chosen_tile_come_into_view(opens: Open) -> None:
    pods = [bare_pod(f"p{at:02}", templates={"g": "one"}) for at in range(40)]
    cluster = Cluster.of([*items_of_fleet(), template("one", request("r", of=GPU), namespace="default"), *pods])
    page = opens(cluster.page(cluster.schedule())).page
    page.evaluate("hash => { location.hash = hash; }", "#pod/default/p39")
    settled(page).wait_for_selector('.pick[aria-current][href="#pod/default/p39"]')
    inside = """part => { const own = document.querySelector(part).getBoundingClientRect();
        return own.top >= 0 && own.bottom <= innerHeight; }"""
    assert page.evaluate(inside, ".pick[aria-current]")
    assert page.evaluate(inside, ".tile[aria-current]")


def test_the_nodes_of_a_group_are_listed_by_its_name_and_in_the_address(opens: Open) -> None:
    page = opens(_html()).page
    page.select_option(".group-by", f"label:{RACK}")
    page.locator(".group .list", has_text="rack-07").click()
    wanted = [f"worker-{at:05}" for at in range(7, NODES, 40)]
    assert _hits(settled(page)) == wanted
    assert page.inner_text(".count") == f"5 of {NODES} nodes"
    other = opens(_html()).page
    other.evaluate("hash => { location.hash = hash; }", page.evaluate("location.hash"))
    assert _hits(settled(other)) == wanted
    page.locator(".group .list", has_text="rack-07").click()
    assert _hits(page) == []


def test_a_link_of_an_answer_leads_to_the_node_and_back_on_a_phone(opens: Open) -> None:
    pods = [bare_pod("huge", templates={"g": "nine"})]
    cluster = Cluster.of([*items_of_fleet(), template("nine", request("r", of=GPU, count=9)), *pods])
    page = opens(cluster.page(cluster.explain("pod/huge")), width=390, height=844).page
    link = page.locator(".answers .first-answer a[href^='#node/']").first
    link.focus()
    page.keyboard.press("Enter")
    settled(page).wait_for_selector("#node .back")
    assert page.inner_text("#node .title") == link.inner_text()
    page.click("#node .back")
    inside = "link => { const own = link.getBoundingClientRect(); return own.top >= 0 && own.bottom <= innerHeight; }"
    assert link.evaluate(inside)
    assert link.evaluate("link => link === document.activeElement")
