"""DRA014: requests whose fields stand where v1beta1 has them: directly in the request, and not in `exactly`."""

from __future__ import annotations

from typing import Any

from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.paths import FieldPath, render, value_at

from .rule import Problem, refused

FLAT_REQUEST = refused(
    "DRA014",
    "request with the fields of `exactly` beside its name",
    "In v1beta1 the class, selectors and the like of a request stand directly in it; since v1beta2 they stand in "
    "`exactly`. kubectl refuses them elsewhere; dropped, the request asks for nothing and is refused.",
    "Move the fields into `exactly`, or write the object as v1beta1.",
)
RULES = (FLAT_REQUEST,)

_FIELDS = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
_DEPTHS = {"ResourceClaim": 1, "ResourceClaimTemplate": 2}
"""How deep the spec of a claim stands in an object."""
_WITH_EXACTLY = frozenset({"v1", "v1beta2"})


def lifted(value: dict[str, Any], kind: Kind, version: str) -> tuple[dict[str, Any], list[Problem]]:
    """The object with such fields in `exactly`, and the problems they are; the same object where there are none."""
    depth = _DEPTHS.get(kind.name)
    if depth is None or version not in _WITH_EXACTLY:
        return value, []
    path: FieldPath = (*("spec",) * depth, "devices", "requests")
    requests = value_at(value, path)
    if not isinstance(requests, list):
        return value, []
    found = [
        _problem((*path, index), fields) for index, request in enumerate(requests) if (fields := _misplaced(request))
    ]
    return (_replaced(value, path, [_nested(request) for request in requests]), found) if found else (value, [])


def is_flat(value: Any, kind: Kind, path: FieldPath) -> bool:
    """Whether the v1 path goes into the `exactly` of a request that has none."""
    depth = _DEPTHS.get(kind.name)
    if depth is None or len(path) <= depth + 3 or path[depth : depth + 2] != ("devices", "requests"):
        return False
    return path[depth + 3] == "exactly" and bool(_misplaced(value_at(value, path[: depth + 3])))


def flattened(kind: Kind, path: FieldPath) -> FieldPath:
    """The path in a request without `exactly`."""
    at = _DEPTHS[kind.name] + 3
    return (*path[:at], *path[at + 1 :])


def _misplaced(request: Any) -> list[str]:
    if not isinstance(request, dict) or request.get("exactly") is not None or request.get("firstAvailable"):
        return []
    return [name for name in _FIELDS if name in request]


def _problem(path: FieldPath, fields: list[str]) -> Problem:
    told = fields[0] if len(fields) == 1 else f"{', '.join(fields[:-1])} and {fields[-1]}"
    verb = "stands" if len(fields) == 1 else "stand"
    message = f"{told} {verb} in `exactly`, not directly in the request"
    suggestion = f"exactly: {{{fields[0]}: ...}}"
    at = (*path, fields[0])
    return Problem(FLAT_REQUEST, at, message, suggestion, written=True, of_key=True).called(render(path))


def _nested(request: Any) -> Any:
    names = _misplaced(request)
    if not names:
        return request
    kept = {key: item for key, item in request.items() if key not in names}
    return {**kept, "exactly": {name: request[name] for name in names}}


def _replaced(value: Any, path: FieldPath, new: Any) -> Any:
    if not path:
        return new
    return {**value, path[0]: _replaced(value[path[0]], path[1:], new)}
