"""Objects with some of their values replaced, removed, repeated, or moved from elsewhere."""

from __future__ import annotations

import copy
import random
from typing import Any

Plain = dict[str, Any]

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 33, 2**63 - 1, -(2**63), 1.5, [], {}, [None], [{}], [""]),
    *("", "a", "1", "1Gi", "0", "-1", "1e30", "9Ei", "n", "All", "ExactCount", "In", "metadata.name", "x" * 300),
    *("example.com/a/b", "/", "a/", "true", "device.attributes", "1.2.3", "node-0"),
    *({"a": None}, {"": ""}, {"value": "1"}, {"string": "a"}, {"cel": {"expression": "1"}}),
]


def broken(r: random.Random, objects: list[Plain]) -> list[Plain]:
    """Copies of the objects, with one to three such changes."""
    objects = copy.deepcopy(objects)
    for _ in range(r.randint(1, 3)):
        place: Any = r.choice(objects)
        if r.random() < 0.7:
            inner = place.get("spec")
            place = inner if isinstance(inner, dict) else place
        while True:
            keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = r.choice(keys)
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or r.random() < 0.2:
                _change(r, place, key, objects)
                break
            place = inner
    return objects


def _change(r: random.Random, place: Any, key: Any, objects: list[Plain]) -> None:
    """Mostly to another value of the same type, for most others are rejected at once."""
    kind = r.random()
    old = place[key]
    if kind < 0.15 and key not in ("apiVersion", "kind", "metadata"):
        del place[key]
    elif kind < 0.3 and isinstance(place, list):
        place.append(copy.deepcopy(old))
    elif kind < 0.4 and isinstance(old, dict):
        place[key] = copy.deepcopy(r.choice(objects).get("spec"))
    elif kind < 0.9:
        same = [value for value in VALUES if type(value) is type(old)]
        place[key] = copy.deepcopy(r.choice(same or VALUES))
    else:
        place[key] = copy.deepcopy(r.choice(VALUES))
