"""A bad and a good example of every rule, in one TOML file per rule.

`bad` and `good` are manifests, and `with` contains objects that both of them need. For rules about updates, `old`
contains the objects to update. `kubernetes-version`, `feature-gates` and `good-feature-gates` set the target, if it is
not the default.
"""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_plan import releases


@dataclass(frozen=True, slots=True)
class RuleExample:
    """An example of a rule. The manifests in `bad` violate the rule; the manifests in `good` do not.

    `around` contains objects that both need, if there are any.
    """

    bad: str
    good: str
    around: str = ""
    kubernetes_version: str = releases.NEWEST
    gates: Mapping[str, bool] = field(default_factory=dict)
    old: str = ""
    """The existing objects, for rules about updates."""
    good_gates: Mapping[str, bool] = field(default_factory=dict)
    """The additional feature gates for `good`."""

    def whole(self, text: str) -> str:
        """Return `text`, which is `bad` or `good`, followed by the objects in `around`. Line numbers do not change."""
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
