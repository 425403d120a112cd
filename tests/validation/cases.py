"""For every rule the two examples that its users are shown, as objects: one that breaks it, and one that does not."""

from collections.abc import Mapping
from typing import NamedTuple

import yaml

from dra_plan.validation import examples
from dra_plan.validation.registry import RULES

from .objects import Data

ELSEWHERE = {
    "DRA013": "depends on how deep data is nested: test_reading",
    "DRA015": "depends on how a key is written: test_bare_keys",
    "DRA016": "depends on the text, not on objects: test_unread",
    "DRA252": "depends on a gate, not on the input: test_rules",
    "DRA301": "depends on what was there before: test_updates",
    "DRA302": "depends on what was there before: test_updates",
}
"""Rules whose examples need more than two inputs."""


class Case(NamedTuple):
    """A code, input that breaks its rule, and input that does not; in both all else is correct."""

    code: str
    bad: list[Data]
    good: list[Data]
    version: str
    gates: Mapping[str, bool]


def _case(code: str) -> Case:
    example = examples.load(code)
    bad, good = (list(yaml.safe_load_all(example.whole(text))) for text in (example.bad, example.good))
    return Case(code, bad, good, example.kubernetes_version, example.gates)


CASES = [_case(code) for code in RULES if code not in ELSEWHERE]
