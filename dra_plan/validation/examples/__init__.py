"""A bad and a good example for every rule, as data: one TOML file per rule, with `bad` and `good` as manifests.

`with` contains the objects that both need, and `old` those that they update; `kubernetes-version`, `feature-gates` and
`good-feature-gates` set the target, if it is not the newest release with its defaults.
"""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_plan import releases


@dataclass(frozen=True, slots=True)
class RuleExample:
    """An example of a rule: the manifests in `bad` violate it, and those in `good` do not.

    The objects in `around`, which is often empty, belong to both.
    """

    bad: str
    good: str
    around: str = ""
    kubernetes_version: str = releases.NEWEST
    gates: Mapping[str, bool] = field(default_factory=dict)
    old: str = ""
    """The objects already in the cluster, for rules about updates."""
    good_gates: Mapping[str, bool] = field(default_factory=dict)
    """The additional gates for `good`."""

    def whole(self, text: str) -> str:
        """Return the text, which is `bad` or `good`, followed by the common objects.

        The line numbers in the text stay the same.
        """
        return f"{text}---\n{self.around}" if self.around else text


def load(code: str) -> RuleExample:
    """Return the example for the rule with this code."""
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
