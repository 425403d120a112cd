"""Manifests broken at random: in their text, or in their values. The same seed gives the same one."""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import yaml

from .cases import CASES
from .judging import as_yaml

FIXTURES = Path(__file__).parents[2] / "fixtures"
PIECES = (
    *"{}[]:,-#&*!|>'\"%@`\n\t \\\0",
    *(
        "---\n",
        "- ",
        "  ",
        ": ",
        "<<: *a",
        "&a ",
        "*a",
        "!!python/object:os.system ",
        "? ",
        "...\n",
        "\ufeff",
        "\u2028",
        "é",
    ),
    *("null", "true", "1e999", "0x1F", "1:30", ".inf", "9" * 30, "-1", "''", "{}", "[]", "kind: List\nitems:\n"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**63, 2**70, 1.5, float("inf"), float("nan"), "", "a", "A B/C", "\ud800", "x" * 5000),
    *([], {}, [None], {"": None}, [[]], {"a": {"a": {"a": {}}}}, "1Gi", "-1Gi", "1e100", "999E", "0.0000000001"),
    *("((((", "device.driver ==", "device.attributes['a'].b.c", "a".join("()" * 200), "[1,2].all(x, x > 0)"),
)


def samples() -> list[str]:
    """Texts to break: the fixtures, and what breaks each rule."""
    fixtures = [path.read_text(encoding="utf-8") for path in sorted(FIXTURES.glob("*/*.yaml"))]
    return [*fixtures, *(as_yaml(case.bad) for case in CASES), *(as_yaml(case.good) for case in CASES)]


def mutated(seed: int, texts: list[str]) -> str:
    """One of the texts, broken."""
    random = Random(seed)
    text = random.choice(texts)
    if random.random() < 0.5:
        return in_text(random, text, texts)
    documents = [copy.deepcopy(one) for one in yaml.safe_load_all(text) if isinstance(one, dict)]
    for _ in range(random.randint(1, 4)):
        _value(random, documents)
    if random.random() < 0.3:
        made = json.dumps(documents, indent=random.choice([None, 1]))
        return in_text(random, made, texts) if random.random() < 0.5 else made
    return as_yaml(documents).encode(errors="replace").decode()


def in_text(random: Random, text: str, texts: list[str]) -> str:
    """The text, broken in up to six places; some of it comes from other texts."""
    for _ in range(random.randint(1, 6)):
        at = random.randint(0, len(text))
        match random.randint(0, 4):
            case 0:
                text = text[:at] + random.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + random.randint(1, 30) :]
            case 2:
                end = min(len(text), at + random.randint(1, 400))
                text = text[:end] + text[at:end] * random.randint(1, 3) + text[end:]
            case 3:
                other = random.choice(texts)
                start = random.randint(0, len(other))
                text = text[:at] + other[start : start + random.randint(1, 400)] + text[at:]
            case _:
                lines = text.splitlines(keepends=True)
                random.shuffle(lines[: random.randint(1, 10)])
                number = random.randrange(len(lines)) if lines else 0
                text = "".join([*lines[number:], *lines[:number]])
    return text


def _value(random: Random, documents: list[Any]) -> None:
    """Replaces, removes, adds or repeats something at a random place."""
    places = [(holder, key) for document in documents for holder, key in _places(document)]
    if not places:
        return
    holder, key = random.choice(places)
    match random.randint(0, 3):
        case 0:
            holder[key] = copy.deepcopy(random.choice(VALUES))
        case 1:
            del holder[key]
        case 2:
            other, of = random.choice(places)
            holder[key] = copy.deepcopy(other[of]) if _has(other, of) else None
        case _:
            if isinstance(holder, list):
                holder.extend([holder[key]] * random.randint(1, 40))
            else:
                holder[random.choice(["name", "spec", "extra", "a/b", "count"])] = copy.deepcopy(random.choice(VALUES))


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [place for key in keys for place in ((value, key), *_places(value[key]))]
