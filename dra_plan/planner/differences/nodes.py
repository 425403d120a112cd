"""What a claim set's answer on one node says, as far as two answers can differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dra_plan.allocator import Outcome
from dra_plan.documents.allocation import PlannedNode

MOST_VALUES = 3
"""Values of an allocation that are told."""


def devices(node: PlannedNode) -> list[tuple[str, str, str, str]]:
    """Request, driver, pool and name of the devices that the claims are given."""
    return [
        (result.request, result.driver, result.pool, result.device)
        for claim in node.claims
        for result in claim.allocation.devices.results
    ]


def allocation(node: PlannedNode) -> list[Any]:
    """All that the claims are given, as plain values; without share IDs, which are made anew each time."""
    plain: list[Any] = msgspec.to_builtins(node.claims)
    for claim in plain:
        for result in claim["allocation"]["devices"].get("results", ()):
            result.pop("shareID", None)
    return plain


def refusal(node: PlannedNode) -> str:
    """Why the set does not fit here: what the first filter that refuses says; "" if it fits."""
    return node.excluded_by[0].message if node.excluded_by else node.message


def said(node: PlannedNode | None, other: PlannedNode | None) -> str | None:
    """The devices or the refusal; where the other answer has the same devices, with what is other about them."""
    if node is None:
        return None
    if node.excluded_by or node.outcome is not Outcome.FITS:
        return refusal(node)
    names = ", ".join("/".join(names[1:]) for names in devices(node))
    if other is None or devices(node) != devices(other):
        return names
    values, others = (dict(_values(allocation(each))) for each in (node, other))
    fields = [field for field in dict.fromkeys((*values, *others)) if values.get(field) != others.get(field)]
    told = [f"{field}: {values.get(field, 'none')}" for field in fields[:MOST_VALUES]]
    told += [f"{len(fields) - MOST_VALUES} other values"] if len(fields) > MOST_VALUES else []
    return f"{names} ({', '.join(told)})" if told else names


def _values(plain: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value with its field; those of a device after its name."""
    if isinstance(plain, dict):
        for name, value in plain.items():
            yield from _values(value, _field(path, name))
    elif isinstance(plain, list):
        for index, value in enumerate(plain):
            device = value.get("device") if isinstance(value, dict) else None
            yield from _values(value, f"{device}" if device else f"{path}[{index}]")
    else:
        yield path, plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _field(path: str, name: str) -> str:
    return name if name in ("allocation", "devices", "results") else f"{path} {name}" if path else name
