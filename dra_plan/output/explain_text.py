"""`explain` as text for people: short lines, the cause first, the numbers after."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.allocator import Outcome
from dra_plan.documents.explanation import AbsentName, ExplainedClaimSet, ExplanationDocument, NodeStory
from dra_plan.documents.leading import LeadingReason
from dra_plan.documents.reasons import BlockingRequest

from . import (
    alike_sets,
    allocation_footer,
    exclusions,
    explain_changes,
    explain_collisions,
    explain_faults,
    explain_layout,
    explain_removed,
    leading_words,
    text,
)
from . import explain_words as words
from .columns import Screen
from .explain_choices import choice_lines
from .explain_device import device_lines
from .explain_funnel import request_lines
from .explain_layout import Lines, indented
from .explain_moves import room_lines
from .explain_owners import unplanned_lines
from .explain_podgroup import group_lines
from .explain_words import counted, listed

MOST_STORIES = 12
"""Stories of one claim set that are told; the rest is counted."""


SUMMED = 4
"""Stories that are summed up first."""

NOTHING = "Nothing to explain: the input has no pending claim, and no pod or workload that uses one."


def render(document: ExplanationDocument, screen: Screen | None) -> str:
    """The whole explanation; on a terminal wrapped, with headings in bold."""
    groups = alike_sets.explained_alike(document.claim_sets)
    blocks = [list(set_lines(group[0], alike_sets.names(group))) for group in groups]
    blocks += [list(unplanned_lines(owner)) for owner in document.unplanned or ()]
    blocks += [list(group_lines(group)) for group in document.pod_groups or ()]
    blocks += [list(room_lines(room)) for room in document.moves or ()]
    blocks += [list(device_lines(story)) for story in document.devices]
    if not blocks:
        blocks = [[NOTHING]]
    return explain_layout.render(
        [*blocks, [*allocation_footer.explained(document.claim_sets), text.target(document)]], screen
    )


def set_lines(of: ExplainedClaimSet, name: str = "") -> Lines:
    """What is told of one claim set, or of several by their names."""
    yield headline(of, name)
    if of.fault is not None:
        yield from indented(explain_faults.fault(of.fault))
    yield from told_lines(of.absent, of.leading, of.stories)
    if of.excluded:
        yield ""
        yield from exclusions.lines(of)
    yield from _suggestion_lines(of)


def told_lines(absent: list[AbsentName], leading: list[LeadingReason], stories: list[NodeStory]) -> Lines:
    """What no device has, a summary where there is much to tell, then the stories, each after an empty line."""
    yield from (f"  {words.absent(found)}" for found in absent)
    if is_long(leading, stories):
        yield f"  {leading_words.summary(leading)}"
    told, rest = shown(stories)
    for story in told:
        yield ""
        yield heading(story)
        yield from indented(story_lines(story))
    if rest:
        yield ""
        yield rest


def is_long(leading: list[LeadingReason], stories: list[NodeStory]) -> bool:
    """Whether a summary helps: of several reasons on many nodes."""
    return len(leading) > 1 and (len(stories) >= SUMMED or sum(len(story.nodes) for story in stories) > MOST_STORIES)


def shown(stories: list[NodeStory]) -> tuple[list[NodeStory], str]:
    """The stories to tell, those of most nodes if there are too many, and a sentence about the others."""
    if len(stories) <= MOST_STORIES:
        return stories, ""
    chosen = sorted(range(len(stories)), key=lambda at: -len(stories[at].nodes))[:MOST_STORIES]
    rest = [story for at, story in enumerate(stories) if at not in chosen]
    others = counted(sum(len(story.nodes) for story in rest), "more node")
    told = counted(len(rest), "other story", "other stories")
    return [stories[at] for at in sorted(chosen)], f"{others} with {told}: -o json has them all, --node NODE tells one."


def headline(of: ExplainedClaimSet, name: str = "") -> str:
    """Who, and whether it fits."""
    name = name or text.claim_set_name(of)
    fitting = of.fitting_nodes
    total = sum(len(story.nodes) for story in of.stories) + sum(len(each.nodes) for each in of.excluded)
    if of.outcome is Outcome.FITS:
        return f"{name}: fits on {len(fitting)} of {counted(total, 'node')}."
    if of.outcome is Outcome.ERROR:
        also = f" It would fit on {listed(fitting)}." if fitting else ""
        return f"{name}: an error ends the attempt on all nodes.{also}"
    if of.outcome is Outcome.UNDECIDED:
        return f"{name}: undecided within the step budget."
    if total == 0:
        return f"{name}: does not fit: there is no node."
    if not of.stories and of.excluded:
        return f"{name}: does not fit: the scheduler's rules keep it off {_all(total)}."
    return f"{name}: does not fit on any of {counted(total, 'node')}." if total > 1 else f"{name}: does not fit."


def _all(total: int) -> str:
    return "the node" if total == 1 else f"all {total} nodes"


def heading(story: NodeStory) -> str:
    """The nodes and what becomes of the claims there."""
    has_numbers = story.devices or story.choices
    if story.outcome is Outcome.ERROR:
        has_numbers = story.fault is not None and story.fault.device is not None
    told = f" Example: {story.nodes[0]}:" if len(story.nodes) > 1 and has_numbers else ""
    return f"{nodes(story)}: {_OUTCOMES[story.outcome]}{told}"


def nodes(story: NodeStory) -> str:
    """`node-1`, or `node-1 and 36 nodes like it`."""
    first, *rest = story.nodes
    if not rest:
        return first
    if len(rest) <= words.NAMES:
        return listed(story.nodes, words.NAMES + 1)
    return f"{first} and {len(rest)} nodes like it"


_OUTCOMES = {
    Outcome.FITS: "fits.",
    Outcome.DOES_NOT_FIT: "does not fit.",
    Outcome.NODE_ERROR: "rejected with an error.",
    Outcome.ERROR: "error.",
    Outcome.UNDECIDED: "undecided.",
}


def story_lines(story: NodeStory) -> Lines:
    """What is told of a story's nodes: the cause first."""
    if story.outcome is Outcome.FITS:
        yield from choice_lines(story.choices)
        return
    yield from cause_lines(story)
    if story.outcome is not Outcome.ERROR and story.devices != 0:
        yield from request_lines(story)
        yield from blocking_lines(story)
        yield from explain_collisions.slot_lines(story.counter_sets)


def cause_lines(story: NodeStory) -> Lines:
    """What stops the claims before requests and their devices are looked at: defects, errors, pools."""
    if story.defect is not None:
        yield from words.defect(story.defect)
    if story.fault is not None:
        yield from explain_faults.fault(story.fault)
    if story.outcome is Outcome.UNDECIDED:
        limit = max(story.steps - 1, 0)  # the next was too many
        yield f"No answer within {counted(limit, 'search step')} (--max-steps)."
    for claim in story.claims_elsewhere:
        yield f"Claim {words.claim(claim)} is allocated already, and its devices can't be reached from here."
    if story.outcome is Outcome.ERROR:
        if story.fault is not None and story.fault.code in explain_faults.ABOUT_POOLS:
            yield from _pool_lines(story)
        yield from unpublished(story)
        return
    yield from _pool_lines(story)
    if story.devices == 0:
        yield "No resource slice offers a device to this node."


def _pool_lines(story: NodeStory) -> Iterator[str]:
    return (f"{words.capital(words.unusable_pool(pool))}." for pool in story.pools)


def unpublished(story: NodeStory) -> Iterator[str]:
    """What a selector that fails reads, and no device has."""
    told = [
        words.ended(words.capital(line, item.name))
        for request in story.requests
        for removed in request.removed
        if removed.code == "selector-error"
        for finding in removed.selectors or ()
        for item in finding.found
        if item.problem is not None
        for line in explain_removed.found(item)
    ]
    yield from dict.fromkeys(told)


def blocking_lines(story: NodeStory) -> Lines:
    """The blocking set."""
    blocking = story.blocking_set
    if blocking is None:
        return
    if not blocking.elements:
        yield "Each request alone could be met, all together can't; which of them collide was not found out."
        return
    one = sum(isinstance(element, BlockingRequest) for element in blocking.elements) == 1
    yield (
        "Enough devices pass every check, but one by one only. These can't be met together:"
        if one
        else "Each request alone could be met, but not these together:"
    )
    yield from indented(explain_collisions.lines(blocking))
    if blocking.proven:
        yield "Without any one of them, the others could."
    else:
        yield "Not proven to be the fewest: the search for them was given up."


def _suggestion_lines(of: ExplainedClaimSet) -> Iterator[str]:
    if not has_suggestions(of):
        return
    yield ""
    if not of.suggestions:
        yield in_vain(of)
        return
    yield "What would make it fit (each was tried):"
    for number, suggestion in enumerate(of.suggestions, start=1):
        yield f"  {number}. {explain_changes.suggestion(suggestion)}"


def has_suggestions(of: ExplainedClaimSet) -> bool:
    """Whether there is anything to say of suggestions, if only that none was found."""
    if of.outcome is Outcome.UNDECIDED:
        return bool(of.suggestions)
    return of.outcome is not Outcome.FITS and bool(of.stories or of.suggestions)


def in_vain(of: ExplainedClaimSet) -> str:
    """That nothing helped."""
    tried = of.tried
    room = [each for each in of.excluded if each.has_room]
    if tried == 0 and room:
        causes = exclusions.plugins(one for each in room for one in each.excluded_by)
        nodes = listed([node for each in room for node in each.nodes])
        return f"No change was found to try. Where there is room ({nodes}), what is in the way is {causes}."
    if tried == 0:
        return "There is nothing to try that would make it fit."
    if tried == 1:
        return "One change was tried; it does not make it fit."
    return f"{tried} changes were tried, alone and two together; none makes it fit."
