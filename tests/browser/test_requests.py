"""Everything on a page is used while requests are recorded: it asks for nothing, and says nothing to the console."""

import pytest

from dra_plan import Cluster
from tests.browser.conftest import Open, Opened, settled
from tests.page.reading import PAGES, ROOT, html_of

STEPS = 60
"""Presses of the Tab key."""


def _use(opened: Opened) -> set[str]:
    """Each pick, the slider, the filter, all details, all buttons, and the keyboard; says what there was to use."""
    page, used = opened.page, set()
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for at in range(page.locator(".pick").count()):
        page.locator(".pick").nth(at).click()
        settled(page)
        used.add("pick")
    if page.locator("#time").count():
        used.add("slider")
        for step in range(int(page.get_attribute("#time", "max")) + 1):
            page.locator("#time").fill(str(step))
    if page.locator("#filter").count():
        used.add("filter")
        name = page.locator(".card .title").first.inner_text()
        for text in (name, "h100", "nothing is called so", "https://example.com/<img src=x>", ""):
            page.fill("#filter", text)
    for at in range(page.locator("summary").count()):
        page.locator("summary").nth(at).evaluate("each => { each.click(); each.click(); }")
        used.add("details")
    for at in range(40):
        if at >= page.locator("button").count():  # some come and go with what is picked
            break
        page.locator("button").nth(at).evaluate("each => { each.click(); each.click(); }")
        used.add("button")
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    for _ in range(STEPS):
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        if page.evaluate("document.activeElement.tagName") in ("A", "BUTTON", "SUMMARY"):
            page.keyboard.press("Enter")
            used.add("keyboard")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 400, "height": 800})
    settled(page)
    return used


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("fixture", ["gpu-fleet", "mig"])
def test_no_use_of_a_page_makes_a_request(fixture: str, command: str, opens: Open) -> None:
    opened = opens(html_of(fixture, command))
    used = _use(opened)
    assert opened.asked == []
    assert opened.said == []
    assert {"details", "keyboard"} <= used
    if command not in ("pools", "validate"):
        assert {"pick", "filter", "button"} <= used
    if command == "schedule":
        assert "slider" in used


def test_nor_does_that_of_moves(opens: Open) -> None:
    cluster = Cluster.load(ROOT / "fixtures" / "scattered")
    opened = opens(cluster.page(cluster.explain("pod/train", moves=3)))
    assert {"pick", "filter", "button", "details", "keyboard"} <= _use(opened)
    assert opened.asked == []
    assert opened.said == []


def test_a_request_would_be_seen(opens: Open) -> None:
    opened = opens(html_of("mig", "explain"), bypass_csp=True)
    opened.page.evaluate(
        "document.querySelector('.pick').addEventListener('click', () => { new Image().src = 'x.png'; })"
    )
    _use(opened)
    assert [url.rpartition("/")[2] for url in opened.asked][:1] == ["x.png"]
