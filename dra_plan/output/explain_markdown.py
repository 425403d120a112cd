"""`explain -o markdown`: the same sentences, to paste into an issue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import explain_changes, explain_faults, text
from . import explain_words as words
from .columns import Screen
from .explain_device import device_lines
from .explain_text import alike, blocking_lines, choice_lines, failing, finding_lines, headline, nodes, unpublished
from .notices import printable

Data = dict[str, Any]


def render(document: Data, _screen: Screen | None) -> str:
    """The whole explanation."""
    blocks = ["\n".join(_set_lines(claim_set)) for claim_set in document["claimSets"]]
    blocks += ["\n".join(["```", *device_lines(story), "```"]) for story in document["devices"]]
    return printable("\n\n".join([*blocks, f"_{text.target(document)}_"])) + "\n"


def _set_lines(of: Data) -> Iterator[str]:
    total = sum(len(story["nodes"]) for story in of["stories"])
    yield f"### {escaped(headline(of, total))}"
    if of["fault"] is not None:
        yield ""
        yield from _prose(explain_faults.fault(of["fault"]))
    for story in of["stories"]:
        yield ""
        yield from _story_lines(story)
    if of["suggestions"]:
        yield ""
        yield "**What would make it fit** (each was tried):"
        yield ""
        for number, suggestion in enumerate(of["suggestions"], start=1):
            changes = explain_changes.suggestion(suggestion)
            yield f"{number}. {escaped(changes)} (then it fits on {escaped(suggestion['node'])})"


def _story_lines(story: Data) -> Iterator[str]:
    yield f"**{escaped(nodes(story))}**: {story['outcome']}"
    yield ""
    if story["outcome"] == "Fits":
        yield from (f"- {escaped(line.strip())}" for choice in story["choices"] for line in choice_lines(choice))
        return
    if story["defect"] is not None:
        yield from _prose(words.defect(story["defect"]))
    if story["fault"] is not None:
        yield from _prose(explain_faults.fault(story["fault"]))
    for claim in story["claimsElsewhere"]:
        yield f"- claim {escaped(words.claim(claim))} is allocated already, for other nodes"
    if story["outcome"] == "Error":
        yield from _prose(list(unpublished(story)))
        return
    if story["devices"] == 0:
        yield "- no resource slice offers a device to this node"
        return
    yield from (f"- {escaped(words.unusable_pool(pool))}" for pool in story["pools"])
    for request, others in alike(failing(story)):
        yield from _table(request, others)
    yield from _prose(list(blocking_lines(story)))


def _table(of: Data, others: list[Data]) -> Iterator[str]:
    yield ""
    also = f" (and {words.requests(others)})" if others else ""
    yield f"{escaped(words.problem(of) + also)}:"
    yield ""
    yield "| devices | |"
    yield "|---:|---|"
    yield f"| {of['devices']} | on the node |"
    for removed in of["removed"]:
        said = [words.removed(removed), *finding_lines(removed)]
        yield f"| -{removed['count']} | {'<br>'.join(escaped(line) for line in said)} |"
    yield f"| {of['left']} | left |"


def _prose(lines: list[str]) -> Iterator[str]:
    """Sentences as list items, indented lines as blocks of code."""
    in_code = False
    for line in lines:
        is_code = line.startswith("    ")
        if is_code != in_code:
            yield "  ```"
            in_code = is_code
        yield f"  {line[4:]}" if is_code else f"- {escaped(line.strip().removeprefix('- '))}"
    if in_code:
        yield "  ```"


def escaped(line: str) -> str:
    """Text that markdown takes as it stands; what is between backticks stays code."""
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return _escaped(line)
    return "`".join(part.replace("|", "\\|") if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_|<>[]#" else char for char in text)
