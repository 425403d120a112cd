"""For every rule a bad and a good example, as data: a TOML file a rule, with `bad` and `good` as manifests.

`with` has the objects that both need, `old` those of which they are updates; `kubernetes-version`, `feature-gates` and
`good-feature-gates` say what they are judged for, where it is not the newest release with its defaults.
"""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_plan import releases


@dataclass(frozen=True, slots=True)
class RuleExample:
    """Manifests of which `bad` breaks the rule and `good` does not. `around`, often empty, belongs to both."""

    bad: str
    good: str
    around: str = ""
    kubernetes_version: str = releases.NEWEST
    gates: Mapping[str, bool] = field(default_factory=dict)
    old: str = ""
    """What the cluster has already, for rules about updates."""
    good_gates: Mapping[str, bool] = field(default_factory=dict)
    """Gates that are set for `good` besides."""

    def whole(self, text: str) -> str:
        """`bad` or `good` with what belongs to both behind it, so that its lines keep their numbers."""
        return f"{text}---\n{self.around}" if self.around else text


def load(code: str) -> RuleExample:
    """The example of the rule with this code."""
    text = (importlib.resources.files(__name__) / f"{code}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return RuleExample(
        table["bad"],
        table["good"],
        table.get("with", ""),
        table.get("kubernetes-version", releases.NEWEST),
        table.get("feature-gates", {}),
        table.get("old", ""),
        table.get("good-feature-gates", {}),
    )
