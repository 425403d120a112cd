"""The nodes that differ between two states in fields that the scheduler reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dra_plan.api.core import Node, Taint
from dra_plan.api.quantity import parse
from dra_plan.api.well_known import UNSCHEDULABLE
from dra_plan.documents.base import AppliedEdit
from dra_plan.questions.diff.document import ChangedField, DifferentNode


def changed_nodes(
    before: Sequence[Node], after: Sequence[Node], edits: Iterable[AppliedEdit]
) -> Iterator[DifferentNode]:
    """Yield the nodes that differ, or that only one state has.

    Nodes changed by `edits` are left out, because the output lists the edits.
    """
    edited = {name for edit in edits for name in _named(edit)}
    old, new = ({node.metadata.name: node for node in nodes} for nodes in (before, after))
    for name in dict.fromkeys((*old, *new)):
        if name in edited:
            continue
        was, now = old.get(name), new.get(name)
        if was is None or now is None:
            yield DifferentNode(name=name, change="New" if was is None else "Gone")
        elif fields := list(_fields(was, now)):
            yield DifferentNode(name=name, change="Changed", fields=fields)


def _named(edit: AppliedEdit) -> Iterator[str]:
    yield edit.node
    yield from edit.added
    if edit.object is not None and edit.object.kind == "Node":
        yield edit.object.name


def _fields(was: Node, now: Node) -> Iterator[ChangedField]:
    if was is now:
        return
    if was.spec.unschedulable is not now.spec.unschedulable:
        yield _field("unschedulable", *(str(node.spec.unschedulable).lower() for node in (was, now)))
    if _ready(was) != _ready(now):
        yield _field("ready", _ready(was), _ready(now))
    taints = [[_taint(each) for each in node.spec.taints if each.key != UNSCHEDULABLE.key] for node in (was, now)]
    yield from (_field("taints", None, each) for each in taints[1] if each not in taints[0])
    yield from (_field("taints", each, None) for each in taints[0] if each not in taints[1])
    yield from _entries("labels", was.metadata.labels, now.metadata.labels)
    yield from _entries(
        "allocatable", *({k: str(v) for k, v in node.status.allocatable.items()} for node in (was, now))
    )


def _field(name: str, before: str | None, after: str | None) -> ChangedField:
    return ChangedField(field=name, before=before, after=after)


def _entries(name: str, was: dict[str, str] | None, now: dict[str, str] | None) -> Iterator[ChangedField]:
    before, after = was or {}, now or {}
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key) and not _are_equal_amounts(name, before.get(key), after.get(key)):
            yield _field(f"{name}.{key}", before.get(key), after.get(key))


def _are_equal_amounts(name: str, before: str | None, after: str | None) -> bool:
    if name != "allocatable" or before is None or after is None:
        return False
    return parse(before) == parse(after)


def _ready(node: Node) -> str | None:
    return next((each.status for each in node.status.conditions if each.type == "Ready"), None)


def _taint(of: Taint) -> str:
    return f"{of.key}{f'={of.value}' if of.value else ''}:{of.effect}"
