"""The structured allocator: pools, requests, constraints, counters and capacity, and the search for devices on a node.

The package works on `api` objects and does no I/O. It reports reasons as values; the only texts that it produces are
upstream's error messages.
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
