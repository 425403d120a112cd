"""5,000 nodes with 60,000 devices: a small file, on one screen. `benchmarks/page.py` measures how long it takes."""

from typing import Any

import pytest

from benchmarks.fleet import fleet
from dra_plan import Cluster
from tests.browser.conftest import Open, settled
from tests.build import bare_pod, template


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster.of(fleet(5000)["items"])


def _pods(wanted: Any) -> list[dict[str, Any]]:
    """100 pods that ask for what the claim asks for, and one that asks for too much."""
    made = []
    devices = wanted["devices"]
    [request, *others] = devices["requests"]
    rest = {key: value for key, value in devices.items() if key != "requests"}
    for name, count, pods in (("fits", request["exactly"]["count"], 100), ("never", 99, 1)):
        asked = {**request, "exactly": {**request["exactly"], "count": count}}
        made.append(template(name, asked, *others, **rest))
        made += [bare_pod(f"{name}-{at}", templates={"devices": name}) for at in range(pods)]
    return made


def _asked(command: str, cluster: Cluster) -> tuple[Cluster, Any]:
    """The cluster of the page, and the answer; pods are put through the scheduler on one that has some."""
    if command == "schedule":
        items = fleet(5000)["items"]
        wanted = next(i["spec"] for i in items if i["kind"] == "ResourceClaim" and "status" not in i)
        cluster = Cluster.of([*items, *_pods(wanted)])
        return cluster, cluster.schedule(explain=True)
    return cluster, getattr(cluster, command)()


@pytest.mark.parametrize(("command", "most"), [("explain", 1.0), ("pools", 3.0), ("schedule", 4.0)])
def test_a_fleet_opens(command: str, most: float, cluster: Cluster, opens: Open) -> None:
    cluster, answer = _asked(command, cluster)
    html = cluster.page(answer)
    assert len(html.encode()) / 1e6 < most
    opened = opens(html)
    page = settled(opened.page)
    assert page.locator("*").count() < 10_000
    assert page.locator(".tile").count() == 5000
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    if page.locator("#nothing").count():
        page.locator("#nothing").click()
        settled(page)
    if page.locator(".pick").count():
        page.locator(".pick").last.click()
        settled(page)
    if command == "explain":
        page.locator(".pick").first.click()
        assert settled(page).locator(".dev.gets").count()
    assert opened.said == []
