"""The page of `impact`: the cluster before and after the change, and the pods that end, move or start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import UNSET, structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import moves, picks, told
from dra_plan.page.claim_sets import compared
from dra_plan.page.content import Page
from dra_plan.page.moves import DrawnMove
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Beginning, Mark, Moments, Pick
from dra_plan.page.pods import holding
from dra_plan.questions.impact import text as impact
from dra_plan.questions.impact.answer import Impact
from dra_plan.questions.impact.document import AffectedPod, ImpactDocument, PodEffect
from dra_plan.questions.impact.gate import LOSSES
from dra_plan.questions.impact.text import EFFECTS, FORMATS
from dra_plan.text import words
from dra_plan.text.naming import claim_set_name
from dra_plan.text.words import CHANGES

_GOOD: tuple[PodEffect, ...] = ("Starts",)


def page(answer: Impact, inventory: Inventory | None, _view: View | None) -> Page:
    """Return the page for a result of `impact`. It has a picture if the cluster can be drawn."""
    document = answer.document
    made = begin(document, "impact", FORMATS)
    made.headline = "; ".join(said for said in (impact.headline(document), impact.lost_selectors(document)) if said)
    made.picks_title, made.answers_title = "What changes", "The change"
    made.gets_word, made.harm_word = "its device", "loses it"
    before, after = answer.difference.before, answer.difference.after
    if inventory is not None:
        settled = replace(after.inventory, claims=list(answer.difference.end.claims))
        pictures = (
            drawn(before.inventory, before.view, "Before"),
            drawn(settled, after.view.with_claims(tuple(settled.claims)), "After"),
        )
        made.scenes = [scene for scenes in pictures for scene in scenes] if all(pictures) else []
    now = Moments(Beginning(made.scenes[0], before.view)) if made.scenes else None
    of_all: dict[str, Sequence[object]] = {"taints": document.taints, "broken_pools": document.broken_pools}
    if len(document.pods) > 1:
        _add_all(made, document, now)
        of_all = {}
    for pods in _together(document.pods):
        first = pods[0]
        name = impact.row_name(pods) if impact.is_placeholder(first) else f"pod/{first.namespace}/{first.name}"
        _add(made, name, _tone(first), EFFECTS[first.effect], _of(document, pods=pods, **of_all))
        _draw(made, pods, now)
    for one in document.claim_sets:
        tone = picks.BAD if one.change == "Lost" else picks.OTHER
        _add(made, claim_set_name(one), tone, CHANGES.get(one.change, one.change), _of(document, claim_sets=[one]))
        sides, nodes = zip((one.before, one.after), made.scenes, strict=False), [node.name for node in one.nodes]
        made.picks[-1].marks = [compared(side.fitting_nodes if side else (), nodes, at) for side, at in sides]
    for held in document.held_devices:
        tone = picks.BAD if held.change == "Lost" else picks.GOOD
        holder = f"resourceclaim/{held.holder.namespace}/{held.holder.name}"
        _add(made, holder, tone, CHANGES.get(held.change, held.change), _of(document, held_devices=[held]))
        device = f"{held.driver}/{held.pool}/{held.device}"
        made.picks[-1].marks = [holding({device: "its claim has it"}, at, tone) for at in made.scenes]
    for selector in document.selectors:
        tone = picks.BAD if selector.lost else picks.OTHER
        _add(
            made,
            selector.expression,
            tone,
            f"{selector.before} to {selector.after} devices",
            _of(document, selectors=[selector]),
        )
    for quota in document.quotas:
        name = f"resourcequota/{quota.namespace}/{quota.name}"
        tone = picks.BAD if quota.refuses else picks.OTHER
        _add(made, name, tone, f"{quota.resource}: {quota.used} of {quota.hard}", _of(document, quotas=[quota]))
    return made


def _together(pods: Sequence[AffectedPod]) -> Iterable[list[AffectedPod]]:
    """Return the pods one by one; those of one owner that have no name yet together, by effect."""
    found: dict[tuple[str, ...], list[AffectedPod]] = {}
    for pod in pods:
        own = (pod.owner, pod.effect) if impact.is_placeholder(pod) else (pod.name,)
        found.setdefault((pod.namespace, *own), []).append(pod)
    return found.values()


def _tone(pod: AffectedPod) -> str:
    return picks.BAD if pod.effect in LOSSES else picks.GOOD if pod.effect in _GOOD else picks.OTHER


def _of(document: ImpactDocument, **only: Sequence[object]) -> ImpactDocument:
    """Return the document with only this part."""
    lists = ("pods", "later_pods", "claim_sets", "selectors", "held_devices", "pools", "quotas", "applied")
    nothing: dict[str, Any] = dict.fromkeys((*lists, "taints", "broken_pools"), ())
    return structs.replace(document, **{**nothing, "refusals": UNSET, "unsettled": "", **only})


def _add(made: Page, name: str, tone: str, word: str, alone: ImpactDocument) -> None:
    pick = Pick(f"pick-{len(made.picks)}", name, tone, word, "", [{} for _ in made.scenes])
    made.picks.append(pick)
    parts = impact.wide(alone, None)
    tables = [part for part in parts if not isinstance(part, str)]
    blocks = told.blocks(told.without(tables, "POD", "EFFECT", "WORKLOAD", "CHANGE", "SELECTOR", "QUOTA"))
    sentences = [] if tables else [part for part in parts[1:-1] if isinstance(part, str)]
    article = told.Article(pick.key, name, tone, word, "", [told.TextLine(each) for each in sentences], blocks=blocks)
    made.articles.append(article)


def _add_all(made: Page, document: ImpactDocument, now: Moments | None) -> None:
    """Add all pods at once."""
    tones = {_tone(pod) for pod in document.pods}
    tone = next(tone for tone in (picks.BAD, picks.OTHER, picks.GOOD) if tone in tones)
    word = words.counted(len(document.pods), "pod")
    pick = Pick(f"pick-{len(made.picks)}", "All pods", tone, word, "", [{} for _ in made.scenes])
    made.picks.append(pick)
    made.opens_on = len(made.picks) - 1
    sentences = [part for part in impact.table(document, None) if isinstance(part, str)]
    article = told.Article(pick.key, pick.name, tone, word, sentences[0])
    article.summary = [told.TextLine(each) for each in sentences[1:-1]]
    made.articles.append(article)
    _draw(made, document.pods, now)


def _draw(made: Page, pods: Sequence[AffectedPod], now: Moments | None) -> None:
    """Draw before: the pods that end, and those that would have started; and after: the final nodes of pods."""
    if now is None:
        return
    going = [_move(pod) for pod in pods]
    no_more = [
        DrawnMove(name, "", pod.before.node_name, pod.before.devices)
        for pod, name in ((pod, f"{pod.namespace}/{pod.name}") for pod in pods)
        if pod.before is not None and pod.before.node_name and not pod.before.running
    ]
    ends = [replace(one, devices=()) for one in going if one.from_node]
    before: dict[int, Mark] = moves.of_moves([*ends, *no_more], made.scenes[0], now)
    made.picks[-1].marks = [before, moves.of_moves([one for one in going if one.to_node], made.scenes[1], None)]
    made.picks[-1].ways = moves.ways(going)


def _move(pod: AffectedPod) -> DrawnMove:
    was = pod.before.node_name if pod.before is not None and pod.before.running else None
    now = pod.after
    lost = {"lost": EFFECTS[pod.effect].lower()} if pod.effect in LOSSES else {}
    node, devices = (now.node_name or "", now.devices) if now is not None else ("", [])
    name = impact.row_name([pod]) if impact.is_placeholder(pod) else f"{pod.namespace}/{pod.name}"
    return DrawnMove(name, was or "", node, devices, **lost)
