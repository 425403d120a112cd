"""5,000 nodes with 60,000 devices: a file of less than 3 MB on one screen, which opens in less than three seconds.

What is asserted is processor time; `make browser T="tests/browser/test_fleet.py -s"` prints what a clock says, too.
"""

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from benchmarks.fleet import fleet
from dra_plan import Cluster
from tests.browser.conftest import Open, settled
from tests.build import bare_pod, template

PICK = """async (at) => {
  const before = performance.now();
  document.querySelectorAll('.pick')[at].click();
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - before;
}"""
"""Picks, and says how long it takes until that is painted."""


@dataclass
class Figures:
    """What is measured of a page: megabytes and seconds."""

    command: str
    size: float
    painted: float
    ready: float
    used: float
    picked: float
    elements: int

    def __str__(self) -> str:
        return (
            f"{self.command}: {self.size:.1f} MB, {self.elements:,} elements, first paint {self.painted:.2f} s, "
            f"ready {self.ready:.2f} s, {self.used:.2f} s of processor time, a pick {self.picked:.3f} s"
        )


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
    size = len(html.encode()) / 1e6
    assert size < most
    opened = opens(html)
    page = opened.page
    clock = Clock(page)
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    settled(page)  # a page that is ready need not be painted yet
    used = clock.seconds()
    assert 0 < used < 3
    timing = page.evaluate(
        "[performance.getEntriesByType('paint')[0].startTime, performance.timing.loadEventEnd"
        " - performance.timing.navigationStart]"
    )
    elements = page.locator("*").count()
    assert elements < 10_000
    assert page.locator(".tile").count() == 5000
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    if page.locator("#nothing").count():
        page.locator("#nothing").click()
        settled(page)
    before = clock.seconds()
    if page.locator(".pick").count():
        page.evaluate(PICK, page.locator(".pick").count() - 1)
    picked = clock.seconds() - before
    assert picked < 1
    if command == "explain":
        page.locator(".pick").first.click()
        assert settled(page).locator(".dev.gets").count()
    assert opened.said == []
    figures = Figures(command, size, timing[0] / 1000, timing[1] / 1000, used, picked, elements)
    sys.stderr.write(f"\n{figures}\n")


class Clock:
    """What the page's main thread uses, whatever else the machine does."""

    def __init__(self, page: Any) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds(self) -> float:
        """Since the page was opened."""
        found = {each["name"]: each["value"] for each in self._session.send("Performance.getMetrics")["metrics"]}
        return float(found["TaskDuration"])
