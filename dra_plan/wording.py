"""Parts of sentences that all modules share: lists of names, values, and a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

DUMP = (
    "kubectl get nodes,ns,pods,deploy,rs,sts,ds,jobs,cj,pvc,pv,sc,csinodes,csidrivers,csistoragecapacities,"
    "volumeattachments,limits,quota,pc,runtimeclasses,pdb,resourceslices,deviceclasses,resourceclaims,"
    "resourceclaimtemplates -A -o json > cluster.json"
)
"""The kubectl command that collects the input for most questions."""

NAMES = 3
"""The maximum number of names that a sentence lists."""


def listed(names: list[str], most: int = NAMES) -> str:
    """Return the names as `a`, `a and b`, or `a, b, c and 4 more`, or "" if there are no names."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def values(found: Iterable[tuple[Any, int]], others: int, missing: int = 0) -> list[str]:
    """Return a text for each value and the number of devices that have it.

    Two more texts follow, if needed: the number of other values, and the number of devices without a value.
    """
    said = [f"{value(one)} on {count}" for one, count in found]
    if said:
        said[0] += " device" if said[0].endswith(" on 1") else " devices"
    said += [f"{others} other values"] if others else []
    return [*said, f"missing on {missing}"] if missing else said


def value(of: Any) -> str:
    """Return a value in CEL syntax."""
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, list):
        return f"[{', '.join(value(item) for item in of)}]"
    return f'"{of}"' if isinstance(of, str) else str(of)
