"""The stable codes of reasons, and the document fields of each code.

`docs/reasons.md` describes the codes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from dra_plan.allocator import reasons as r
from dra_plan.allocator.reasons import ErrorCode
from dra_plan.api import quantity
from dra_plan.documents.devices import TaintName


class PoolUnusable(NamedTuple):
    """A pool that is skipped, so that the device can't be used. `state` is incomplete, invalid or obsolete."""

    state: str


class SelectorFailed(NamedTuple):
    """A selector that can't be evaluated on the device. The selector is the request's unless the reason names a class.

    `compiles` means that the parts of the selector can be evaluated one by one. `of_device` means that no selector at
    all can be evaluated on the device.
    """

    class_name: str | None
    position: int
    expression: str
    message: str
    compiles: bool
    of_device: bool


class TakenAlready(NamedTuple):
    """A device that the search has already used for another slot of the claim set."""


Refusal = r.DeviceReason | PoolUnusable | SelectorFailed | TakenAlready
"""The reason why a device cannot serve a request."""

Data = dict[str, Any]


class ReasonCode(NamedTuple):
    """A reason's code, the check that finds the reason, and a function that returns the document fields."""

    name: str
    step: str
    data: Callable[[Any], Data]
    key: Callable[[Any], tuple[object, ...]]
    """The values that must be equal for reasons to be counted together."""


def amount(nano: int) -> str:
    """Return an amount in nano-units as a Kubernetes quantity, in binary units if this is shorter."""
    decimal = quantity.make(nano, -9, "DecimalSI").text
    binary = quantity.make(nano, -9, "BinarySI").text
    return binary if len(binary) < len(decimal) else decimal


def plain(value: object) -> object:
    """Return the value of a constraint as plain data. Sets are returned as sorted lists."""
    if isinstance(value, frozenset):
        return sorted(value, key=lambda item: (str(type(item)), item))
    return value


def _selector(reason: r.SelectorRefused | SelectorFailed) -> Data:
    data: Data = {"selector": reason.position, "expression": reason.expression}
    if reason.class_name is not None:
        data["class_"] = reason.class_name
    if isinstance(reason, SelectorFailed):
        data["error"] = reason.message
    return data


def _constraint(reason: r.AttributeMissing | r.AttributeDiffers | r.AttributeRepeats) -> Data:
    return {"constraint": reason.constraint, "attribute": reason.attribute}


def _nothing(_: object) -> Data:
    return {}


def _no_key(_: object) -> tuple[object, ...]:
    return ()


def _all(reason: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(reason)


_CODES: dict[type, ReasonCode] = {
    PoolUnusable: ReasonCode("pool-unusable", "pool", lambda x: {"state": x.state}, _all),
    r.InUse: ReasonCode("in-use", "in-use", _nothing, _no_key),
    TakenAlready: ReasonCode("taken-already", "in-use", _nothing, _no_key),
    r.BindingConditionsOff: ReasonCode("binding-conditions-off", "feature", _nothing, _no_key),
    SelectorFailed: ReasonCode(
        "selector-error", "selector", _selector, lambda x: (x.class_name, x.position, x.message)
    ),
    r.SelectorRefused: ReasonCode("selector-false", "selector", _selector, _all),
    r.OtherNode: ReasonCode("other-node", "node", _nothing, _no_key),
    r.CapacityMissing: ReasonCode("capacity-missing", "capacity", lambda x: {"capacity": x.name}, _all),
    r.PolicyViolated: ReasonCode(
        "capacity-policy", "capacity", lambda x: {"capacity": x.name, "amount": x.amount}, lambda x: (x.name,)
    ),
    r.CapacityShort: ReasonCode(
        "capacity-short",
        "capacity",
        lambda x: {"capacity": x.name, "need": amount(x.need), "left": amount(x.left)},
        lambda x: (x.name,),
    ),
    r.CountersOff: ReasonCode("counters-off", "feature", _nothing, _no_key),
    r.CounterShort: ReasonCode(
        "counter-short",
        "counter",
        lambda x: {
            "counter_set": x.counter_set,
            "counter": x.counter,
            "need": amount(x.need),
            "left": amount(x.left),
        },
        lambda x: (x.counter_set, x.counter),
    ),
    r.NotTolerated: ReasonCode(
        "not-tolerated", "taint", lambda x: {"taint": TaintName(key=x.key, value=x.value, effect=x.effect)}, _all
    ),
    r.AttributeMissing: ReasonCode("attribute-missing", "constraint", _constraint, _all),
    r.AttributeDiffers: ReasonCode(
        "attribute-differs",
        "constraint",
        lambda x: {**_constraint(x), "offered": plain(x.offered), "pinned": plain(x.pinned)},
        lambda x: (x.constraint, x.attribute),
    ),
    r.AttributeRepeats: ReasonCode(
        "attribute-repeats",
        "constraint",
        lambda x: {**_constraint(x), "offered": plain(x.offered)},
        lambda x: (x.constraint, x.attribute),
    ),
}

OTHER_CODES = (
    "no-devices",
    "pool-incomplete",
    "pool-invalid",
    "pool-obsolete",
    "devices-with-counters",
    "too-few-devices",
    "all-not-free",
    "nothing-matches",
    "not-together",
    "claim-elsewhere",
    "upstream-defect",
    "undecided",
    "claim-set-error",
    *get_args(ErrorCode),
)
"""The codes of reasons that concern a node, a request or a whole claim set."""


def code(reason: Refusal) -> ReasonCode:
    """Return the code of the reason why a device is rejected."""
    return _CODES[type(reason)]


def refusal_fields(reason: Refusal) -> Data:
    """Return the code of the reason why a device is rejected, and the document fields of this code."""
    found = code(reason)
    return {"code": found.name, **found.data(reason)}


def group_key(reason: Refusal) -> tuple[object, ...]:
    """Return a key that is equal for all reasons that are counted together.

    It contains the reason's code and subject, but no numbers.
    """
    entry = _CODES[type(reason)]
    return (entry.name, *entry.key(reason))
