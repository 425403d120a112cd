"""How the question for one node ended, and how many such answers go from one process to another."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from dra_plan.api.resource import AllocationResult
from dra_plan.releases import Quirk

from .errors import AllocationError, NodeAllocationError

NOTHING_SIGHTED: frozenset[Quirk] = frozenset()
"""What most answers have sighted."""


class Outcome(enum.Enum):
    """How the question for one node ended."""

    FITS = "Fits"
    DOES_NOT_FIT = "DoesNotFit"
    NODE_ERROR = "NodeError"
    ERROR = "Error"
    UNDECIDED = "Undecided"


class NodeOutcome(msgspec.Struct, frozen=True):
    """The answer for one node: the allocations in claim order if it fits, upstream's error text if there is one.

    `sighted` names the known defects that the answer may owe something to; `error` is what ended it, if anything. The
    allocator sets no `out_of_reach`: whoever knows of allocated claims says there that one can't be used on the node.
    """

    node: str
    outcome: Outcome
    allocations: Sequence[AllocationResult] = ()
    message: str = ""
    steps: int = 0
    sighted: frozenset[Quirk] = NOTHING_SIGHTED
    error: AllocationError | NodeAllocationError | None = None
    out_of_reach: bool = False

    def __repr__(self) -> str:
        return f"<NodeOutcome on {self.node}: {self.outcome.value}>"


def pack(outcomes: Sequence[NodeOutcome]) -> bytes | None:
    """The answers in a form that is quickly written and read; None where some can't have it.

    Those are errors, and configuration of drivers, of which numbers may be too large.
    """
    if any(each.error or any(given.devices.config for given in each.allocations) for each in outcomes):
        return None
    return _encode([_values(each) for each in outcomes])


def unpack(packed: bytes) -> tuple[NodeOutcome, ...]:
    """The answers again."""
    return tuple(
        [
            NodeOutcome(
                node,
                outcome,
                given,
                message,
                steps,
                frozenset(sighted) if sighted else NOTHING_SIGHTED,
                out_of_reach=out_of_reach,
            )
            for node, outcome, given, message, steps, sighted, out_of_reach in _decode(packed)
        ]
    )


_Values = tuple[str, Outcome, list[AllocationResult], str, int, list[Quirk], bool]


def _values(answer: NodeOutcome) -> _Values:
    given, sighted = answer.allocations, answer.sighted
    defects = sorted(sighted) if sighted else []
    return answer.node, answer.outcome, [*given], answer.message, answer.steps, defects, answer.out_of_reach


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[_Values]).decode
