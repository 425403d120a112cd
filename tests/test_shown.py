"""How text from elsewhere is shown."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dra_plan import shown
from dra_plan.text import structured
from dra_plan.text.jsonpath import Template
from tests.cli.hostile import TEXT, faults

hard = st.text(st.sampled_from(":#[a\\\"' \n\r\t\x1b\x7f\x85\x9b\u200b\u2028\u202e\ufeff\U000e0001é"), max_size=30)
texts = st.one_of(hard, st.text(st.characters(exclude_categories=["Cs"])), st.just(TEXT), st.just("word " * 30 + "::a"))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain: 100% of [1] # é", "plain: 100% of [1] # é"),
        ("a\n::error::b", "a\\n:\\u003aerror:\\u003ab"),
        (":::", ":\\u003a\\u003a"),
        ("##[error]###[x]##vso[y]", "\\u0023#[error]#\\u0023#[x]\\u0023#vso[y]"),
        ("\x1b[31m\x9b\u202e\u2028\x85", "\\x1b[31m\\x9b\\u202e\\u2028\\x85"),
    ],
)
def test_line(text: str, seen: str) -> None:
    assert shown.line(text) == seen


@given(texts)
def test_no_text_acts(text: str) -> None:
    seen = shown.line(text)
    assert faults(f"x{seen}") == []
    assert "\n" not in seen
    assert shown.line(seen) == seen
    assert shown.lines(f"{text}\n{text}".replace("\r", "")).split("\n") == [
        shown.line(one) for one in f"{text}\n{text}".replace("\r", "").split("\n")
    ]


@given(texts, texts)
def test_json_and_yaml_hold_the_text_and_act_on_nothing(key: str, text: str) -> None:
    document = {key: [text, {text: key}], "z": f"{text}{key}"}
    for written, read in ((structured.json(document), json.loads), (structured.yaml(document), yaml.safe_load)):
        assert read(written) == document
        assert [line for line in faults(written) if not line.strip().startswith("BROKEN")] == []
        assert "\nBROKEN" not in written


@given(texts, texts)
def test_values_of_templates(left: str, right: str) -> None:
    document = {"a": left, "b": right, "c": [right]}
    assert faults("x" + Template("{.a}{.b}{.c}{.a}{.c}").render(document)) == []
    assert faults("x" + Template("{.a} {.b} {.c}").render(document)) == []
