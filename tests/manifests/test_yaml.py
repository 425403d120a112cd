"""YAML as Kubernetes reads it: what scalars mean, merge keys, aliases, documents, lines."""

from __future__ import annotations

import pytest

from dra_plan.manifests.json_reader import of_extents, of_json
from dra_plan.manifests.places import LinedText
from dra_plan.manifests.yaml_builder import resolve
from dra_plan.manifests.yaml_reader import of_yaml, read_documents


def read(text):
    documents = list(read_documents(text))
    assert [document.fault for document in documents] == [None] * len(documents)
    return [document.value for document in documents]


TRAPS = [
    *((word, True) for word in ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE")),
    *((word, False) for word in ("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE")),
    *((word, None) for word in ("", "~", "null", "Null", "NULL")),
    *((word, word) for word in ("yEs", "tRUE", "nULL", "oN", "none", "None", "nil", "undefined")),
    ("0000:1e:00.0", "0000:1e:00.0"),
    ("0008:06:00.0", "0008:06:00.0"),
    ("00:1e.0", "00:1e.0"),
    ("1:30", "1:30"),
    ("190:20:30", "190:20:30"),
    ("190:20:30.15", "190:20:30.15"),
    ("1e3", 1000),
    ("1E3", 1000),
    ("1.5e3", 1500),
    ("1e-3", 0.001),
    ("12e03", 12000),
    ("1e400", "1e400"),
    ("1e", "1e"),
    ("0", 0),
    ("-0", 0),
    ("+12", 12),
    ("-12", -12),
    ("017", 15),
    ("-017", -15),
    ("0o17", 15),
    ("08", 8),
    ("09.5", 9.5),
    ("0x1F", 31),
    ("0X1f", 31),
    ("-0x1f", -31),
    ("0b101", 5),
    ("0b2", "0b2"),
    ("0x", "0x"),
    ("0xg", "0xg"),
    ("1_000", 1000),
    ("1_000.5", 1000.5),
    ("_1", "_1"),
    ("1.0", 1),
    ("1.", 1),
    (".5", 0.5),
    ("-.5", -0.5),
    (".", "."),
    ("...x", "...x"),
    ("1.2.3", "1.2.3"),
    ("570.86.15", "570.86.15"),
    ("80Gi", "80Gi"),
    ("1k", "1k"),
    ("2024-07-13", "2024-07-13"),
    ("2024-07-13T01:10:56Z", "2024-07-13T01:10:56Z"),
    ("2024-07-13 01:10:56", "2024-07-13 01:10:56"),
    ("9223372036854775807", 9223372036854775807),
    ("18446744073709551615", 18446744073709551615),
    ("99999999999999999999", 99999999999999999999),
    ("9" * 500, "9" * 500),
    ("=", "="),
    ("+", "+"),
    ("-", "-"),
]


@pytest.mark.parametrize(("text", "value"), TRAPS)
def test_plain_scalar(text, value):
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


@pytest.mark.parametrize("text", ["yes", "0000:1e:00.0", "1e3", "017", "null", "2024-07-13", "on", "~"])
def test_quoted_scalar_is_text(text):
    assert read(f"a: '{text}'\nb: \"{text}\"\nc: |-\n  {text}\nd: !!str {text}\n") == [dict.fromkeys("abcd", text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes: 1", {"true": 1}),
        ("n: 1", {"false": 1}),
        ("'yes': 1", {"yes": 1}),
        ("1: a", {"1": "a"}),
        ("0x10: a", {"16": "a"}),
        ("1.5: a", {"1.5": "a"}),
        ("1e3: a", {"1000": "a"}),
        ("0000:1e:00.0: a", {"0000:1e:00.0": "a"}),
        ("? a\n: b", {"a": "b"}),
        ("? |-\n  a\n: b", {"a": "b"}),
        ("{a, b: }", {"a": None, "b": None}),
        ("a: &x b\n*x : c", {"a": "b", "b": "c"}),
        ("&x a: b\nc: *x", {"a": "b", "c": "a"}),
    ],
)
def test_keys(text, value):
    assert read(text) == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b\t\n", {"a": "b"}),
        ("a:\tb\n", {"a": "b"}),
        ("- a\t\n- b\n", ["a", "b"]),
        ("a: [1]\t# x\n", {"a": [1]}),
        ("a:\n  b: 1\t# c\n", {"a": {"b": 1}}),
        ("a: {\n\tb: 1\n}\n", {"a": {"b": 1}}),
        ("a: b\r\nc: d\r\n", {"a": "b", "c": "d"}),
        ("a: |\n  x\t\n", {"a": "x\t\n"}),
    ],
)
def test_white_space(text, value):
    assert read(text) == [value]


def test_merge_keys():
    base = "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\n"
    assert read(base + "x: {<<: *base, b: 9}")[0]["x"] == {"a": 1, "b": 9}
    assert read(base + "x: {b: 9, <<: *base}")[0]["x"] == {"a": 1, "b": 9}
    assert read(base + "x: {<<: [*base, *more]}")[0]["x"] == {"a": 1, "b": 2, "c": 4}
    assert read(base + "x: {<<: {d: 5}}")[0]["x"] == {"d": 5}
    assert read("x: {'<<': 1}") == [{"x": {"<<": 1}}]


def test_aliases_give_copies():
    value = read("a: &a {b: [1]}\nc: *a\n")[0]
    value["a"]["b"].append(2)
    assert value["c"] == {"b": [1]}


def test_many_small_aliases():
    value = read("a: &a {b: 1}\nc: [" + ", ".join(["*a"] * 1000) + "]\n")[0]
    assert value["c"] == [{"b": 1}] * 1000


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("---\n---\n# c\n---\na: 1\n---\n", [{"a": 1}]),
        ("--- {a: 1}\n--- # note\nb: 2\n---\t\nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}]),
        ("%YAML 1.1\n---\na: 1\n", [{"a": 1}]),
        ("# head\n%YAML 1.1\n---\na: 1\n", [{"a": 1}]),
        ("a: 1\n...\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("a: |\n  x\n  ---\n  y\n", [{"a": "x\n---\ny\n"}]),
        ("a: ---b\n", [{"a": "---b"}]),
        ("---\r\na: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}]),
        ("null\n---\n~\n---\na: 1\n", [{"a": 1}]),
        ('---\n{\n  kind: "Pod",\n  metadata: {\n    name: "p",\n  },\n  list: [\n    1,\n  ],\n}\n',
         [{"kind": "Pod", "metadata": {"name": "p"}, "list": [1]}]),
    ],
)  # fmt: skip
def test_documents(text, values):
    assert read(text) == values


def test_a_fault_does_not_hide_other_documents():
    documents = list(read_documents("a: 1\n---\nb: [\n---\nc: 3\n"))
    assert [document.value for document in documents] == [{"a": 1}, None, {"c": 3}]
    assert [document.fault is None for document in documents] == [True, False, True]
    assert [document.number for document in documents] == [1, 2, 3]


def test_lines_of_yaml():
    text = "# c\n---\na:\n- 1\n- b: {}\n  c: [3,\n    4]\nyes: &x 1\nz:\n  <<: *x\n"
    found = of_extents(of_yaml(text, 1), LinedText(text, 10))
    assert found[()] == 12
    assert found["a",] == 12
    assert found["a", 0] == 13
    assert found["a", 1, "b"] == 14
    assert found["a", 1, "c", 1] == 16
    assert found["true",] == 17
    assert found["z", "<<"] == 19


def test_lines_of_yaml_in_the_second_document():
    text = "a: 1\n...\n---\nb: 2\n"
    assert of_extents(of_yaml(text, 2), LinedText(text, 1))["b",] == 4


def test_lines_of_json():
    text = '{\n"a": [1,\n{"b": {}, "c\\u0041":[]}, "x:{"],\n\n "d": null}'
    assert of_json(text, 5) == {
        (): 5, ("a",): 6, ("a", 0): 6, ("a", 1): 7, ("a", 1, "b"): 7, ("a", 1, "cA"): 7, ("a", 2): 7, ("d",): 9,
    }  # fmt: skip
