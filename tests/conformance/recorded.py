"""Reads recorded outcomes of the real allocator, and compares a plan with them field by field."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

GATES = {
    "AdminAccess": ["DRAAdminAccess"],
    "ConsumableCapacity": ["DRAConsumableCapacity"],
    "DeviceTaints": ["DRADeviceTaints", "DRADeviceTaintRules"],
    "DeviceBindingAndStatus": ["DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"],
    "ListTypeAttributes": ["DRAListTypeAttributes"],
    "PartitionableDevices": ["DRAPartitionableDevices"],
    "PrioritizedList": ["DRAPrioritizedList"],
}
"""The gates behind each feature of the allocator library."""

LOCKED_IN_1_37 = {"DRAAdminAccess", "DRAPrioritizedList", "DRAResourceClaimDeviceStatus"}

SINCE = {"DRAListTypeAttributes": "1.36", "DRADeviceTaintRules": "1.35"}


def cases(name: str, every: int = 1, first: int = 0) -> Iterator[dict[str, Any]]:
    """The cases of a corpus, or each so-manieth of them from the `first` on: one JSON document a line."""
    with gzip.open(HERE / f"{name}.jsonl.gz", "rb") as lines:
        yield from map(json.loads, itertools.islice(lines, first, None, every))


def version(case: dict[str, Any]) -> str:
    """The release that a case was recorded for; one that names none is for 1.36.2."""
    return case.get("kubernetesVersion", "1.36.2")


def gates(case: dict[str, Any]) -> dict[str, bool]:
    """Every gate of the allocator, on or off as the case had it."""
    on = set(GATES) if case["features"] == ["all"] else set(case["features"])
    known = version(case)
    return {
        gate: feature in on
        for feature, names in GATES.items()
        for gate in names
        if SINCE.get(gate, "1.34") <= known and not (known >= "1.37" and gate in LOCKED_IN_1_37)
    }


def differences(case: dict[str, Any], plan: dict[str, Any]) -> list[str]:
    """What the plan says otherwise than the scheduler, one line a node."""
    [claim_set] = plan["claimSets"]
    answers = {node["name"]: node for node in claim_set["nodes"]}
    found = [(wanted["node"], _difference(wanted, answers[wanted["node"]])) for wanted in case["expected"]["nodes"]]
    return [f"{case['id']} {node}: {difference}" for node, difference in found if difference]


def _difference(wanted: dict[str, Any], answer: dict[str, Any]) -> str | None:
    if answer["outcome"] != _outcome(wanted):
        return f"{answer['outcome']} ({answer['message']}), not {_outcome(wanted)} ({wanted.get('error', '')})"
    if "error" in wanted and not _same_message(answer["message"], wanted["error"]):
        return f"message {answer['message']!r}, not {wanted['error']!r}"
    if answer["outcome"] == "Fits" and "allocations" in wanted and not wanted.get("anyAllocation"):
        ours = [essence(claim["allocation"]) for claim in answer["claims"]]
        theirs = [essence(allocation) for allocation in wanted["allocations"]]
        if ours != theirs:
            return f"allocation {json.dumps(ours)}, not {json.dumps(theirs)}"
    return None


def _outcome(wanted: dict[str, Any]) -> str:
    if wanted.get("timeout"):  # the scheduler never answered; what is true was proved by other means
        return "Fits" if wanted["proved"] else "DoesNotFit"
    if "error" in wanted:
        return "NodeError" if wanted.get("nodeOnlyError") else "Error"
    return "Fits" if wanted["fits"] else "DoesNotFit"


def _same_message(ours: str, theirs: str) -> bool:
    """Verbatim, but for what the selector engine itself says."""
    for mark in ("CEL compile error:", "CEL runtime error:"):
        if mark in theirs:
            return ours.startswith(theirs.split(mark, maxsplit=1)[0] + mark)
    return ours == theirs


def essence(value: Any) -> Any:
    """The value without nulls and empty containers, generated share IDs hidden."""
    if isinstance(value, dict):
        kept = {key: "*" if key == "shareID" else essence(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, {}, [])}
    return [essence(item) for item in value] if isinstance(value, list) else value
