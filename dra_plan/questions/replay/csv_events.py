"""Events in a CSV file. Each row is an event, and names the object to create."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from dra_plan.api.inventory import Inventory
from dra_plan.api.workloads import pod_template
from dra_plan.errors import InputError
from dra_plan.manifests import kinds
from dra_plan.manifests.json_lines import MOST_BYTES, JsonLine
from dra_plan.manifests.load import load_items
from dra_plan.near import nearest

NEEDED = ("time", "action", "object")
COLUMNS = (*NEEDED, "name", "count", "duration")
ACTIONS = ("create", "delete", "drain")
MOST_CREATED = 1_000_000
"""The maximum number of objects that a file may create."""
_MANIFESTS = (".yaml", ".yml", ".json")


def read_csv(path: str, inventory: Inventory) -> list[JsonLine]:
    """Return the steps in a CSV file, in the same form as the lines of a JSON events file.

    `inventory` contains the objects that the rows name. Raises InputError, with the file and the line.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: larger than {MOST_BYTES:,} bytes")
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {error}") from None
    return list(_Reader(path, inventory).steps(csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)))


class _Reader:
    """Reads the rows of one file."""

    def __init__(self, path: str, inventory: Inventory) -> None:
        self._path, self._folder = path, Path(path).parent
        self._inventory = inventory
        self._patterns: dict[str, list[dict[str, Any]]] = {}
        self._numbers: Counter[tuple[str, str, str]] = Counter()
        self._created = 0

    def steps(self, rows: csv.DictReader[str]) -> Iterator[JsonLine]:
        """Yield the steps of all rows."""
        try:
            _check_header(rows.fieldnames or (), f"{self._path}:1")
            for row in rows:
                yield from self._row(row, f"{self._path}:{rows.line_num}")
        except csv.Error as error:
            raise InputError(f"{self._path}:{rows.line_num}: {error}") from None

    def _row(self, row: Mapping[str | None, Any], origin: str) -> Iterator[JsonLine]:
        if None in row:
            raise InputError(f"{origin}: more values than columns")
        cells = {str(name).strip(): (value or "").strip() for name, value in row.items()}
        action, what = cells["action"], cells["object"]
        if action not in ACTIONS:
            near = nearest(action, ACTIONS)
            hint = f" (did you mean {near!r}?)" if near else f": use one of {', '.join(ACTIONS)}"
            raise InputError(f"{origin}: unknown action {action!r}{hint}")
        told = [name for name in ("name", "count", "duration") if cells.get(name)]
        if action != "create" and told:
            raise InputError(f"{origin}: {told[0]}: only for what is created")
        time = {"time": _number(cells["time"], "time", origin)}
        if action == "create":
            for made in self._created_objects(cells, origin):
                yield _line({**time, **made}, origin)
        elif action == "drain":
            yield _line({**time, "drain": what.removeprefix("node/")}, origin)
        else:
            kind, name = _split(what, origin)
            yield _line({**time, "delete": [kind.name, name]}, origin)

    def _created_objects(self, cells: Mapping[str, str], origin: str) -> Iterator[dict[str, Any]]:
        count = _number(cells.get("count") or "1", "count", origin)
        if count != int(count):
            raise InputError(f"{origin}: count: expected a whole number, got {cells['count']!r}")
        runs = {"runs": _number(cells["duration"], "duration", origin)} if cells.get("duration") else {}
        patterns = self._pattern(cells["object"], origin)
        self._created += int(count) * len(patterns)
        if self._created > MOST_CREATED:
            raise InputError(f"{origin}: more than {MOST_CREATED:,} objects are created")
        for _ in range(int(count)):
            for pattern in patterns:
                named = self._name(pattern, cells.get("name", ""), is_one=not cells.get("count"))
                yield {"create": {**pattern, "metadata": {**pattern["metadata"], "name": named}}, **runs}

    def _name(self, pattern: Mapping[str, Any], given: str, *, is_one: bool) -> str:
        """Return the name of the object: the given one, or the next number appended to it or to that of the pattern."""
        if given and is_one:
            return given
        metadata = pattern["metadata"]
        name = given or metadata.get("name") or str(metadata.get("generateName", "")).rstrip("-") or "pod"
        key = (pattern["kind"], metadata.get("namespace", "default"), name)
        self._numbers[key] += 1
        return f"{name}-{self._numbers[key]}"

    def _pattern(self, what: str, origin: str) -> list[dict[str, Any]]:
        """Return the created objects: those of a manifest, or a pod like that of an object in the cluster."""
        found = self._patterns.get(what)
        if found is None:
            is_file = what.endswith(_MANIFESTS)
            found = self._patterns[what] = self._manifest(what, origin) if is_file else [self._like(what, origin)]
        return found

    def _manifest(self, what: str, origin: str) -> list[dict[str, Any]]:
        items = [item.value for item in load_items([self._folder / what])]
        if not all(isinstance(each, dict) and isinstance(each.get("metadata"), dict) for each in items):
            raise InputError(f"{origin}: {what}: expected objects with metadata")
        return items

    def _like(self, what: str, origin: str) -> dict[str, Any]:
        kind, name = _split(what, origin)
        namespace, _, short = name.rpartition("/")
        for each in getattr(self._inventory, kind.holder) if kind.pod_spec else ():
            metadata = each.metadata
            if (each.kind, metadata.namespace, metadata.name) == (kind.name, namespace, short):
                made = each if kind.name == "Pod" else pod_template(each)
                spec = msgspec.to_builtins(made.spec)
                spec.pop("nodeName", None)
                kept = {"labels": made.metadata.labels, "annotations": made.metadata.annotations}
                told = {key: value for key, value in kept.items() if value}
                where = {"name": short, "namespace": namespace}
                return {"apiVersion": "v1", "kind": "Pod", "metadata": {**where, **told}, "spec": spec}
        raise InputError(f"{origin}: no {kind.name} {name!r} in the cluster to copy a pod from")


def _check_header(given: Any, origin: str) -> None:
    names = [str(name).strip() for name in given]
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise InputError(f"{origin}: no column {missing[0]!r}: expected {', '.join(COLUMNS)}")
    unknown = next((name for name in names if name not in COLUMNS), None)
    if unknown is not None:
        near = nearest(unknown, COLUMNS)
        hint = f" (did you mean {near!r}?)" if near else f": use {', '.join(COLUMNS)}"
        raise InputError(f"{origin}: unknown column {unknown!r}{hint}")


def _split(what: str, origin: str) -> tuple[kinds.Kind, str]:
    """Split KIND/NAME or KIND/NAMESPACE/NAME into kind and NAMESPACE/NAME; a bare name is that of a Pod."""
    first, slash, rest = what.partition("/")
    kind = kinds.named(first if slash else "Pod")
    name = rest if slash else what
    if kind is None or not name or name.count("/") > kind.namespaced:
        raise InputError(f"{origin}: object: expected KIND/NAME or KIND/NAMESPACE/NAME, got {what!r}")
    return kind, f"default/{name}" if kind.namespaced and "/" not in name else name


def _number(text: str, column: str, origin: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found >= 0):
        raise InputError(f"{origin}: {column}: expected a number of at least 0, got {text!r}")
    return found


def _line(step: Mapping[str, Any], origin: str) -> JsonLine:
    made = JsonLine(step)
    made.origin = origin
    return made
