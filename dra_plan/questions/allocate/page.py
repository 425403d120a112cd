"""The page of `allocate`: the claim sets, and the nodes on which each fits."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.claim_sets import PlannedClaimSet
from dra_plan.page import picks, told
from dra_plan.page.claim_sets import _TONES, brief, headline, pick_sets
from dra_plan.page.content import Page
from dra_plan.page.pages import begin, drawn
from dra_plan.questions.allocate import text as allocation_table
from dra_plan.questions.allocate.answer import AllocationPlan
from dra_plan.questions.allocate.text import FORMATS
from dra_plan.text import words
from dra_plan.text.naming import claim_set_name, node_list


def page(answer: AllocationPlan, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `allocate`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "allocate", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_allocation(made, answer, inventory, view)
    return made


def fill_allocation(made: Page, answer: AllocationPlan, inventory: Inventory | None, view: View | None) -> None:
    """Fill the page with the claim sets, each with the nodes on which it fits."""
    document = answer.document
    made.headline = headline(document.claim_sets, max((len(one.nodes) for one in document.claim_sets), default=0))
    for number, one in enumerate(document.claim_sets):
        alone = structs.replace(document, claim_sets=[one], refusals=UNSET, competition=UNSET)
        tone = _TONES.get(one.outcome, picks.BAD)
        word = told.WORDS[one.outcome]
        sentence = f"Fits on {len(one.fitting_nodes)} of {words.counted(len(one.nodes), 'node')}."
        parts = allocation_table.table(alone, None)[2:-1]  # without the row and the count that the sentence contains
        article = told.Article(f"pick-{number}", claim_set_name(one), tone, word, sentence)
        article.summary = told.lines(_where(one))
        article.blocks = told.blocks(told.without(parts, "WORKLOAD"))
        made.articles.append(article)
    explained = [
        (one.name, one.tone, one.word, brief(one, each))
        for one, each in zip(made.articles, document.claim_sets, strict=True)
    ]
    pick_sets(made, answer.claim_sets, explained, inventory, view)


def _where(of: PlannedClaimSet) -> Iterator[str]:
    """Yield the nodes on which it fits, or the obstacle."""
    if of.fitting_nodes:
        yield f"On {node_list(of.fitting_nodes)}."
    elif in_the_way := allocation_table.in_the_way(of):
        yield f"Why not: {in_the_way}."
