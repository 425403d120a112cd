"""`explain -o markdown`: the same sentences, to paste into an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dra_plan import shown
from dra_plan.allocator import Outcome
from dra_plan.documents.explanation import ExplainedClaimSet, ExplanationDocument, NodeStory, StoryRequest

from . import (
    alike_sets,
    allocation_footer,
    exclusions,
    explain_changes,
    explain_collisions,
    explain_faults,
    explain_removed,
    explain_text,
    leading_words,
    text,
)
from . import explain_words as words
from .columns import Screen
from .explain_choices import choice_lines
from .explain_device import device_lines
from .explain_funnel import alike, devices_spread, failing, finding_lines, left_spread, removed_spread
from .explain_layout import Verbatim
from .explain_moves import room_lines
from .explain_owners import unplanned_lines
from .explain_podgroup import group_lines


def render(document: ExplanationDocument, _screen: Screen | None) -> str:
    """The whole explanation."""
    groups = alike_sets.explained_alike(document.claim_sets)
    blocks = [_block(_set_lines(group[0], alike_sets.names(group))) for group in groups]
    blocks += [_block(_headed(unplanned_lines(owner))) for owner in document.unplanned or ()]
    blocks += [_block(_headed(group_lines(group))) for group in document.pod_groups or ()]
    blocks += [_block(_headed(room_lines(room))) for room in document.moves or ()]
    blocks += [_block(["```", *device_lines(story), "```"]) for story in document.devices]
    if not blocks:
        blocks = [explain_text.NOTHING]
    blocks += [_block([escaped(line)]) for line in allocation_footer.explained(document.claim_sets)]
    whole = "\n\n".join([*blocks, f"_{text.target(document)}_"])
    return re.sub(r"\n{3,}", "\n\n", whole) + "\n"


def _block(lines: Iterable[str]) -> str:
    return "\n".join(map(shown.line, lines))


def _set_lines(of: ExplainedClaimSet, name: str) -> Iterator[str]:
    yield f"### {escaped(explain_text.headline(of, name))}"
    if of.fault is not None:
        yield ""
        yield from _items(explain_faults.fault(of.fault))
    if of.absent:
        yield ""
        yield from _items(map(words.absent, of.absent))
    if explain_text.is_long(of.leading, of.stories):
        yield ""
        yield from _items([leading_words.summary(of.leading)])
    told, rest = explain_text.shown(of.stories)
    for story in told:
        yield ""
        yield from _story_lines(story)
    if rest:
        yield ""
        yield escaped(rest)
    if of.excluded:
        yield ""
        yield from _items(exclusions.lines(of))
    yield from _suggestion_lines(of)


def _headed(lines: Iterable[str]) -> Iterator[str]:
    headline, *others = lines
    yield f"### {escaped(headline)}"
    yield ""
    yield from _items(line.strip() for line in others)


def _suggestion_lines(of: ExplainedClaimSet) -> Iterator[str]:
    if not explain_text.has_suggestions(of):
        return
    yield ""
    if not of.suggestions:
        yield explain_text.in_vain(of)
        return
    yield "**What would make it fit** (each was tried):"
    yield ""
    for number, suggestion in enumerate(of.suggestions, start=1):
        yield f"{number}. {escaped(explain_changes.suggestion(suggestion))}"


def _story_lines(story: NodeStory) -> Iterator[str]:
    yield f"**{escaped(explain_text.heading(story))}**"
    yield ""
    if story.outcome is Outcome.FITS:
        yield from _items(choice_lines(story.choices))
        return
    yield from _items(explain_text.cause_lines(story))
    yield ""
    if story.outcome is Outcome.ERROR or story.devices == 0:
        return
    for request, others in alike(failing(story)):
        yield from _table(request, others)
    yield from _items(explain_text.blocking_lines(story))
    yield from _items(explain_collisions.slot_lines(story.counter_sets))


def _table(of: StoryRequest, others: list[StoryRequest]) -> Iterator[str]:
    also = f" (and {words.requests(others)})" if others else ""
    yield f"{escaped(words.capital(words.problem(of)) + also)}:"
    yield ""
    yield "| devices | |"
    yield "|---:|---|"
    yield f"| {of.devices} | on the node{devices_spread(of)} |"
    for removed in of.removed:
        said = [explain_removed.removed(removed) + removed_spread(removed), *finding_lines(removed)]
        yield f"| -{removed.count} | {'<br>'.join(escaped(line) for line in said)} |"
    yield f"| {of.left} | left{left_spread(of)} |"
    yield ""


def _items(lines: Iterable[str]) -> Iterator[str]:
    """Sentences as list items, nested as they are indented; expressions as blocks of code."""
    in_code = False
    for line in lines:
        is_code = isinstance(line, Verbatim)
        if is_code != in_code:
            yield "  ```"
            in_code = is_code
        if is_code:
            yield f"  {line[4:]}"
            continue
        said = line.lstrip()
        depth = (len(line) - len(said)) // 2 * 2
        yield f"{' ' * depth}- {escaped(said.removeprefix('- '))}"
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
