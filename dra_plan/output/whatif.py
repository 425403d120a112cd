"""What was changed about the cluster, in words: the sentence above the release line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.documents.base import AppliedEdit


def sentence(edits: Sequence[AppliedEdit]) -> str:
    """`What if: ...`, or "" if nothing was changed."""
    return f"What if: {'; '.join(_words(edit) for edit in edits)}." if edits else ""


def _words(edit: AppliedEdit) -> str:
    match edit.edit:
        case "Cordon":
            told = f"{edit.node} cordoned"
        case "Drain":
            told = f"{edit.node} drained"
        case "AddNodes":
            nodes = "1 node" if edit.count == 1 else f"{edit.count} nodes"
            told = f"{nodes} added like {edit.like}"
        case "Evict" | "Bind":
            name = edit.object.name if edit.object else ""
            told = f"pod/{name} on {edit.node}" if edit.node else f"pod/{name} evicted"
        case _:
            told = f"without {edit.object.kind.lower()}/{edit.object.name}" if edit.object else ""
    effects = ", ".join(_effects(edit))
    return f"{told} ({effects})" if effects else told


def _effects(edit: AppliedEdit) -> Iterator[str]:
    if edit.pending:
        yield f"{_count(len(edit.pending), 'pod')} pending again"
    kinds = [item.kind.lower() for item in edit.gone]
    for kind in dict.fromkeys(kinds):
        yield f"{_count(kinds.count(kind), kind)} gone"
    if edit.deallocated:
        yield f"{_count(len(edit.deallocated), 'claim')} free"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
