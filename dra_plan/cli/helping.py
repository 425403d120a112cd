"""The output of `--help`: a summary, examples, the description, and the options by topic.

These parts are paragraphs of a command's docstring. The lines after `Examples:` are printed unchanged.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from . import live

EXAMPLES = "Examples:"
PROGRAM = "dra-plan"

TOPICS = {
    "Query": {
        "explain": "Explain why pods are pending and what would help.",
        "schedule": "Show which node each pod is scheduled to, or why it stays pending.",
        "allocate": "Show on which nodes claims fit, and which devices they get.",
        "pools": "Show resource pools and their free devices.",
    },
    "Plan": {
        "capacity": "Count how many more copies of a pod fit.",
        "place": "Find out whether all pending pods can run together.",
        "grow": "Find out how many new nodes the pending pods need.",
        "diff": "Compare two states of a cluster.",
        "impact": "Show what would happen to running pods if you applied objects.",
        "maintain": "Find a safe order in which to drain nodes.",
        "repack": "Find the fewest pod moves that make room for other pods.",
        "autoscale": "Show what the Cluster Autoscaler would do and why.",
        "replay": "Show how the devices in a cluster are used over time.",
    },
    "Check": {
        "validate": "Check manifests for errors.",
        "rule": "Explain the rules of `validate`, with examples.",
        "cel": "Check a selector expression and evaluate it against devices.",
    },
    "Other": {
        "snapshot": "Save a snapshot of a cluster.",
        "schema": "Print the JSON Schema for a document, or list the schemas.",
        "completion": "Print the completion script for a shell.",
    },
}
"""The commands by purpose, in the order of `--help`, each with its summary.

They are repeated here so that the help of the program imports no command.
"""

_SECTIONS = {
    "Arguments": ("codes", "kind", "shell", "expression"),
    "Input": (
        "filenames",
        "recursive",
        "objects",
        *("groups", "group", "expander", "engine"),
        "before",
        "after",
        "against",
        "to",
        "infer_nodes",
        "config",
        "anonymize",
    ),
    "What to plan": (
        *("all_namespaces", "namespace", "selector", "nodes", "drivers", "states", "device", "devices", "devices_only"),
        *("together", "moves", "mix", "most", "possible", "like", "cost", "order", "at_once", "surge", "jobs"),
        *("free", "for_", "max_moves", "movable", "up_to_priority", "prices"),
        *("policy", "orders", "ties", "seed", "at", "every"),
        *("select", "ignore", "ignore_unknown", "restarted", "settle", "then", "events", "never_ready"),
        *("allow_extenders",),
    ),
    "What-if changes, applied in this order": ("cordon", "drain", "without", "add_nodes"),
    "Live cluster (read with kubectl)": live.NAMES,
    "Release": (
        *("kubernetes_version", "feature_gates", "quirks", "strict_version", "runtime_config"),
        *("to_kubernetes_version", "to_feature_gates", "to_quirks"),
    ),
    "Limits": ("limit", "max_steps", "timeout", "time_limit"),
    "Exit status": ("require_fit", "min_nodes", "at_least", "fail_on", "ignore_warnings", "allow_empty"),
}
_OUTPUT = "Output"
"""The topic of options that belong to no other topic."""

_TYPE = re.compile(r" <[^>]*>$")
"""What the parser adds to the name of an argument."""
_BOUND = re.compile(r"; x>=?[\d.]+(?:<=?[\d.]+)?(?=\])|  \[x>=?[\d.]+(?:<=?[\d.]+)?\]|\[x>=?[\d.]+; ")
"""What the parser adds about the minimum of a number. Its error message says the same."""


class Help(NamedTuple):
    """The parts of a command's docstring: the first sentence, the example lines, and the other paragraphs."""

    sentence: str
    examples: list[str]
    paragraphs: list[str]


def parts(text: str | None) -> Help:
    """Return the parts of a docstring, with each paragraph on one line."""
    found = re.split(r"\n\s*\n", inspect.cleandoc(text or "").replace("\b\n", ""))
    examples = [line.strip() for each in found if each.startswith(EXAMPLES) for line in each.splitlines()[1:]]
    sentence, *others = [" ".join(each.split()) for each in found if not each.startswith(EXAMPLES)]
    return Help(sentence, examples, others)


def written(text: str | None, program: str, formatter: Any) -> None:
    """Write the help of a command to the parser's formatter. Examples begin with `program`."""
    said = parts(text)
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(said.sentence)
    if said.examples:
        with formatter.section(EXAMPLES.removesuffix(":")):
            for line in said.examples:
                formatter.write(f"{'':{formatter.current_indent}}{called(line, program)}\n")
    for paragraph in said.paragraphs:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(paragraph)


def called(line: str, program: str) -> str:
    """Return an example with the name by which the program was called, which differs for a kubectl plugin."""
    return re.sub(rf"^{PROGRAM}\b", program, line)


def sections(params: Iterable[Any], context: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each topic with its options and their help. Topics without options are left out."""
    records = [(_section(param.name), record) for param in params if (record := param.get_help_record(context))]
    for title in (*_SECTIONS, _OUTPUT):
        rows = [
            (_TYPE.sub("", names), _BOUND.sub("", text).strip()) for topic, (names, text) in records if topic == title
        ]
        if rows:
            yield title, rows


def _section(name: str) -> str:
    return next((title for title, names in _SECTIONS.items() if name in names), _OUTPUT)
