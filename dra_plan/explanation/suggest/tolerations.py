"""Tolerations that should cover a node's taint but do not, because they differ from it in one field.

A toleration that covers a taint of any node in the input is not a mistake, because it is meant for that node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.core import Node, Taint, Toleration
from dra_plan.api.selectors import tolerates
from dra_plan.documents.devices import TaintName

_Taint = Taint | TaintName


class TolerationCorrection(NamedTuple):
    """The current and the correct toleration, and the field in which they differ."""

    wrong: Toleration
    right: Toleration
    field: str

    @property
    def values(self) -> tuple[str, str]:
        """The current and the correct value of the field."""
        return getattr(self.wrong, self.field), getattr(self.right, self.field)

    def made(self, tolerations: Sequence[Toleration]) -> list[Toleration]:
        """Return the tolerations with this one corrected."""
        return [self.right if one == self.wrong else one for one in tolerations]


def correction(tolerations: Sequence[Toleration], taint: _Taint, nodes: Iterable[Node]) -> TolerationCorrection | None:
    """Return the correction of the first toleration that covers no taint and differs from this taint in one field.

    Return None if there is no such toleration.
    """
    every = [each for node in nodes for each in node.spec.taints]
    for one in tolerations:
        field = _different_field(one, taint)
        if field and not any(tolerates(one, each) for each in every):
            return TolerationCorrection(one, structs.replace(one, **{field: getattr(taint, field)}), field)
    return None


def _different_field(one: Toleration, taint: _Taint) -> str:
    """Return the only field that keeps the toleration from covering the taint; of a key, only the case may differ."""
    if one.key.lower() != taint.key.lower() or one.operator not in ("", "Equal", "Exists"):
        return ""
    fields = [] if one.key == taint.key else ["key"]
    fields += ["value"] if one.operator != "Exists" and one.value != taint.value else []
    fields += ["effect"] if one.effect and one.effect != taint.effect else []
    return fields[0] if len(fields) == 1 else ""
