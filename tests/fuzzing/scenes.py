"""Inputs that are more than one text: uids and owners that go in circles, several files, links, settings, answers of
extenders and of a cluster."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

from .objects import Plain

OUTSIDE = "outside.yaml"
"""A file beside the folder of a run: nothing that the run does may change it."""
SETTINGS = (
    'select = ["DRA1"]\n',
    'ignore = ["DRA101", "NOPE"]\n',
    'fail-on = "warning"\nignore-warnings = ["input-incomplete"]\n',
    "[per-file-ignores]\n'*.json' = [\"DRA1\"]\n",
    "select = 1\n",
    "per-file-ignores = []\n",
    "fail-on = 'no'\n",
    "= =\n",
    "x = " + "[" * 3_000 + "\n",
    "n = " + "9" * 5_000 + "\n",
    "\x00",
    "ignore-unknown = 'yes'\n",
)
"""Some that are read, and more that are not."""


def tangled(chance: Random, objects: list[Plain]) -> list[Plain]:
    """Copies of the objects, of which two have one uid, or own each other, or one itself."""
    objects = [each for each in copy.deepcopy(objects) if isinstance(each.get("metadata"), dict)]
    if not objects:
        return objects
    for _ in range(chance.randint(1, 3)):
        one, other = chance.choice(objects), chance.choice(objects)
        uid = chance.choice(["u-1", "", one["metadata"].get("uid") or "u-2"])
        chance.choice((_one_uid, _owning, _owning_each_other))(one, other, uid)
    return objects


def _one_uid(one: Plain, other: Plain, uid: str) -> None:
    one["metadata"]["uid"] = other["metadata"]["uid"] = uid


def _owning(one: Plain, other: Plain, uid: str) -> None:
    other["metadata"].setdefault("uid", uid)
    owner = {"apiVersion": other.get("apiVersion"), "kind": other.get("kind"), "name": other["metadata"].get("name")}
    one["metadata"]["ownerReferences"] = [{**owner, "uid": other["metadata"]["uid"], "controller": True}]


def _owning_each_other(one: Plain, other: Plain, uid: str) -> None:
    _owning(one, other, uid)
    _owning(other, one, f"{uid}-other")


def by_kind(objects: list[Plain]) -> list[list[Plain]]:
    """The objects of each kind, in their order: in which order the kinds are read has to change nothing."""
    kinds: dict[str, list[Plain]] = {}
    for each in objects:
        kinds.setdefault(str(each.get("kind")), []).append(each)
    return list(kinds.values())


def text_of(objects: list[Plain]) -> str:
    """Objects as a file."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def happening(chance: Random, objects: list[Plain]) -> list[Plain]:
    """Events: some of the objects come, go, and are changed, in the order of their times. Of one of four lists one
    event is broken."""
    events: list[Plain] = []
    now = 0.0
    for each in chance.sample(objects, min(len(objects), 6)):
        now += chance.choice((0, 1, 60.5))
        events.append({"time": now, **_event(chance, each)})
    if events and chance.random() < 0.25:
        at = chance.randrange(len(events))
        events[at] = _changed(chance, events[at])
    return events


def _event(chance: Random, each: Plain) -> Plain:
    metadata, kind = each.get("metadata"), each.get("kind")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    runs = {"runs": chance.choice((1, 60, 0.5))} if kind == "Pod" and chance.random() < 0.7 else {}
    if kind == "Node" and chance.random() < 0.4:
        return {"drain": name}
    changed = {"spec": chance.choice(({}, None, each.get("spec")))}
    return chance.choice(
        ({"create": each, **runs}, {"delete": [kind, name]}, {"patch": [kind, name, changed]}, {"create": each, **runs})
    )


def as_rows(chance: Random, objects: list[Plain], manifest: str) -> str:
    """Events as a CSV file: pods are created like those of the objects or from the manifest, deleted, and nodes are
    drained. Of one of three files a cell or the header is broken."""
    rows = [["time", "action", "object", "name", "count", "duration"]]
    now = 0.0
    for each in chance.sample(objects, min(len(objects), 6)):
        now += chance.choice((0, 1, 60.5))
        rows.append([f"{now:g}", *_row(chance, each, manifest)])
    if chance.random() < 0.34:
        row = chance.choice(rows)
        row[chance.randrange(len(row))] = chance.choice(
            (
                "",
                "-1",
                "nan",
                "1e999",
                "9" * 400,
                "x/y/z/w",
                "node/",
                "\x00",
                '"',
                "a,b",
                "../outside.yaml",
                "\u202e",
                "0.5",
            )
        )
    return "\n".join(",".join(row) for row in rows) + "\n"


def _row(chance: Random, each: Plain, manifest: str) -> list[str]:
    metadata, kind = each.get("metadata"), str(each.get("kind"))
    metadata = metadata if isinstance(metadata, dict) else {}
    named = "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part))
    count, runs = chance.choice(("", "0", "1", "3")), chance.choice(("", "1", "0.5", "60"))
    if kind == "Node" and chance.random() < 0.4:
        return ["drain", chance.choice((f"node/{named}", named)), "", "", ""]
    if chance.random() < 0.2:
        return ["delete", f"{kind}/{named}", "", "", ""]
    if kind not in ("Pod", "Deployment", "StatefulSet", "Job", "DaemonSet") or chance.random() < 0.3:
        return ["create", manifest, chance.choice(("", "made")), count, runs if chance.random() < 0.1 else ""]
    return ["create", f"{kind}/{named}", chance.choice(("", "made")), count, runs]


# -- answers -----------------------------------------------------------------------------------------------------------


def answer(chance: Random, honest: Callable[[], Any]) -> bytes:
    """What a server says: the truth, the truth with something broken, or something else."""
    kind = chance.random()
    if kind < 0.3:
        return json.dumps(honest()).encode()
    if kind < 0.7:
        return json.dumps(_changed(chance, honest())).encode()
    if kind < 0.8:
        whole = json.dumps(honest()).encode()
        return whole[: chance.randrange(len(whole) + 1)]
    return chance.choice((b"", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"items":[{}]}', b"404 not found"))


def _changed(chance: Random, value: Any) -> Any:
    """The value with one part of it replaced by something of another kind."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(sorted(value))
        return {**value, key: _changed(chance, value[key])}
    if isinstance(value, list) and value and chance.random() < 0.85:
        at = chance.randrange(len(value))
        return [*value[:at], _changed(chance, value[at]), *value[at + 1 :]]
    return chance.choice([None, True, -1, 2**70, 1.5, "", "x", [], {}, [None], {"": ""}])
