"""Pages in Chromium: size, elements, first paint, and what the main thread does until a pick or a search is painted.

    python benchmarks/page.py [FILE...]    pages of fleets of 1,000 and 5,000 nodes, or pages that were written before

Needs what `make browser` installs. A pick is a click on a row of the list, or on a tile if there is no list; from the
click to the commit of the next picture the processor time of all tasks of the main thread is added up: script, styles,
layout and paint, whatever else the machine does. The first paint is by the clock.
"""

import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.fleet import fleet
from dra_plan import Cluster

RUNS = 5
DRAWN = """() => {
  for (const name of ["hashchange", "input"]) addEventListener(name, () => {
    performance.mark("drawn");
    requestAnimationFrame(() => setTimeout(() => document.documentElement.setAttribute("data-painted", "")));
  });
}"""
"""Marks when the page has drawn, and when that is painted."""


def written(folder: Path) -> Iterator[Path]:
    """The pages of two fleets: where a claim fits, what there is, and a hundred pods put through the scheduler."""
    for nodes in (1000, 5000):
        items = fleet(nodes)["items"]
        [claim] = [each for each in items if each["kind"] == "ResourceClaim" and "status" not in each]
        cluster, full = Cluster.of(items), Cluster.of([*items, *pods(claim["spec"])])
        answers = {"explain": (cluster, cluster.explain()), "pools": (cluster, cluster.pools())}
        for name, (of, answer) in (answers | {"schedule": (full, full.schedule(explain=True))}).items():
            file = folder / f"{name}-{nodes}.html"
            file.write_text(of.page(answer), encoding="utf-8")
            yield file


def pods(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A hundred pods with a claim like this each."""
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate"}
    yield {**kind, "metadata": {"name": "devices", "namespace": "default"}, "spec": {"spec": spec}}
    claims = [{"name": "devices", "resourceClaimTemplateName": "devices"}]
    containers = [{"name": "main", "image": "busybox", "resources": {"claims": [{"name": "devices"}]}}]
    for at in range(100):
        metadata = {"name": f"pod-{at}", "namespace": "default", "uid": f"pod-{at}"}
        own = {"containers": containers, "resourceClaims": claims}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": own}


class Trace:
    """What the browser does while something is done in it."""

    CATEGORIES = ("devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing", "toplevel")

    def __init__(self, page: Any) -> None:
        self._page, self._session = page, page.context.new_cdp_session(page)
        self._events: list[dict[str, Any]] = []
        self._session.on("Tracing.dataCollected", lambda part: self._events.extend(part["value"]))

    def milliseconds(self, act: Any, kind: str) -> float:
        """Processor time of the main thread from the event that is acted to the commit after it has drawn."""
        self._events.clear()
        config = {"includedCategories": list(self.CATEGORIES)}
        self._session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
        self._page.evaluate("document.documentElement.removeAttribute('data-painted')")
        act()
        self._page.wait_for_selector("[data-painted]", state="attached")
        self._page.wait_for_timeout(100)
        done: list[Any] = []
        self._session.once("Tracing.tracingComplete", done.append)
        self._session.send("Tracing.end")
        while not done:
            self._page.wait_for_timeout(10)
        return self._used(kind)

    def _used(self, kind: str) -> float:
        events = sorted(self._events, key=lambda each: int(each.get("ts", 0)))
        begins = [each for each in events if each["name"] == "EventDispatch" and each["args"]["data"]["type"] == kind]
        thread = (begins[0]["pid"], begins[0]["tid"])
        own = [each for each in events if (each["pid"], each["tid"]) == thread]
        drawn = next(each["ts"] for each in own if each["name"] == "drawn")
        ends = next(each["ts"] for each in own if each["name"] == "Commit" and each["ts"] > drawn)
        used, until = 0, begins[0]["ts"]
        for task in own:
            end = task["ts"] + task.get("dur", 0)
            if task["name"] == "RunTask" and task.get("ph") == "X" and end > until and task["ts"] <= ends:
                used, until = used + task.get("tdur", 0), end
        return used / 1000


def measured(page: Any, file: Path) -> list[str]:
    """The figures of a page."""
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
    first = page.evaluate("performance.getEntriesByType('paint')[0].startTime")
    elements, high = page.locator("*").count(), page.evaluate("document.documentElement.scrollHeight")
    page.evaluate(DRAWN)
    trace, rows = Trace(page), page.locator(".pick")
    picks = []
    for run in range(RUNS):
        if page.locator("#nothing").count():
            page.locator("#nothing").click()
        target = rows.nth(run * (rows.count() - 1) // RUNS) if rows.count() else page.locator(".tile").nth(run + 3)
        target.hover()
        page.wait_for_timeout(500)
        picks.append(trace.milliseconds(lambda: (page.mouse.down(), page.mouse.up()), "click"))
    page.locator("#filter").focus()
    searches = [trace.milliseconds(lambda letter=letter: page.keyboard.type(letter), "input") for letter in "gpu-1"]
    return [
        *(file.stem, f"{file.stat().st_size / 1e6:.1f} MB", f"{elements:,}", f"{high:,} px", f"{first / 1000:.2f} s"),
        *(f"{statistics.median(each):.0f} ms, at most {max(each):.0f}" for each in (picks, searches)),
    ]


def main(files: list[str]) -> int:
    """Measure these pages, or pages of fleets."""
    head = ["page", "file", "elements", "height", "first paint", "a pick", "a letter in Find"]
    print("|", " | ".join(head), "|\n|", " | ".join("---" for _ in head), "|", sep="")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        for file in map(Path, files) if files else written(Path(folder)):
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            print("|", " | ".join(measured(context.new_page(), file.resolve())), "|", flush=True)
            context.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
