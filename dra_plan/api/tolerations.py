"""Whether a toleration covers a taint: one rule for the taints of nodes and of devices, which have types of their own.

Which taints keep anything away, and from what, does not belong here.
"""

from __future__ import annotations

from typing import Protocol

BLOCKING = ("NoSchedule", "NoExecute")
"""The effects that keep away what does not tolerate the taint."""


class _Taint(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


class _Toleration(_Taint, Protocol):
    @property
    def operator(self) -> str: ...


def tolerates(toleration: _Toleration, taint: _Taint) -> bool:
    """Whether one toleration covers one taint: effect and key empty or equal, then by operator.

    Seconds play no role; the operators Gt and Lt need an alpha gate and match nothing.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
