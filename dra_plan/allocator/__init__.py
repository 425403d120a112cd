"""The structured allocator: pools of a node, requests, constraints, counters, capacity and the search over them.

Pure computation on `api` objects. It makes no sentence except upstream's own error texts; reasons are values.
"""

from .allocator import Allocator
from .errors import AllocationError, Cause, NodeAllocationError, SelectorError, StepsExhaustedError
from .gathering import PoolGatherer
from .identity import DeviceID, PoolID
from .outcome import NodeOutcome, Outcome
from .pools import Pool, PoolDevice, PoolState
from .probe import Probe
from .state import AllocatedState
from .view import View

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
