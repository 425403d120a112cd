"""What the pages about claim sets share: the headline, and an entry for each claim set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from dra_plan.allocator import Outcome, View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.claim_sets import ExplainedClaimSet, PlannedClaimSet
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.on_nodes import on_nodes
from dra_plan.page.picks import Mark, Pick
from dra_plan.page.scene import Scene
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.text import words
from dra_plan.text.naming import claim_set_name
from dra_plan.text.stories import error_of


def brief(one: told.Article, of: PlannedClaimSet | ExplainedClaimSet) -> str:
    """Return a short form of the article: that the claim set fits, or the main obstacle."""
    if one.tone != picks.GOOD and of.leading:
        return words.cell(of.leading[0])
    return one.sentence.removesuffix(".")


_TONES = {Outcome.FITS: picks.GOOD, Outcome.UNDECIDED: picks.OTHER, Outcome.UNKNOWN: picks.OTHER}


_HEADLINES = {
    Outcome.DOES_NOT_FIT: "fits on no node",
    Outcome.UNDECIDED: "is undecided",
    Outcome.REFUSED: "is rejected",
    Outcome.UNKNOWN: "is not known",
}
"""What the headline says about a claim set that does not fit."""


def headline(sets: Sequence[PlannedClaimSet | ExplainedClaimSet], nodes: int) -> str:
    """Return a sentence that states whether the claim sets fit on any of the nodes.

    A single claim set that does not fit is named. Several are counted. `nodes` is the number of nodes.
    """
    failing = [one for one in sets if one.outcome is not Outcome.FITS]
    if not sets:
        return "Nothing is waiting for devices"
    if not failing:
        if len(sets) == 1:
            [one] = sets
            return f"{claim_set_name(one)} fits on {len(one.fitting_nodes):,} of {words.counted(nodes, 'node')}"
        return f"All {len(sets)} claim sets fit, each on its own"
    undecided = all(one.outcome is Outcome.UNDECIDED for one in failing)
    others = len(sets) - len(failing)
    if len(failing) == 1:
        first = failing[0]
        stops = f"cannot be scheduled: {error_of(first)}"
        said = f"{claim_set_name(first)} {_HEADLINES.get(first.outcome, stops)}"
        return f"{said}; {words.counted(others, 'other claim set')} fit{'s' if others == 1 else ''}" if others else said
    verb = "are undecided" if undecided else "fit on no node"
    return f"{len(failing)} of {len(sets)} claim sets {verb}"


def compared(fitting: Collection[str], nodes: Iterable[str], drawn: Scene) -> dict[int, Mark]:
    """Return the marks for one side of a comparison.

    `fitting` are the nodes on which the claim set fits on this side, and `nodes` those on which the sides differ.
    """
    made: dict[int, Mark] = {}
    for name in dict.fromkeys((*fitting, *nodes)):
        if name in drawn.by_node:
            fits = name in fitting
            made[drawn.by_node[name].number] = Mark(*picks.outcome("Fits" if fits else "DoesNotFit"))
    return made


def pick_sets(
    made: Page,
    plans: Iterable[ClaimSetPlan],
    explained: list[tuple[str, str, str, str]],
    inventory: Inventory | None,
    view: View | None,
) -> None:
    """Add an entry for each claim set to the page, with its result on every node in the picture.

    `explained` contains the name, tone, word and short text of each entry.
    """
    if not made.scenes or inventory is None or view is None:
        answers: list[dict[str, Any]] = [{} for _ in explained]
    else:
        asked = list(plans)
        found = zip(asked, on_nodes(asked, inventory, view), strict=True)
        answers = [{} if plan.refused else answer for plan, answer in found]  # a rejected pod gets nothing
    for number, ((name, tone, word, line), answer) in enumerate(zip(explained, answers, strict=True)):
        marks = [picks.marks(answer, drawn) for drawn in made.scenes[:1]]
        marks += [{} for _ in made.scenes[1:]]
        made.picks.append(Pick(f"pick-{number}", name, tone, word, line, marks, each_alone=True))
