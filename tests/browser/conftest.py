"""Pages in a real Chromium: started once, each test with a page of its own that hears everything."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.page.reading import ROOT

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TOOLS = ROOT / "build" / "browser" / "node_modules"
AXE = TOOLS / "axe-core" / "axe.min.js"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Opened:
    """A page in the browser, and what it said and asked for."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text of the document, whether it is seen or not."""
        return str(self.page.evaluate("document.body.textContent"))

    def axe(self) -> list[str]:
        """What axe-core finds against it."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
        return [f"{each['id']}: {node['html'][:200]} {node['any'][:1]}" for each in found for node in each["nodes"][:3]]


Open = Callable[..., Opened]
FRAMES = 3
SETTLED = """async (frames) => {
  for (let at = 0; at < frames; at += 1)
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""


def settled(page: Any) -> Any:
    """The page when what was done last is followed, painted and in the address, and the links of tiles say it.

    An address is followed in a task of its own, and written after the paint: whoever reads at once may be too early.
    """
    page.evaluate(SETTLED, FRAMES)
    if page.locator(".groups").count():
        page.wait_for_selector(".groups:not([aria-busy])")
    return page


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # installed by make browser, not with everything else

    chromium = shutil.which("chromium")
    assert chromium, "make browser installs chromium"
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=FLAGS, headless=True)
        yield started
        started.close()


@pytest.fixture
def opens(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens HTML in a window; `bypass_csp` lets axe-core, which is no part of the page, run in it."""
    contexts: list[Any] = []

    def open_(html: str, *, width: int = 1440, height: int = 900, **options: Any) -> Opened:
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.on("console", lambda message: opened.said.append(message.text))
        opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
        opened.page.on("dialog", lambda dialog: (opened.said.append("dialog"), dialog.dismiss()))
        opened.page.on("request", lambda request: opened.asked.append(request.url))
        opened.page.goto(file.as_uri())
        if options.get("java_script_enabled", True):
            opened.page.wait_for_selector("html[data-ready]", state="attached")
        asked = [url for url in opened.asked if url != file.as_uri() and not url.startswith("data:,")]
        opened.asked[:] = asked
        return opened

    yield open_
    for context in contexts:
        context.close()
