"""The structured allocator: a node's pools, requests, constraints, counters and capacity, and the search over them.

The package only computes, on `api` objects. The only texts that it produces are upstream's own error texts; reasons are
values.
"""

from .allocator import Allocator
from .identity import DeviceID, PoolID
from .ledger import AllocatedState
from .pools import Pool, PoolDevice, PoolGatherer, PoolState
from .reasons import AllocationError, Cause, NodeAllocationError, SelectorError, StepsExhaustedError
from .search import NodeOutcome, Outcome
from .view import View
from .walk import Probe

__all__ = [
    "AllocatedState",
    "AllocationError",
    "Allocator",
    "Cause",
    "DeviceID",
    "NodeAllocationError",
    "NodeOutcome",
    "Outcome",
    "Pool",
    "PoolDevice",
    "PoolGatherer",
    "PoolID",
    "PoolState",
    "Probe",
    "SelectorError",
    "StepsExhaustedError",
    "View",
]
