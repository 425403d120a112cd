"""Where fields and the characters of their values stand, in YAML and JSON of every style."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dra_plan.manifests.paths import value_at
from dra_plan.manifests.places import Extents, Form, LinedText, of_json, positions
from dra_plan.manifests.yaml_reader import of_yaml

TEXT = """\
# a comment
top: &a
  plain: some words  # behind
  single: 'it''s'
  double: "a\\"b\\u00e9\\U0001F600"
  empty:
  lit: |
    one
      two
  fold: >-
    one
    two
list:
- first
-   key: [1, {x: 中文😀, "y": 2}]
    more: yes
other: *a
"""


def written(text: str, extents: Extents, *path: str | int) -> tuple[str, str]:
    found = extents[path]
    key = text[found.key_begin : found.key_end] if found.key_begin >= 0 else ""
    return key, text[found.begin : found.end]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_yaml(ends: str) -> None:
    text = TEXT.replace("\n", ends)
    found = of_yaml(text, 1)
    assert written(text, found, "top", "plain") == ("plain", "some words")
    assert written(text, found, "top", "single") == ("single", "'it''s'")
    assert written(text, found, "top", "empty") == ("empty", "")
    assert written(text, found, "list", 0) == ("", "first")
    assert written(text, found, "list", 1) == ("", f'key: [1, {{x: 中文😀, "y": 2}}]{ends}    more: yes')
    assert written(text, found, "list", 1, "key", 1) == ("", '{x: 中文😀, "y": 2}')
    assert written(text, found, "list", 1, "key", 1, "y") == ('"y"', "2")
    assert written(text, found, "other") == ("other", "*a")
    assert {path: extent.form for path, extent in found.items() if path[:1] == ("top",)} == {
        ("top",): Form.NESTED,
        ("top", "plain"): Form.PLAIN,
        ("top", "single"): Form.SINGLE,
        ("top", "double"): Form.DOUBLE,
        ("top", "empty"): Form.PLAIN,
        ("top", "lit"): Form.BLOCK,
        ("top", "fold"): Form.BLOCK,
    }
    assert LinedText(text, 5).place(found["list", 1, "key", 1, "y"].begin) == (19, 28)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_characters_of_scalars(ends: str) -> None:
    text = TEXT.replace("\n", ends)
    extents, value = of_yaml(text, 1), yaml.safe_load(text)
    told = {}
    for path in [("top", name) for name in ("plain", "single", "double", "lit", "fold")]:
        scalar = value_at(value, path)
        found = positions(text, extents[path], scalar)
        assert found is not None
        assert len(found) == len(scalar) + 1
        told[path[1]] = "".join(text[at] for at in found[:-1])
    assert told == {
        "plain": "some words",
        "single": "it's",
        "double": "a\\b\\\\",
        "lit": f"one{ends[0]}  two{ends[0]}",
        "fold": f"one{ends[0]}two",
    }


def test_characters_that_are_not_followed() -> None:
    text = "a: one\n\n  two\nb: >\n  one\n\n  two\nc: 'x\n\n  y'\nd: |\ne: *f\n"
    extents, value = of_yaml(text, 0), yaml.safe_load(text.replace("*f", "f"))
    assert [positions(text, extents[key,], value[key]) for key in "abcde"] == [None] * 5


def test_characters_of_folded_lines() -> None:
    text = "a: one  \n   two # c\nb: 'it''s\r\n  so'\n"
    extents, value = of_yaml(text, 0), yaml.safe_load(text)
    told = []
    for key in "ab":
        places = positions(text, extents[key,], value[key])
        assert places is not None
        told.append("".join(text[at] for at in places))
    assert told == ["one two ", "it's\rso'"]


def test_json() -> None:
    text = '{"a": 1} {"b\\u00e9": [true, {"c": "x\\n\\ud83d\\ude00\\"y"}],\n "d": {}} 3'
    found = of_json(text, 9, text.rindex(" "))
    assert written(text, found, "bé", 0) == ('"b\\u00e9"'[:0], "true")
    assert written(text, found, "bé") == ('"b\\u00e9"', '[true, {"c": "x\\n\\ud83d\\ude00\\"y"}]')
    assert written(text, found, "d") == ('"d"', "{}")
    assert written(text, found)[1] == text[9:-2]
    places = positions(text, found["bé", 1, "c"], 'x\n😀"y')
    assert places is not None
    assert "".join(text[at] for at in places) == 'x\\\\\\y"'


scalars = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=8), st.integers(), st.booleans()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc 中", max_size=3), inner, max_size=3),
)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, item in inner for one in paths(item, (*path, key)))]


@given(values)
def test_every_field_of_json_is_found(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        found = of_json(text)
        assert list(found) == paths(value)
        for path, extent in found.items():
            assert json.loads(text[extent.begin : extent.end]) == value_at(value, path)


@given(values, st.sampled_from([True, False, None]), st.sampled_from(["\n", "\r\n"]))
def test_every_field_of_yaml_is_found(value: Any, flow: bool | None, ends: str) -> None:
    text = yaml.dump(value, default_flow_style=flow, allow_unicode=True, sort_keys=False, width=1000, line_break=ends)
    found = of_yaml(text, 0)
    assert sorted(map(str, found)) == sorted(map(str, paths(value)))
    for path, extent in found.items():
        if extent.form is not Form.NESTED:
            assert yaml.safe_load(text[extent.begin : extent.end]) == value_at(value, path)
        elif path:
            assert extent.end <= found[path[:-1]].end
