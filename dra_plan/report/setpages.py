"""Pages about claim sets: those of `explain` and `allocate`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from dra_plan.allocator import Outcome, View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.allocation import ClaimSetSummary, PlannedClaimSet
from dra_plan.documents.explanation import ExplainedClaimSet
from dra_plan.output import allocation_table, default_format, leading_words, text
from dra_plan.output import explain_words as words
from dra_plan.output.explain_device import device_lines
from dra_plan.output.explain_owners import unplanned_lines
from dra_plan.output.explain_podgroup import group_lines
from dra_plan.planner.allocation import AllocationPlan
from dra_plan.planner.explanation import Explanation
from dra_plan.planner.onnodes import on_nodes

from . import picks, told
from .content import Page
from .movepages import fill_moves
from .picks import Pick


def fill_explanation(made: Page, answer: Explanation, inventory: Inventory | None, view: View | None) -> None:
    """The claim sets with their stories; then devices, owners and groups that were named."""
    document = answer.document
    names = [text.claim_set_name(one) for one in document.claim_sets]
    made.headline = _fits(document.claim_sets)
    made.blocks = told.blocks(default_format.text(document).split("\n"))
    made.articles = [
        told.explained(one, f"pick-{number}", name)
        for number, (one, name) in enumerate(zip(document.claim_sets, names, strict=True))
    ]
    explained = [
        (one.name, one.tone, one.word, _line(one, each))
        for one, each in zip(made.articles, document.claim_sets, strict=True)
    ]
    _pick_sets(made, answer.plan, explained, inventory, view)
    for number, story in enumerate(document.devices):
        made.articles.append(_plain_article(f"device-{number}", str(story.device), "device", device_lines(story)))
    for number, owner in enumerate(document.unplanned or ()):
        name = text.named(owner.owner)
        made.articles.append(_plain_article(f"owner-{number}", name, owner.state, unplanned_lines(owner)))
    for number, group in enumerate(document.pod_groups or ()):
        name = f"podgroup/{group.namespace}/{group.name}"
        made.articles.append(_plain_article(f"group-{number}", name, group.state, group_lines(group)))
    if document.moves:
        fill_moves(made, document.moves, view)


def _line(one: told.Article, of: PlannedClaimSet | ExplainedClaimSet) -> str:
    """In short: where it fits, or what is in the way."""
    if one.tone != picks.GOOD and of.leading:
        return leading_words.cell(of.leading[0])
    return one.sentence.removesuffix(".")


def _plain_article(key: str, name: str, word: str, said: Iterable[str]) -> told.Article:
    first, *rest = said
    return told.Article(key, name, "other", word, words.capital(first.removeprefix(f"{name}: ")), told.lines(rest))


def fill_allocation(made: Page, answer: AllocationPlan, inventory: Inventory | None, view: View | None) -> None:
    """The claim sets, and where each fits."""
    document = answer.document
    made.headline = _fits(document.claim_sets)
    for number, one in enumerate(document.claim_sets):
        alone = structs.replace(document, claim_sets=[one])
        tone = {Outcome.FITS: picks.GOOD, Outcome.UNDECIDED: picks.OTHER}.get(one.outcome, picks.BAD)
        word = told.WORDS[one.outcome]
        sentence = f"Fits on {len(one.fitting_nodes)} of {words.counted(len(one.nodes), 'node')}."
        parts = allocation_table.table(alone, None)[2:-1]  # without the row and the count that the sentence tells
        article = told.Article(f"pick-{number}", text.claim_set_name(one), tone, word, sentence)
        article.summary = told.lines(_where(one))
        article.blocks = told.blocks(told.without(parts, "CLAIM SET"))
        made.articles.append(article)
    explained = [
        (one.name, one.tone, one.word, _line(one, each))
        for one, each in zip(made.articles, document.claim_sets, strict=True)
    ]
    _pick_sets(made, answer, explained, inventory, view)


def _where(of: PlannedClaimSet) -> Iterator[str]:
    """The nodes on which it fits, or what is in the way."""
    if of.fitting_nodes:
        yield f"On {text.node_list(of.fitting_nodes)}."
    elif in_the_way := allocation_table.in_the_way(of):
        yield f"In the way: {in_the_way}."


_HEADLINES = {
    Outcome.DOES_NOT_FIT: "fits on no node",
    Outcome.ERROR: "gets no node: an error ends the attempt",
    Outcome.UNDECIDED: "is undecided",
}
"""What becomes of a claim set that does not fit."""


def _fits(sets: Sequence[ClaimSetSummary]) -> str:
    failing = [one for one in sets if one.outcome is not Outcome.FITS]
    if not sets:
        return "Nothing waits for devices"
    if not failing:
        return "It fits" if len(sets) == 1 else f"All {len(sets)} claim sets fit, each on its own"
    undecided = all(one.outcome is Outcome.UNDECIDED for one in failing)
    others = len(sets) - len(failing)
    if len(failing) == 1:
        said = f"{text.claim_set_name(failing[0])} {_HEADLINES[failing[0].outcome]}"
        return f"{said}; {words.counted(others, 'other claim set')} fit{'s' if others == 1 else ''}" if others else said
    verb = "are undecided" if undecided else "fit on no node"
    return f"{len(failing)} of {len(sets)} claim sets {verb}"


def _pick_sets(
    made: Page,
    plan: AllocationPlan,
    explained: list[tuple[str, str, str, str]],
    inventory: Inventory | None,
    view: View | None,
) -> None:
    if not made.scenes or inventory is None or view is None:
        answers: list[dict[str, Any]] = [{} for _ in explained]
    else:
        answers = on_nodes(plan, inventory, view)
    for number, ((name, tone, word, line), answer) in enumerate(zip(explained, answers, strict=True)):
        marks = [picks.marks(answer, drawn) for drawn in made.scenes[:1]]
        marks += [{} for _ in made.scenes[1:]]
        made.picks.append(Pick(f"pick-{number}", name, tone, word, line, marks))
