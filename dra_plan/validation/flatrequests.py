"""DRA014: requests whose fields stand where v1beta1 has them: directly in the request, and not in `exactly`."""

from __future__ import annotations

from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.convert import FLAT_REQUEST, REQUESTS
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.paths import render, value_at

from .rule import Problem, refused

MISPLACED = refused(
    "DRA014",
    "request with the fields of `exactly` beside its name",
    "In v1beta1 the class, selectors and the like of a request stand directly in it; since v1beta2 they stand in "
    "`exactly`. kubectl refuses them elsewhere; dropped, the request asks for nothing and is refused.",
    "Move the fields into `exactly`, or write the object as v1beta1.",
)
RULES = (MISPLACED,)

_WITH_EXACTLY = frozenset({"v1", "v1beta2"})


def lifted(value: dict[str, Any], kind: Kind, version: str) -> tuple[dict[str, Any], list[Problem]]:
    """The object with such fields in `exactly`, and the problems they are; the same object where there are none."""
    path = REQUESTS.get(kind.name)
    if path is None or version not in _WITH_EXACTLY:
        return value, []
    requests = value_at(value, path)
    if not isinstance(requests, list):
        return value, []
    found = [
        _problem((*path, index), fields) for index, request in enumerate(requests) if (fields := _misplaced(request))
    ]
    return (_replaced(value, path, [_nested(request) for request in requests]), found) if found else (value, [])


def is_flat(value: Any, kind: Kind, path: FieldPath) -> bool:
    """Whether the v1 path goes into the `exactly` of a request that has none."""
    at = exactly_at(kind, path)
    return at is not None and bool(_misplaced(value_at(value, path[:at])))


def exactly_at(kind: Kind, path: FieldPath) -> int | None:
    """Where in a v1 path the `exactly` of a request stands; None if the path goes into none."""
    requests = REQUESTS.get(kind.name, ())
    at = len(requests) + 1
    return at if requests and path[: len(requests)] == requests and path[at : at + 1] == ("exactly",) else None


def flattened(kind: Kind, path: FieldPath) -> FieldPath:
    """The v1 path in a request without `exactly`."""
    at = exactly_at(kind, path)
    return path if at is None else (*path[:at], *path[at + 1 :])


def _misplaced(request: Any) -> list[str]:
    if not isinstance(request, dict) or request.get("exactly") is not None or request.get("firstAvailable"):
        return []
    return [name for name in FLAT_REQUEST if name in request]


def _problem(path: FieldPath, fields: list[str]) -> Problem:
    told = fields[0] if len(fields) == 1 else f"{', '.join(fields[:-1])} and {fields[-1]}"
    verb = "stands" if len(fields) == 1 else "stand"
    message = f"{told} {verb} in `exactly`, not directly in the request"
    suggestion = f"exactly: {{{fields[0]}: ...}}"
    at = (*path, fields[0])
    return Problem(MISPLACED, at, message, suggestion, written=True, of_key=True).called(render(path))


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
