"""Pages of all fixtures and commands: nothing goes wrong, everything is there, and what is picked is marked."""

import json
import re
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.explain.owners import WHOLE
from tests.browser.conftest import Open, settled
from tests.page.hostile import NAMES
from tests.page.reading import FIXTURES, PAGES, ROOT, answer, html_of
from tests.page.test_page import _hostile_cluster


def _document(fixture: str, command: str) -> Any:
    return answer(command, Cluster.load(ROOT / "fixtures" / fixture)).to_dict()


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("fixture", FIXTURES)
def test_a_page_opens_says_everything_and_has_no_fault(fixture: str, command: str, opens: Open) -> None:
    opened = opens(html_of(fixture, command), bypass_csp=True, reduced_motion="reduce")
    text, document = opened.text, json.dumps(_document(fixture, command))
    for word in sorted(set(re.findall(r'"(?:device|code)": "([^"]+)"', document))):
        assert word in text
    for at in range(opened.page.locator(".pick").count()):
        opened.page.locator(".pick").nth(at).click()
        assert settled(opened.page).locator(".pick").nth(at).get_attribute("aria-current") == "true"
    assert opened.axe() == []
    assert opened.said == []
    assert opened.asked == []


@pytest.mark.parametrize("command", PAGES)
def test_the_policy_stops_nothing_of_ours_and_all_else(command: str, opens: Open) -> None:
    opened = opens(html_of("mig", command))
    assert opened.said == []
    opened.page.evaluate(
        "const s = document.createElement('style'); s.textContent = 'body{display:none}'; document.head.append(s)"
    )
    assert "Content Security Policy" in opened.said[-1]
    assert opened.page.evaluate("getComputedStyle(document.body).display") != "none"


@pytest.mark.parametrize("command", ["allocate", "explain"])
@pytest.mark.parametrize("fixture", FIXTURES)
def test_the_devices_of_what_is_picked_are_marked(fixture: str, command: str, opens: Open) -> None:
    plan = _document(fixture, "allocate")
    opened = opens(html_of(fixture, command))
    for at, claim_set in enumerate(plan["claimSets"]):
        opened.page.locator(f'.pick[data-pick="{at}"]').click()
        settled(opened.page)
        gets = {
            node["name"]: sorted(
                result["device"] for claim in node["claims"] for result in claim["allocation"]["devices"]["results"]
            )
            for node in claim_set["nodes"]
            if node["name"] in claim_set["fittingNodes"]
        }
        marked = opened.page.evaluate(
            """() => [...document.querySelectorAll('.card')].map(card => [card.querySelector('.title').textContent,
            (card.querySelector('.verdict') || { textContent: '' }).textContent,
            [...card.querySelectorAll('.dev.gets .n')].map(name => name.textContent).sort()])"""
        )
        own = {title: devices for title, verdict, devices in marked if title in gets and devices}
        for title, devices in own.items():
            assert set(devices) <= set(gets[title])
        everywhere = {device for _, _, devices in marked for device in devices}
        assert everywhere or not gets
        if not gets:  # devices that would do are marked only where another rule keeps the pod away
            assert all(verdict.startswith("only the devices fit") for _, verdict, devices in marked if devices)
        for title, verdict, _ in marked:
            if title in gets:
                assert verdict.startswith("fits")
        assert opened.page.locator(".answer:not(.aside)").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1440])
@pytest.mark.parametrize(("fixture", "command"), [("gpu-fleet", "explain"), ("mig", "explain"), ("gpu-fleet", "diff")])
def test_contrasts_hold_in_both_schemes_and_nothing_is_wider_than_the_window(
    fixture: str, command: str, width: int, scheme: str, opens: Open
) -> None:
    quiet = {"reduced_motion": "reduce", "bypass_csp": True}  # colours that are on their way have other contrasts
    opened = opens(html_of(fixture, command), width=width, color_scheme=scheme, **quiet)
    assert opened.axe() == []
    opened.page.locator(".pick").first.click()  # so few stay a list on a narrow screen, too
    settled(opened.page)
    assert opened.axe() == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("command", PAGES)
def test_without_javascript_every_answer_is_there_as_text(command: str, opens: Open) -> None:
    opened = opens(html_of("gpu-fleet", command), java_script_enabled=False)
    assert opened.page.locator(".answer:visible").count() == opened.page.locator(".answer").count()
    seen = opened.page.inner_text("body")
    for claim_set in _document("gpu-fleet", command).get("claimSets", ()):
        assert claim_set["owner"]["name"] in seen
    if command == "explain":
        lines = str(answer(command, Cluster.load(ROOT / "fixtures" / "gpu-fleet"))).splitlines()
        for line in lines:
            if line.startswith(WHOLE):
                continue  # a hint about the command's options; the page shows what they would
            assert " ".join(line.split())[:50] in " ".join(opened.text.split())
        assert "selector of the request is false" in seen
    assert not opened.page.locator(".js-only:visible").count()
    assert opened.said == []


def test_everything_is_reached_with_the_keyboard(opens: Open) -> None:
    page = opens(html_of("gpu-fleet", "explain")).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert settled(page).locator(".pick").first.get_attribute("aria-current") == "true"
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"filter", "nothing", "every", "SUMMARY"} <= reached


def test_less_motion_and_paper(opens: Open) -> None:
    page = opens(html_of("gpu-fleet", "explain"), reduced_motion="reduce").page
    durations = page.evaluate("[...document.querySelectorAll('*')].map(e => getComputedStyle(e).transitionDuration)")
    assert set(durations) == {"0s"}
    page.emulate_media(media="print")
    assert page.locator(".answer:visible").count() == page.locator(".answer").count()
    assert not page.locator("button:not(.reason):visible").count()
    assert page.locator(".picked:visible").inner_text().startswith("Shown: pod/")
    assert page.locator("details > :not(summary):visible").count()
    assert not page.locator("pre.document:visible").count()
    assert page.pdf()[:5] == b"%PDF-"


def test_paper_is_light_on_a_dark_screen(opens: Open) -> None:
    page = opens(html_of("gpu-fleet", "explain"), reduced_motion="reduce", color_scheme="dark").page
    ink = "getComputedStyle(document.querySelector('h1')).color"
    assert page.evaluate(ink) == "rgb(238, 242, 246)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ink) == "rgb(23, 32, 43)"


def test_without_javascript_the_boxes_speak_as_text(opens: Open) -> None:
    page = opens(html_of("gpu-fleet", "explain"), java_script_enabled=False).page
    article = page.locator(".answer", has_text="pod/research/next-gen")
    article.locator(".boxes > summary").click()
    said = article.locator(".boxes").inner_text()
    assert "hopper-1: does not fit\n\ngpu-0: in use\ngpu-1, gpu-2 and gpu-3: selector of the request is false" in said


def test_what_differs_stands_before_the_pictures_on_a_narrow_screen(opens: Open) -> None:
    page = opens(html_of("gpu-fleet", "diff"), width=400).page
    tops = [page.locator(each).first.bounding_box()["y"] for each in (".answer", ".scene", ".scene >> nth=1")]
    assert tops == sorted(tops)
    assert page.locator(".answer >> nth=0").inner_text().count("Fewer nodes") == 1


def test_the_slider_goes_through_the_pods(opens: Open) -> None:
    page = opens(html_of("gpu-fleet", "schedule")).page
    slider, free = page.locator("#time"), page.locator(".dev.free")
    assert page.locator(".pick.bad[aria-current]").count() == 1, "it opens on the first that fails"
    slider.fill("0")
    before = free.count()
    seen = [before]
    for step in range(1, page.locator(".pick").count() + 1):
        slider.fill(str(step))
        seen.append(free.count())
        assert page.locator(".pick[aria-current]").count() == 1
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] < before
    taken = page.locator(".card", has_text="ada-1").first
    assert "by claim research/allreduce" in taken.inner_text()
    assert "0 of 2 free" in taken.inner_text()
    slider.fill("0")
    assert free.count() == before
    assert "2 of 2 free" in taken.inner_text()


@pytest.mark.parametrize("first", range(0, len(NAMES), 9))
def test_hostile_names_run_nothing(first: int, opens: Open) -> None:
    names = NAMES[first : first + 9]
    cluster = Cluster.of([each for name in names for each in _hostile_cluster(name)])
    opened = opens(cluster.page(cluster.explain()))
    for at in range(opened.page.locator(".pick").count()):
        opened.page.locator(".pick").nth(at).click()
        settled(opened.page)
    assert opened.page.evaluate("window.hacked") is None
    assert opened.page.evaluate("document.scripts.length") == 2
    assert opened.said == []
    assert opened.asked == []
    assert [name for name in names if name.isprintable() and name not in opened.text] == []
