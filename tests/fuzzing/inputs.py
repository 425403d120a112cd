"""What is broken at random: fixtures, inputs of rules, recorded clusters; and the command lines they are given to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from tests.cli import hostile
from tests.conformance.recorded import HERE, cases
from tests.validation import mutations
from tests.validation.cases import CASES

from .objects import Plain, broken
from .scenes import OUTSIDE, SETTINGS, as_rows, by_kind, happening, tangled, text_of

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
    "grow": (TABLES, (("--like", "{}", "--limit", "3"), ("--like", "{}", "--limit", "2", "--cost", "{}=3"))),
    "place": ((*TABLES, "patches"), ((), ("--most",), ("--infer-nodes",))),
    "diff": (
        (*TABLES, "markdown"),
        (("--to-quirks", "fixed"), ("--to-kubernetes-version", "1.37", "--together"), ("--drain", "each")),
    ),
    "validate": ((*TABLES, "text", "short"), ((), ("--quirks", "fixed"), ("--ignore-unknown",))),
    "maintain": (
        (*TABLES, "markdown"),
        (("--nodes", "{}"), ("--at-once", "2"), ("--surge", "1={}"), ("--to-kubernetes-version", "1.37")),
    ),
    "repack": (
        (*TABLES, "markdown", "script"),
        (
            ("--most", "--max-moves", "2"),
            ("--most", "--movable", "bare"),
            ("--free", "1x{model}=1"),
            ("--for", "{pod}=1"),
        ),
    ),
    "autoscale": (
        (*TABLES, "markdown"),
        (("--group", "g={},max=2"), ("--group", "g={},max=3", "--expander", "least-waste"), ()),
    ),
    "impact": ((*TABLES, "markdown"), ((), ("--to-kubernetes-version", "1.37"))),
    "replay": ((*TABLES, "csv"), ((), ("--policy", "fgd"), ("--every", "5"), ("--orders", "2"))),
}
"""For each command its formats, and options of which one set is taken."""
BOUNDED = tuple(command for command in COMMANDS if command not in ("pools", "validate"))
REPORTING = ("allocate", "explain", "schedule", "validate")
PAGE = "html=/dev/null"
REPORTS = (PAGE, "junit=/dev/null", "sarif=/dev/null", "gitlab=/dev/null")
"""A page can be asked of every command but PAGELESS, reports for CI of REPORTING; their text is looked at elsewhere."""
PAGELESS = ("replay", "autoscale")
ALONE = tuple(command for command in COMMANDS if command not in ("impact", "replay"))
"""Those that need no second file."""
MODELS = re.compile(r'"(?:productName|model|type)": {"string": "([^"\\]+)"}')
WHAT_IF = ("--cordon {}", "--drain {}", "--without node/{}", "--add-nodes 2={}")
INFERRING = ("allocate", "explain", "pools", "schedule", "capacity", "place")
NEEDS_PODS = ("schedule", "capacity", "grow", "place", "maintain", "repack")
MAY_BE_EMPTY = ("allocate", "schedule", "capacity", "grow", "place")
VERSIONS = ("1.34", "1.35", "1.36", "1.36.2", "1.37")


AS_TEXT, HOSTILE, CHANGED, REPORTED, SCENES = 0.12, 0.2, 0.2, 0.1, 0.3
"""How many are broken in their text, not their values; have hostile text; are asked with what-if options, for a page
or a report; are more than one text."""
WHOLE, TANGLED, TIMED = 0.3, 0.1, 0.1
"""Of those broken in their values: how many stay whole; have uids and owners that go in circles; are ended early."""


class Run(NamedTuple):
    """A command line, what it reads from standard input, and the folder in which it runs.

    `files` and `links` (where they lead) are by name. With `answers`, a seed, servers are asked that say anything;
    `alike` is another command line with the same answer.
    """

    arguments: list[str]
    text: str = ""
    files: Mapping[str, str] = MappingProxyType({})
    links: Mapping[str, str] = MappingProxyType({})
    answers: int | None = None
    alike: list[str] | None = None


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
    if chance.random() < SCENES:
        return chance.choice(
            (_of_kinds, _of_folder, _of_settings, _of_fix, _of_extender, _of_cluster, _of_impact, _of_events)
        )(chance)
    objects: list[Plain] = []
    if chance.random() < AS_TEXT:
        text = mutations.in_text(chance, chance.choice(texts()), texts())
    else:
        objects = _objects(chance)
        text = json.dumps(objects)
    if chance.random() < HOSTILE:
        text = _with_hostile_text(chance, text)
    return Run(_command_line(chance, "-", of=objects), text)


def _objects(chance: Random) -> list[Plain]:
    """A cluster: as it was recorded, tangled, or with some of its values broken."""
    objects, kind = chance.choice(clusters()), chance.random()
    if kind < WHOLE:
        return objects
    return tangled(chance, objects) if kind < WHOLE + TANGLED else broken(chance, objects)


def _command_line(chance: Random, *paths: str, command: str = "", of: Sequence[Plain] = ()) -> list[str]:
    """A command line for these objects: mostly one that can be answered."""
    kinds = {str(each.get("kind")) for each in of}
    nodes = _names(of, "Node")
    node = chance.choice(nodes) if nodes and chance.random() < 0.95 else "node-0"
    pod = f"pod/{chance.choice(_names(of, 'Pod') or ['pod-0'])}"
    model = chance.choice(MODELS.findall(json.dumps(of)) or ["A100"])
    fitting = [name for name in ALONE if name not in NEEDS_PODS or not of or kinds & {"Pod", "Deployment", "Job"}]
    command = command or chance.choice(fitting)
    formats, options = COMMANDS[command]
    taken = [each.format(node, pod=pod, model=model) for each in chance.choice(options)]
    arguments = [command, *paths, "-o", chance.choice(formats), *taken]
    if command in INFERRING and of and not nodes and "--infer-nodes" not in arguments:
        arguments.append("--infer-nodes")
    if command in MAY_BE_EMPTY and "--allow-empty" not in arguments and chance.random() < 0.8:
        arguments.append("--allow-empty")
    if command in BOUNDED:
        arguments += ["--max-steps", "2000"]
    if command != "validate" and chance.random() < CHANGED:
        arguments += chance.choice(WHAT_IF).format(node).split()
    if command not in PAGELESS and chance.random() < REPORTED:
        arguments += ["--report", chance.choice(REPORTS if command in REPORTING else (PAGE,))]
    if chance.random() < 0.5:
        arguments += ["--kubernetes-version", chance.choice(VERSIONS)]
    if chance.random() < TIMED:
        arguments += ["--timeout", chance.choice(("0", "0.001", "0.02", "1"))]
    return arguments


def _names(objects: Sequence[Plain], kind: str) -> list[str]:
    metadata = [each.get("metadata") for each in objects if each.get("kind") == kind]
    return [str(each.get("name")) for each in metadata if isinstance(each, dict)]


# -- more than one text ------------------------------------------------------------------------------------------------


def _of_kinds(chance: Random) -> Run:
    """The objects of each kind in a file: in which order the files are named changes nothing."""
    objects = _objects(chance)
    parts = by_kind(objects)
    files = {f"{number}.json": text_of(part) for number, part in enumerate(parts)}
    names = list(files)
    line = _command_line(
        chance, *names, command=chance.choice(("allocate", "explain", "schedule", "pools", "capacity"))
    )
    line = line[: line.index("--timeout")] if "--timeout" in line else line
    chance.shuffle(names)
    return Run(line, files=files, alike=[line[0], *names, *line[1 + len(names) :]])


def _of_folder(chance: Random) -> Run:
    """A folder with links: to files of it, out of it, to nothing, in a circle."""
    objects = _objects(chance)
    files = {f"{number}.yaml": text_of(part) for number, part in enumerate(by_kind(objects))}
    targets = (*files, f"../{OUTSIDE}", "/etc/passwd", "gone.yaml", "b.yaml", "a.yaml", ".", "..")
    links = {
        name: chance.choice(targets) for name in chance.sample(("a.yaml", "b.yaml", "c.json"), chance.randint(1, 3))
    }
    path = chance.choice((".", "./", *links))
    return Run(_command_line(chance, path, of=objects), files=files, links=links)


def _of_settings(chance: Random) -> Run:
    """Settings beside the manifests."""
    name, settings = chance.choice((".dra-plan.toml", "pyproject.toml")), chance.choice(SETTINGS)
    if name == "pyproject.toml" and chance.random() < 0.7:
        settings = f"[tool.dra-plan]\n{settings}"
    objects = _objects(chance)
    return Run(_command_line(chance, "in.json", of=objects), files={name: settings, "in.json": text_of(objects)})


def _of_fix(chance: Random) -> Run:
    """Findings of several files, some of them links, are fixed."""
    given = [chance.choice(texts()) if chance.random() < 0.5 else json.dumps(_objects(chance)) for _ in range(3)]
    files = {f"{number}.yaml": text for number, text in enumerate(given)}
    links = {"l.yaml": chance.choice(("0.yaml", f"../{OUTSIDE}"))} if chance.random() < 0.4 else {}
    return Run(["validate", ".", "--fix"], files=files, links=links)


def _of_extender(chance: Random) -> Run:
    """An extender that says anything is asked."""
    verbs = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, "preemptVerb": "preempt"}
    extender = {"urlPrefix": "http://127.0.0.1:1", "ignorable": chance.random() < 0.3, **verbs}
    extender["nodeCacheCapable"] = chance.random() < 0.5
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [extender],
    }
    objects = chance.choice(clusters())
    files = {"config.json": json.dumps(config), "in.json": text_of(objects)}
    options = ("--config", "config.json", "--allow-extenders")
    line = _command_line(chance, "in.json", *options, command="schedule", of=objects)
    return Run(line, files=files, answers=chance.randrange(2**32))


def _of_impact(chance: Random) -> Run:
    """Some objects of a cluster are applied once more, broken, or those of another cluster are."""
    objects = _objects(chance)
    applied = (
        broken(chance, chance.sample(objects, min(len(objects), 3))) if chance.random() < 0.7 else _objects(chance)
    )
    files = {"in.json": text_of(objects), "new.json": text_of(applied)}
    return Run(_command_line(chance, "-f", "new.json", "in.json", command="impact", of=objects), files=files)


def _of_events(chance: Random) -> Run:
    """What happens to a cluster: objects come, go and change, with times that may be broken; one of two as CSV."""
    objects = _objects(chance)
    staying = [each for each in objects if each.get("kind") != "Pod" or chance.random() < 0.4]
    lines = [json.dumps(event) for event in happening(chance, objects)]
    files = {"in.json": text_of(staying), "events.jsonl": "\n".join(lines)}
    if chance.random() < 0.5:
        rows = as_rows(chance, staying, "new.json")
        files = {"in.json": text_of(staying), "new.json": text_of(objects[:2]), "events.csv": rows}
    return Run(_command_line(chance, "in.json", [*files][-1], command="replay", of=objects), files=files)


def _of_cluster(chance: Random) -> Run:
    """A live cluster that says anything is asked."""
    command = chance.choice(("allocate", "explain", "schedule", "pools"))
    return Run(_command_line(chance, "--live", command=command), answers=chance.randrange(2**32))


def _with_hostile_text(chance: Random, text: str) -> str:
    """The text with some of its quoted strings, or words, exchanged for one that gives orders to terminals."""
    for _ in range(chance.randint(1, 3)):
        marks = [at for at, char in enumerate(text) if char == '"' and text[at - 1 : at] != "\\"]
        if len(marks) < 4:
            return text
        opening = marks[2 * chance.randrange(len(marks) // 2)]  # between two marks is a text, behind them is none
        text = text[: opening + 1] + json.dumps(hostile.TEXT)[1:-1] + text[opening + 1 :]
    return text
