"""5,000 nodes with 60,000 devices: a file of less than 15 MB, which opens in less than three seconds."""

from typing import Any

import pytest

from benchmarks.fleet import fleet
from dra_plan import Cluster
from tests.browser.conftest import Open


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster.of(fleet(5000)["items"])


@pytest.mark.parametrize("command", ["explain", "pools"])
def test_a_fleet_opens(command: str, cluster: Cluster, opens: Open) -> None:
    html = cluster.page(getattr(cluster, command)())
    assert len(html.encode()) < 15_000_000
    opened = opens(html)
    assert _processor_seconds(opened.page) < 3
    assert opened.page.locator("*").count() < 10_000
    if command == "explain":
        opened.page.locator(".pick").first.click()
        assert opened.page.locator(".dev.gets").count()
    opened.page.locator("details.others > summary").first.click()
    opened.page.mouse.wheel(0, 4000)
    assert _processor_seconds(opened.page) < 5
    assert opened.said == []


def _processor_seconds(page: Any) -> float:
    """What the page's main thread has used, whatever else the machine does."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"])
