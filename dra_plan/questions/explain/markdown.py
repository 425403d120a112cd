"""`explain -o markdown`: the same sentences as the text, for an issue. Details that the text omits are collapsible."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from dra_plan import shown
from dra_plan.allocator import Outcome
from dra_plan.documents.claim_sets import ExplainedClaimSet
from dra_plan.documents.stories import NodeStory, StoryRequest
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.questions.explain.autoscaler import autoscaler_lines
from dra_plan.questions.explain.blocks import OwnerBlock, is_lone_claim, owner_blocks
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.questions.explain.lines import group_lines, nothing, room_lines, unplanned_lines
from dra_plan.questions.explain.owners import (
    ANEW,
    BRIEF,
    MOST_BLOCKS,
    MOST_HELP,
    ONE_MORE,
    Telling,
    edits_generated,
    explained,
    help_heading,
    is_told_by_what_it_has,
    nothing_helps,
    one_line,
    tells_nodes,
    told_suggestions,
)
from dra_plan.text import devices, obstacles, refusals, words
from dra_plan.text.columns import Verbatim
from dra_plan.text.devices import (
    alike,
    choice_lines,
    device_lines,
    devices_spread,
    failing,
    finding_lines,
    left_spread,
    removed_spread,
)
from dra_plan.text.markdown import escaped
from dra_plan.text.naming import target
from dra_plan.text.stories import (
    blocking_lines,
    cause_lines,
    heading,
    headline,
    is_long,
    lines,
    names,
    stories_of,
    who,
    worth_telling,
)
from dra_plan.text.verdicts import UNTOLD, eviction_lines, verdict_lines


def markdown(document: ExplanationDocument, *, telling: Telling = BRIEF) -> str:
    """Return the whole explanation as Markdown. Details that `telling` omits are collapsible."""
    owners, folded = owner_blocks(document), not telling.verbose
    told = [list(_owner_lines(block, folded=folded)) for block in owners]
    if len(owners) > MOST_BLOCKS and not telling.details:
        told = [list(_unfolding(one_line(owner), lines)) for owner, lines in zip(owners, told, strict=True)]
    blocks = list(map(_block, told))
    blocks += [_block(_headed(group_lines(group))) for group in document.pod_groups or ()]
    blocks += [_block(_headed(room_lines(room))) for room in document.moves or ()]
    blocks += [_block(["```", *device_lines(story), "```"]) for story in document.devices]
    blocks += [_block([escaped(line)]) for line in autoscaler_lines(document)]
    refused = [_block(["```", *part.lines, "```"]) for part in refusals.paragraphs(document.refusals)]
    blocks = [*refused, *blocks]
    if not blocks:
        blocks = [nothing(document.not_pending or 0)]
    blocks += [_block([escaped(line)]) for line in explained(document)]
    whole = "\n\n".join([*blocks, f"_{target(document)}_"])
    return re.sub(r"\n{3,}", "\n\n", whole) + "\n"


def _block(lines: Iterable[str]) -> str:
    return "\n".join(map(shown.line, lines))


def _unfolding(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield collapsible lines; the summary is HTML, in which Markdown does not apply."""
    shown_safely = html.escape(summary).replace("@", "&#64;").replace("://", ":&#47;/").replace("www.", "www&#46;")
    yield f"<details><summary>{shown_safely}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _owner_lines(block: OwnerBlock, *, folded: bool) -> Iterator[str]:
    """Yield the same as `owners.owner_lines`."""
    if not block.verdicts or is_lone_claim(block):
        yield f"### {escaped(headline(block.claim_sets[0], names(block.claim_sets)))}"
        yield from _device_lines(block.claim_sets[0], None, folded=folded)
        return
    verdict, is_told = block.verdicts[0], is_told_by_what_it_has(block)
    if not is_told:
        yield from _headed(verdict_lines(block.verdicts, next(iter(block.claim_sets), None)))
    if verdict.verdict == "Refused" and verdict.suggestions:
        yield from _suggestion_lines(None, verdict, folded=folded)
        return
    if verdict.verdict == "Refused":
        for claim_set in block.claim_sets[:1]:
            yield from _suggestion_lines(claim_set, None, folded=folded) if claim_set.suggestions else ()
        return
    if block.unplanned is not None:
        told = unplanned_lines(block.unplanned, headed=is_told, lacking=verdict.lacking)
        yield from _headed(told) if is_told else _items(line.strip() for line in told)
    yield from _items(eviction_lines(verdict))
    if not block.claim_sets:
        yield from _suggestion_lines(None, verdict, folded=folded)
    for claim_set in block.claim_sets[:1]:
        yield from _items([ONE_MORE.strip()] if verdict.verdict in UNTOLD else [])
        yield from _device_lines(claim_set, verdict, folded=folded)


def _device_lines(of: ExplainedClaimSet, verdict: OwnerVerdict | None, *, folded: bool) -> Iterator[str]:
    if of.fault is not None:
        yield ""
        yield from _items(obstacles.fault(of.fault))
    if of.absent:
        yield ""
        yield from _items(map(words.absent, of.absent))
    stories = stories_of(of, verdict)
    if is_long(of.leading, stories):
        yield ""
        yield from _items([words.summary(of.leading)])
    told, rest = worth_telling(stories)
    first = 0 if tells_nodes(verdict, of) else 1
    kept = first if folded and len(told) > first + 1 else len(told)
    for story in told[:kept]:
        yield ""
        yield from _story_lines(story, who(of))
    if kept < len(told):
        yield ""
        others = words.counted(len(told) - kept, "more kind of nodes", "more kinds of nodes")
        yield from _unfolding(others, (line for story in told[kept:] for line in ("", *_story_lines(story, who(of)))))
    if rest:
        yield ""
        yield escaped(rest)
    if of.excluded and not (verdict is not None and verdict.told_nodes):
        yield ""
        yield from _items(lines(of))
    if verdict is None or verdict.verdict not in ("Unknown", "WouldBind", "WouldPreempt"):
        yield from _suggestion_lines(of, verdict, folded=folded)


def _headed(lines: Iterable[str]) -> Iterator[str]:
    headline, *others = lines
    yield f"### {escaped(headline)}"
    yield ""
    yield from _items(line.strip() for line in others)


def _suggestion_lines(of: ExplainedClaimSet | None, verdict: OwnerVerdict | None, *, folded: bool) -> Iterator[str]:
    told = told_suggestions(of, verdict)
    if told:
        kept = MOST_HELP if folded and len(told) > MOST_HELP + 1 else len(told)
        numbered = [f"{number}. {escaped(line)}" for number, line in enumerate(told, start=1)]
        title, tried = help_heading(told, verdict)
        yield ""
        yield f"**{title}**{tried}:"
        yield ""
        yield from numbered[:kept]
        if kept < len(told):
            yield ""
            yield from _unfolding(f"{len(told) - kept} more", numbered[kept:])
        if edits_generated(of, verdict):
            yield ""
            yield ANEW.strip()
    elif said := nothing_helps(of, verdict):
        yield ""
        yield said


def _story_lines(story: NodeStory, who: str) -> Iterator[str]:
    yield f"**{escaped(heading(story, who))}**"
    yield ""
    if story.outcome is Outcome.FITS:
        yield from _items(choice_lines(story.choices))
        return
    yield from _items(cause_lines(story))
    yield ""
    if story.outcome is Outcome.ERROR or story.devices == 0:
        return
    for request, others in alike(failing(story)):
        yield from _table(request, others)
    yield from _items(blocking_lines(story))
    yield from _items(obstacles.slot_lines(story.counter_sets))


def _table(of: StoryRequest, others: list[StoryRequest]) -> Iterator[str]:
    also = f" (and {words.requests(others)})" if others else ""
    yield f"{escaped(words.capital(words.problem(of)) + also)}:"
    yield ""
    yield "| devices | |"
    yield "|---:|---|"
    yield f"| {of.devices} | on the node{devices_spread(of)} |"
    for removed in of.removed:
        said = [devices.removed(removed) + removed_spread(removed), *finding_lines(removed)]
        yield f"| -{removed.count} | {'<br>'.join(escaped(line) for line in said)} |"
    yield f"| {of.left} | left{left_spread(of)} |"
    yield ""


def _items(lines: Iterable[str]) -> Iterator[str]:
    """Yield sentences as list items, nested by their indentation; expressions as code blocks."""
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
