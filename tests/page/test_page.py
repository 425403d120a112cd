"""The file: what may run in it, what it loads, and that all of the document is in it."""

import base64
import hashlib
import json
import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from dra_plan.page.page import script
from tests.build import claim, device, device_class, node, request, slice_
from tests.page.hostile import NAMES
from tests.page.reading import FIXTURES, PAGES, ROOT, answer, html_of, read, whole

EACH = [name if name in ("gpu-fleet", "mig") else pytest.param(name, marks=pytest.mark.long) for name in FIXTURES]
"""All fixtures; two of them in every run."""


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("command", PAGES)
def test_policy_lets_nothing_but_our_own_script_and_styles(command: str) -> None:
    page = read(html_of("quickstart", command))
    rules = dict(part.split(" ", 1) for part in page.policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == _hash(page.raw["script:"])
    assert rules["style-src"] == _hash(page.raw["style"])
    assert {"base-uri", "form-action", "require-trusted-types-for"} <= rules.keys()


@pytest.mark.parametrize("command", PAGES)
def test_nothing_is_loaded_and_nothing_runs_in_attributes(command: str) -> None:
    for tag, attributes in read(html_of("gpu-fleet", command)).elements:
        assert tag not in ("iframe", "object", "embed", "base", "form", "img")
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in ("style", "srcset", "src")
            if name == "href":
                assert re.match(r"#|data:,$", value or "")


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("fixture", EACH)
def test_the_document_is_in_the_page_as_data_and_as_text(fixture: str, command: str) -> None:
    page = read(html_of(fixture, command))
    cluster = Cluster.load(ROOT / "fixtures" / fixture)
    document = answer(command, cluster).to_dict()
    assert page.data["document"] == document
    shown = next(text for text in page.texts if text.startswith('{\n  "apiVersion"'))
    assert json.loads(shown) == document


def test_data_has_sorted_keys_and_pages_are_the_same_on_every_run() -> None:
    raw = read(html_of("mig", "explain")).raw["script:application/json"]
    assert raw == json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":"), ensure_ascii=False).replace(
        "<", "\\u003c"
    ).replace(">", "\\u003e").replace("&", "\\u0026")
    cluster = Cluster.load(ROOT / "fixtures" / "mig")
    assert cluster.page(cluster.explain()) == html_of("mig", "explain")


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("fixture", EACH)
def test_without_a_script_the_page_says_what_the_command_prints(fixture: str, command: str) -> None:
    cluster = Cluster.load(ROOT / "fixtures" / fixture)
    said = read(html_of(fixture, command)).text
    for name in sorted(set(re.findall(r'"device": "([^"]+)"', json.dumps(answer(command, cluster).to_dict())))):
        assert name in said
    if command == "explain":
        for line in whole(answer(command, cluster)).splitlines():
            assert " ".join(line.strip().removeprefix("- ").split())[:60] in said


def test_the_modules_of_the_script_share_one_scope_without_two_things_of_one_name() -> None:
    found = re.findall(r"^(?:async )?(?:const|let|function) (\w+)", script(), re.MULTILINE)
    assert len(found) > 30
    assert sorted(set(found)) == sorted(found)


def test_headings_go_down_one_at_a_time() -> None:
    for command in PAGES:
        levels = [
            int(tag[1]) for tag, _ in read(html_of("gpu-fleet", command)).elements if re.fullmatch(r"h[1-6]", tag)
        ]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_ids_are_unique_and_labels_are_there() -> None:
    for command in PAGES:
        elements = read(html_of("gpu-fleet", command)).elements
        ids = [a["id"] for _, a in elements if "id" in a]
        assert len(ids) == len(set(ids))
        for _, attributes in elements:
            for wanted in (attributes.get("aria-labelledby") or "").split():
                assert wanted in ids


def _hostile_cluster(name: str) -> list[dict[str, Any]]:
    attributes = {"model": name, "example.com/root": name}
    devices = [device(each, attributes=attributes) for each in (name, f"{name}2")]
    constraints = [{"matchAttribute": "example.com/root"}]
    return [
        node(name, metadata={"labels": {"a": name}}),
        slice_(name, *devices, driver=name, name=name),
        device_class(name, f"device.driver != {json.dumps('x' + name)}"),
        claim(name, request(name, of=name, count=3), namespace=name, constraints=constraints),
    ]


@cache
def _ours() -> list[tuple[str, dict[str, str | None]]]:
    """Every element of pages that nobody tampered with."""
    return [element for command in PAGES for element in read(html_of("gpu-fleet", command)).elements]


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_hostile_names_are_text_in_every_place(number: int) -> None:
    cluster = Cluster.of(_hostile_cluster(NAMES[number]))
    html = cluster.page(cluster.explain())
    page = read(html)
    ours = _ours()
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in ours}
    assert {name for _, found in page.elements for name in found} <= {name for _, found in ours for name in found}
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert page.raw["script:"] == read(html_of("gpu-fleet", "explain")).raw["script:"]
    assert page.data["document"] == json.loads(json.dumps(cluster.explain().to_dict()))
    assert not [char for char in html if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char != "\n"]


def test_only_answers_have_pages() -> None:
    cluster = Cluster.load(ROOT / "fixtures" / "quickstart")
    with pytest.raises(UsageError):
        cluster.page("explain")  # type: ignore[arg-type]
