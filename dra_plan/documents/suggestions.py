"""Changes that were tried and make a claim set fit: parts of an Explanation. docs/reasons.md describes every code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from dra_plan.api.resource import DeviceToleration

from .base import Amount, ClaimName, DocumentPart, PoolName, Position, any_of, one_of


class SelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """A selector is rewritten, or dropped (null), in a class or in a request."""

    code: Annotated[
        str,
        one_of("guard-selector", "fix-spelling", "change-value", "loosen-selector", "drop-selector", "loosen-class"),
    ]
    class_: str = ""
    claim: ClaimName | None = None
    request: str = ""
    selector: Position
    expression: str
    replacement: str | None
    dropped: Annotated[str, Meta(description="The part that is dropped.")] = ""


class RequestChange(DocumentPart, frozen=True, kw_only=True):
    """A change to a request, or alternative."""

    code: str
    claim: ClaimName
    request: str


class TaintTolerated(RequestChange, frozen=True, kw_only=True):
    """A toleration is added."""

    code: Annotated[str, one_of("tolerate-taint")]
    toleration: DeviceToleration


class CountLowered(RequestChange, frozen=True, kw_only=True):
    """Fewer devices are asked for, or some instead of all."""

    code: Annotated[str, one_of("lower-count", "count-instead-of-all")]
    from_: int | None = None
    to: int


class CapacityChanged(RequestChange, frozen=True, kw_only=True):
    """Less of a capacity is asked for, another one, or nothing of it."""

    code: Annotated[str, one_of("lower-capacity", "rename-capacity", "drop-capacity")]
    capacity: str
    from_: str = ""
    to: str = ""


class ClassChanged(RequestChange, frozen=True, kw_only=True):
    """Another class is asked for."""

    code: Annotated[str, one_of("change-class")]
    from_: str = ""
    to: str


class AlternativeAdded(RequestChange, frozen=True, kw_only=True):
    """One more alternative."""

    code: Annotated[str, one_of("add-alternative")]
    class_: str
    count: Amount


class RequestDropped(RequestChange, frozen=True, kw_only=True):
    """The request is left out."""

    code: Annotated[str, one_of("drop-request")]


class ConstraintDropped(DocumentPart, frozen=True, kw_only=True):
    """A constraint is left out."""

    code: Annotated[str, one_of("drop-constraint")]
    claim: ClaimName
    constraint: Position
    attribute: str


class PoolAwaited(DocumentPart, frozen=True, kw_only=True):
    """The missing slices of a pool are waited for."""

    code: Annotated[str, one_of("wait-for-slice")]
    pool: PoolName
    seen: Amount
    expected: int


class NodeLabelled(DocumentPart, frozen=True, kw_only=True):
    """The node gets labels."""

    code: Annotated[str, one_of("label-node")]
    labels: dict[str, str]


class ClaimReleased(DocumentPart, frozen=True, kw_only=True):
    """A claim gives its devices back."""

    code: Annotated[str, one_of("release-claim")]
    release: ClaimName
    pods: list[str] = []


class GateEnabled(DocumentPart, frozen=True, kw_only=True):
    """A feature gate is switched on."""

    code: Annotated[str, one_of("enable-gate")]
    gate: str


SuggestedChange = (
    SelectorChanged
    | TaintTolerated
    | CountLowered
    | CapacityChanged
    | ClassChanged
    | AlternativeAdded
    | RequestDropped
    | ConstraintDropped
    | PoolAwaited
    | NodeLabelled
    | ClaimReleased
    | GateEnabled
)

CHANGES: dict[str, type[SuggestedChange]] = {
    "guard-selector": SelectorChanged,
    "fix-spelling": SelectorChanged,
    "tolerate-taint": TaintTolerated,
    "wait-for-slice": PoolAwaited,
    "lower-count": CountLowered,
    "lower-capacity": CapacityChanged,
    "rename-capacity": CapacityChanged,
    "drop-capacity": CapacityChanged,
    "count-instead-of-all": CountLowered,
    "change-value": SelectorChanged,
    "loosen-selector": SelectorChanged,
    "drop-selector": SelectorChanged,
    "drop-constraint": ConstraintDropped,
    "change-class": ClassChanged,
    "add-alternative": AlternativeAdded,
    "loosen-class": SelectorChanged,
    "label-node": NodeLabelled,
    "release-claim": ClaimReleased,
    "drop-request": RequestDropped,
    "enable-gate": GateEnabled,
}
"""The struct of every code, from what changes least."""


if TYPE_CHECKING:
    AnyChange = SuggestedChange
else:
    AnyChange = Any  # a union that no field tells apart can't be decoded

SHAPES = tuple(dict.fromkeys(CHANGES.values()))


class TriedChanges(DocumentPart, frozen=True, kw_only=True):
    """Changes that were tried together, and the node on which the claims then fit."""

    changes: Annotated[list[AnyChange], Meta(min_length=1, extra_json_schema={"items": any_of(*SHAPES)})]
    node: Annotated[str, Meta(description="The node on which the set then fits.")]
