"""The whole text of explanations, situation by situation: read a difference as someone who has never seen the tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dra_plan.questions import schema as schemas
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.questions.explain.text import parse
from dra_plan.text.columns import Screen

from .asking import explain
from .situations import ASKED, SITUATIONS

GOLDEN = Path(__file__).parent / "golden"

IN_MARKDOWN = (
    "selector-one-clause-of-three-decides",
    "selector-fails-on-one-device",
    "match-attribute-never-met",
    "fits-with-the-second-alternative",
    "many-different-stories",
    "template-missing",
)
IN_JSON = ("selector-misspelt-attribute", "two-claims-of-a-pod-and-another-claim", "fits-with-the-second-alternative")
ON_SCREENS = ("taint-and-in-use-together", "selector-fails-on-one-device", "pool-incomplete", "many-nodes-alike")


def document(name: str) -> ExplanationDocument:
    return explain(SITUATIONS[name](), **{"together": False, **ASKED[name]}).document


@pytest.mark.parametrize("name", SITUATIONS)
def test_text(name: str, golden: Any) -> None:
    golden(GOLDEN / f"{name}.txt", parse("text")(document(name), None))


@pytest.mark.parametrize("name", IN_MARKDOWN)
def test_markdown(name: str, golden: Any) -> None:
    golden(GOLDEN / f"{name}.md", parse("markdown")(document(name), None))


@pytest.mark.parametrize("name", IN_JSON)
def test_json(name: str, golden: Any) -> None:
    golden(GOLDEN / f"{name}.json", parse("json")(document(name), None))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SITUATIONS)
def test_documents_keep_to_their_schema(name: str) -> None:
    told = json.loads(parse("json")(document(name), None))
    jsonschema.Draft202012Validator(schemas.load("Explanation")).validate(told)


@pytest.mark.parametrize("name", ON_SCREENS)
def test_on_a_screen(name: str, golden: Any) -> None:
    golden(GOLDEN / f"{name}.80.txt", parse("text")(document(name), Screen(80, colour=False)))


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_screen_wraps_and_loses_nothing(name: str, width: int) -> None:
    """Only a single word, or an expression to be copied, is longer than the screen is wide."""
    plain = parse("text")(document(name), None)
    shown = parse("text")(document(name), Screen(width, colour=False))
    assert shown.split() == plain.split()
    for line in shown.splitlines():
        assert len(line) <= width or len(line.split()) == 1 or line.startswith("      ")


@pytest.mark.parametrize("name", SITUATIONS)
def test_no_control_character_gets_through(name: str) -> None:
    for form in ("text", "markdown"):
        shown = parse(form)(document(name), None)
        assert all(char.isprintable() or char == "\n" for char in shown)


def test_colours_are_the_only_difference_on_a_colour_screen() -> None:
    told = document("taint-and-in-use-together")
    coloured = parse("text")(told, Screen(200, colour=True))
    assert coloured.count("\x1b[1m") == coloured.count("\x1b[0m") > 2
    assert coloured.replace("\x1b[1m", "").replace("\x1b[0m", "") == parse("text")(told, Screen(200, colour=False))


def test_there_are_situations_enough() -> None:
    assert len(SITUATIONS) >= 30
    assert {path.stem for path in GOLDEN.glob("*.txt")} >= set(SITUATIONS)
    assert {path.name.split(".")[0] for path in GOLDEN.iterdir()} == set(SITUATIONS)
