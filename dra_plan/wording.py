"""The smallest parts of sentences, shared by all modules that print text: lists of names, values, and a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

DUMP = (
    "kubectl get nodes,ns,pods,deploy,rs,sts,ds,jobs,cj,pvc,pv,sc,csinodes,csidrivers,csistoragecapacities,"
    "volumeattachments,limits,quota,pc,runtimeclasses,pdb,resourceslices,deviceclasses,resourceclaims,"
    "resourceclaimtemplates -A -o json > cluster.json"
)
"""The command that creates a file for most questions with kubectl alone."""

NAMES = 3
"""The number of names that a sentence lists before it counts the rest."""


def listed(names: list[str], most: int = NAMES) -> str:
    """Return the names as `a`, `a and b`, or `a, b, c and 4 more`. The text is empty if there are no names."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def values(found: Iterable[tuple[Any, int]], others: int, missing: int = 0) -> list[str]:
    """Return texts for values, each with the number of devices that have the value.

    The last texts say how many other values there are, and how many devices have no value.
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
