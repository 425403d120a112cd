"""5,000 nodes with 60,000 devices: a file of less than 15 MB, which opens in less than three seconds.

What is asserted is processor time; `make browser T="tests/browser/test_fleet.py -s"` prints what a clock says, too.
"""

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from benchmarks.fleet import fleet
from dra_plan import Cluster
from tests.browser.conftest import Open
from tests.build import bare_pod, template

SCROLL = """async (nothing) => {
  const frames = [];
  let before = await new Promise(requestAnimationFrame);
  for (let at = 0; at < 120; at += 1) {
    window.scrollBy(0, 150);
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return frames.sort((one, other) => one - other);
}"""
"""Scrolls through 18,000 pixels, a step each frame, and says how long each frame took."""

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
    """What is measured of a page: megabytes, seconds, and milliseconds of frames."""

    command: str
    size: float
    painted: float
    ready: float
    picked: float
    usual_frame: float
    longest_frame: float
    elements: int

    def __str__(self) -> str:
        return (
            f"{self.command}: {self.size:.1f} MB, {self.elements:,} elements, first paint {self.painted:.2f} s, "
            f"ready {self.ready:.2f} s, a pick {self.picked:.2f} s, frames while scrolling {self.usual_frame:.0f} ms, "
            f"at most {self.longest_frame:.0f} ms"
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


@pytest.mark.parametrize("command", ["explain", "pools", "schedule"])
def test_a_fleet_opens(command: str, cluster: Cluster, opens: Open) -> None:
    cluster, answer = _asked(command, cluster)
    html = cluster.page(answer)
    assert len(html.encode()) < 15_000_000
    opened = opens(html)
    page = opened.page
    assert _processor_seconds(page) < 3
    timing = page.evaluate(
        "[performance.getEntriesByType('paint')[0].startTime, performance.timing.loadEventEnd"
        " - performance.timing.navigationStart]"
    )
    elements = page.locator("*").count()
    assert elements < 10_000
    before = _processor_seconds(page)
    picked = page.evaluate(PICK, page.locator(".pick").count() - 1) if page.locator(".pick").count() else 0
    assert _processor_seconds(page) - before < 1
    if command == "explain":
        page.locator(".pick").first.click()
        assert page.locator(".dev.gets").count()
    page.locator("details.others > summary").first.click()
    before = _processor_seconds(page)
    frames = page.evaluate(SCROLL, None)
    assert _processor_seconds(page) - before < 2
    assert opened.said == []
    figures = Figures(
        command=command,
        size=len(html.encode()) / 1e6,
        painted=timing[0] / 1000,
        ready=timing[1] / 1000,
        picked=picked / 1000,
        usual_frame=frames[len(frames) // 2],
        longest_frame=frames[-1],
        elements=elements,
    )
    sys.stderr.write(f"\n{figures}\n")


def _processor_seconds(page: Any) -> float:
    """What the page's main thread has used, whatever else the machine does."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"])
