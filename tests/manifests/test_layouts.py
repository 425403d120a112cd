"""Documents of one layout are read as each would be by itself: values, lines, and what is no document."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_plan.manifests.yaml_builder import Builder, YamlError
from dra_plan.manifests.yaml_reader import MAX_LAYOUTS, Layouts, read_documents, split
from tests.limits import at_most

FIXTURES = Path(__file__).parents[2] / "fixtures"
WORDS = (
    *("a", "gpu-1", "x/y.z", "A_b", "3", "0", "17", "017", "1e3", "0x1F", "1_000", "1.5", "-2", "+3", ".5", "1.2.3"),
    *("80Gi", "80E", "12m", "2026-01-01", "91e-4", "9-1-1", "0b1", "true", "yes", "n", "off", "null", "~", "Null", ""),
    *('"3"', '"gpu"', '"true"', '""', '"a b"', "'3'", "'a'", '"\\n"', "a b", "3 b", "b 3", "a,b", "1,2", "a#b", "a #b"),
    *("a: b", "a:b", "- a", "{a}", "{a: 3}", '{"a": 3}', "[a, 3]", '["a","b"]', "&a b", "*a", "!!str 3", "!!int a"),
    *("|\n   a: 3\n   3", ">-\n   a\n   b", "|\n   3", '"x\n   : 3"', "a\n   b", "? a", "<<", "%", "\ue000", "é"),
    "a" * 300,
)  # fmt: skip
SHAPES = (
    "a: {}\nb: {}\n",
    "{}: 1\nb: {}\n",
    "{}: a\n{}: b\n",
    "- {}\n- {}\n",
    "a:\n  - {}\n  - b: {}\n    c: {}\n",
    "[{}, {}]\n",
    "{{a: {}, b: {}}}\n",
    "{{{}, {}: 1}}\n",
    "{} {}: {}\n",
    "a: |\n  {}\n  b: {}\n",
    'a: "{} b {}"\n',
    "a: '{}'\n",
    "# {}\na: {}\n",
    "x: &k {}\ny: *k\n",
    "b: &k {{v: {}}}\nc: {{<<: *k, w: {}}}\n",
    "? {}\n: {}\n",
    "kind: {}\nitems:\n- metadata: {{name: {}}}\n  n: {}\n- {{name: {}}}\n",
    "{}\n",
    "a: {}\n...\nb: {}\n",
)


def alone(text: str) -> Iterator[tuple[int, int, Any, str, list[int]]]:
    """What the reader makes of it without layouts."""
    number = 0
    for line, chunk in split(text):
        builder = Builder(chunk, line)
        try:
            while builder.next_document():
                number += 1
                if builder.value is not None:
                    yield number, builder.start, builder.value, "", _lines(builder.value, builder.starts)
        except YamlError as fault:
            number += 1
            yield number, line, None, f"{fault.message} {fault.line}", []


def _lines(value: Any, starts: dict[int, int]) -> list[int]:
    """The lines that are known of the maps, in the order of the maps."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [starts.get(id(value), 0)] if isinstance(value, dict) else []
    return [*own, *(line for item in inner for line in _lines(item, starts))]


def together(text: str) -> Iterator[tuple[int, int, Any, str, list[int]]]:
    for one in read_documents(text):
        told = "" if one.fault is None else f"{one.fault.message} {one.fault.line}"
        yield one.number, one.line, one.value, told, [] if one.fault else _lines(one.value, one.starts)


def agree(text: str) -> None:
    assert repr(list(together(text))) == repr(list(alone(text))), text


def hits(text: str) -> int:
    layouts = Layouts()
    return sum(layouts.read(chunk, line) is not None for line, chunk in split(text))


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_stands_for_a_word(shape: str) -> None:
    chance = random.Random(shape)
    for _ in range(60):
        few = chance.sample(WORDS, 5)
        texts = []
        for _ in range(12):
            parts = shape.split("{}")
            texts.append(parts[0] + "".join(chance.choice(few) + part for part in parts[1:]))
        agree("---\n".join(text.replace("{{", "{").replace("}}", "}") for text in texts))


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_comes_third(word: str) -> None:
    for plain in ("a", "3", '"a"', "a b"):
        for shape in SHAPES:
            documents = [shape.replace("{}", one) for one in (plain, "b" if plain == "a" else plain, word, plain)]
            agree("---\n".join(text.replace("{{", "{").replace("}}", "}") for text in documents))


def test_fixtures_in_which_words_are_exchanged() -> None:
    chance = random.Random(1)
    found = 0
    for path in sorted(FIXTURES.glob("*/*.yaml")):
        text = path.read_text(encoding="utf-8")
        words = re.findall(r"(?<=[ \"])[\w./-]+", text)
        changed = [text]
        for _ in range(3):
            exchange = {chance.choice(words): chance.choice(words) for _ in range(3)}
            changed.append(re.sub(r"(?<=[ \"])[\w./-]+", lambda m, to=exchange: to.get(m[0], m[0]), text))
        whole = "\n---\n".join([*changed, text])
        agree(whole)
        found += hits(whole)
    assert found > 100


def test_layouts_serve_from_their_second_document_on() -> None:
    document = 'kind: Pod\nmetadata: {{name: p-{0}, uid: "{0}"}}\ncount: {0}\nlabels:\n  memory: {0}Gi\n'
    text = "---\n".join(document.format(number) for number in range(10))
    assert hits(text) == 8  # the first one has no `---` before it
    values = [document.value for document in read_documents(text)]
    assert values[7] == {
        "kind": "Pod",
        "metadata": {"name": "p-7", "uid": "7"},
        "count": 7,
        "labels": {"memory": "7Gi"},
    }
    assert len({id(value["metadata"]) for value in values}) == 10
    assert [document.line for document in read_documents(text)] == [1, *range(6, 57, 6)]


def test_many_layouts_are_not_all_kept() -> None:
    text = "---\n".join(f"k-{number}: a\n" for number in range(3 * MAX_LAYOUTS)) * 2
    agree(text)
    layouts = Layouts()
    for line, chunk in split(text):
        layouts.read(chunk, line)
    assert len(layouts._met) == MAX_LAYOUTS


def test_long_and_hostile_texts_take_no_time() -> None:
    hostile = ("a " * 30_000, "1-" * 30_000, '"' * 60_000, ": 1" * 20_000, "1.1." * 15_000, "a" * 60_000, "{" * 60_000)
    with at_most(2):
        for text in hostile:
            layouts = Layouts()
            for _ in range(3):
                layouts.read(text, 1)
