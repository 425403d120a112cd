"""What is broken at random: fixtures, inputs of rules, recorded clusters; and the command lines they are given to."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import NamedTuple

from tests.cli import hostile
from tests.conformance.recorded import HERE, cases
from tests.validation import mutations
from tests.validation.cases import CASES

from .objects import Plain, broken

CORPORA = ("quirks", "cases", "capacity", "nodealloc", "schedule", "volume", "gang", "gang-quirks")
LARGEST = 30_000
"""Characters of a recorded cluster: most of what can go wrong goes wrong in small ones, and quickly."""

TABLES = ("table", "wide", "json", "yaml", "name", "jsonpath={..name}{..message}")
TEXTS = ("text", "markdown", "json", "yaml", "jsonpath={..name}{..message}")
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]] = {
    "allocate": (
        TABLES,
        (
            (),
            ("--together",),
            ("--explain",),
            ("--infer-nodes",),
            ("--allow-empty", "-n", "default"),
            ("--require-fit",),
        ),
    ),
    "explain": (TEXTS, ((), ("--together",), ("--infer-nodes",), ("--moves", "1"), ("--moves", "2", "--infer-nodes"))),
    "pools": (TABLES, ((), ("--infer-nodes",))),
    "schedule": (TABLES, ((), ("--trace",), ("--explain",), ("--infer-nodes",), ("--order", "name"), ("--settle",))),
    "capacity": (TABLES, (("--limit", "3"), ("--limit", "2", "--infer-nodes"), ("--limit", "4", "--mix"))),
    "grow": (TABLES, (("--like", "node-0", "--limit", "3"), ("--like", "node-0", "--like", "node-1", "--limit", "2"))),
    "place": ((*TABLES, "patches"), ((), ("--most",), ("--infer-nodes",))),
    "diff": (
        (*TABLES, "markdown"),
        (("--to-quirks", "fixed"), ("--to-kubernetes-version", "1.37", "--together"), ("--drain", "each")),
    ),
    "validate": ((*TABLES, "text", "short"), ((), ("--quirks", "fixed"), ("--ignore-unknown",))),
}
"""For each command its formats, and options of which one set is taken."""
BOUNDED = ("allocate", "explain", "schedule", "capacity", "grow", "place", "diff")
REPORTING = ("allocate", "explain", "schedule", "validate")
PAGE = "html=/dev/null"
REPORTS = (PAGE, "junit=/dev/null", "sarif=/dev/null", "gitlab=/dev/null")
"""A page can be asked of every command, reports for CI of REPORTING; their text is looked at elsewhere."""
WHAT_IF = (("--cordon", "node-0"), ("--drain", "node-1"), ("--without", "node/node-0"), ("--add-nodes", "2=node-0"))
VERSIONS = ("1.34", "1.35", "1.36", "1.36.2", "1.37")


AS_TEXT, HOSTILE, CHANGED, REPORTED = 0.25, 0.2, 0.2, 0.1
"""How many are broken in their text, not their values; have hostile text; are asked with what-if options, for a page
or a report."""


class Run(NamedTuple):
    """A command line, and what it reads from standard input."""

    arguments: list[str]
    text: str


@cache
def clusters() -> list[list[Plain]]:
    """What is broken: recorded clusters, and inputs of rules."""
    recorded = [
        case["objects"] + ([case["template"]] if "template" in case else [])
        for corpus in CORPORA
        if (HERE / f"{corpus}.jsonl.gz").exists()
        for case in cases(corpus)
    ]
    found = [*recorded, *(documents for case in CASES for documents in (case.bad, case.good))]
    return [objects for objects in found if len(json.dumps(objects)) < LARGEST]


@cache
def texts() -> list[str]:
    """What is broken as text: manifests as YAML and JSON."""
    samples = [text for text in mutations.samples() if len(text) < LARGEST // 10]
    return [*samples, *(json.dumps(objects) for objects in clusters()[::4])]


def run_of(seed: int) -> Run:
    """The run of a seed, always the same."""
    chance = Random(seed)
    if chance.random() < AS_TEXT:
        text = mutations.in_text(chance, chance.choice(texts()), texts())
    else:
        text = json.dumps(broken(chance, chance.choice(clusters())))
    if chance.random() < HOSTILE:
        text = _with_hostile_text(chance, text)
    command = chance.choice(list(COMMANDS))
    formats, options = COMMANDS[command]
    arguments = [command, "-", "-o", chance.choice(formats), *chance.choice(options)]
    if command in BOUNDED:
        arguments += ["--max-steps", "2000"]
    if command != "validate" and chance.random() < CHANGED:
        arguments += chance.choice(WHAT_IF)
    if chance.random() < REPORTED:
        arguments += ["--report", chance.choice(REPORTS if command in REPORTING else (PAGE,))]
    if chance.random() < 0.5:
        arguments += ["--kubernetes-version", chance.choice(VERSIONS)]
    return Run(arguments, text)


def _with_hostile_text(chance: Random, text: str) -> str:
    """The text with some of its quoted strings, or words, exchanged for one that gives orders to terminals."""
    marks = [at for at, char in enumerate(text) if char == '"']
    if len(marks) < 4:
        return text
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(marks) - 1)
        text = text[: marks[at] + 1] + json.dumps(hostile.TEXT)[1:-1] + text[marks[at] + 1 :]
        marks = [place for place, char in enumerate(text) if char == '"']
    return text
