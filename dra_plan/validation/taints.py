"""DRA137, DRA138: taints of devices and rules, tolerations of requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import DeviceTaint, DeviceTaintSelector, DeviceToleration

from . import names
from .rule import Problem, refused
from .words import EXISTS_WITH_VALUE, nearest, shown

TAINT = refused(
    "DRA137",
    "taint with an unknown effect",
    "Only NoSchedule and NoExecute keep pods away; the API server refuses other effects than these and None.",
    "Write None, NoSchedule or NoExecute.",
)
TOLERATION = refused(
    "DRA138",
    "toleration that the API server refuses",
    "Operators are Exists, which takes no value, and Equal; effects are those of taints, or none for all of them.",
    "Correct operator, value or effect.",
)
RULES = (TAINT, TOLERATION)

_EFFECTS = ("None", "NoSchedule", "NoExecute")


def selector(path: FieldPath, given: DeviceTaintSelector | None) -> Iterator[Problem]:
    """Which devices a rule means: each name that is given has the format of such names."""
    if given is not None and given.driver is not None:
        yield from names.driver((*path, "driver"), given.driver)
    if given is not None and given.pool is not None:
        yield from names.pool((*path, "pool"), given.pool)
    if given is not None and given.device is not None:
        yield from names.dns_label((*path, "device"), given.device, "device name")


def taint(path: FieldPath, tainted: DeviceTaint) -> Iterator[Problem]:
    """One taint."""
    yield from names.required((*path, "key"), tainted.key)
    if tainted.key:
        yield from names.label_name((*path, "key"), tainted.key)
    yield from names.label_value((*path, "value"), tainted.value)
    if not tainted.effect:
        yield from names.required((*path, "effect"), "")
    elif tainted.effect not in _EFFECTS:
        message = f"{shown(tainted.effect)} is none of {', '.join(_EFFECTS)}"
        yield TAINT.at((*path, "effect"), message, nearest(tainted.effect, _EFFECTS) or "")


def tolerations(path: FieldPath, given: Sequence[DeviceToleration]) -> Iterator[Problem]:
    """The tolerations of a request."""
    for index, toleration in enumerate(given):
        yield from _toleration((*path, index), toleration)


def _toleration(path: FieldPath, toleration: DeviceToleration) -> Iterator[Problem]:
    if toleration.key:
        yield from names.label_name((*path, "key"), toleration.key)
    if toleration.operator == "Exists":
        if toleration.value:
            yield TOLERATION.at((*path, "value"), EXISTS_WITH_VALUE, "operator: Equal")
    elif toleration.operator == "Equal":
        yield from names.label_value((*path, "value"), toleration.value)
    else:
        message = f"{shown(toleration.operator)} is neither Exists nor Equal"
        yield TOLERATION.at((*path, "operator"), message, nearest(toleration.operator, ("Exists", "Equal")) or "")
    if toleration.effect and toleration.effect not in _EFFECTS:
        message = f"{shown(toleration.effect)} is none of {', '.join(_EFFECTS)}"
        yield TOLERATION.at((*path, "effect"), message, nearest(toleration.effect, _EFFECTS) or "")
