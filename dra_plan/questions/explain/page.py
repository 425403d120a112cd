"""The page of `explain`: claim sets, devices, owners, groups, and pods that would have to leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.page import moves, picks, pods, told
from dra_plan.page.claim_sets import brief, headline, pick_sets
from dra_plan.page.content import Page
from dra_plan.page.moves import DrawnMove
from dra_plan.page.pages import drawn, of_text
from dra_plan.page.picks import Beginning, Mark, Moments, Pick
from dra_plan.page.pods import DrawnPod
from dra_plan.page.scene import Scene
from dra_plan.questions.explain import articles
from dra_plan.questions.explain.answer import Explanation
from dra_plan.questions.explain.autoscaler import autoscaler_lines
from dra_plan.questions.explain.document import ExplanationDocument, MoveStep, RoomForPod
from dra_plan.questions.explain.lines import group_lines, room_lines, unplanned_lines
from dra_plan.questions.explain.owners import Telling
from dra_plan.questions.explain.text import parse
from dra_plan.text import words
from dra_plan.text.devices import device_lines
from dra_plan.text.naming import claim_set_name, named
from dra_plan.text.node_obstacles import in_short, of_node
from dra_plan.text.verdicts import UNTOLD


def page(answer: Explanation, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `explain`. It has a picture if the cluster can be drawn."""
    made = of_text(answer.document, "explain")
    made.scenes = drawn(inventory, view)
    if answer.document.moves and made.scenes:
        made.scenes = [replace(made.scenes[0], title=title) for title in SCENES]
        made.moments_in = 1
    fill_explanation(made, answer, inventory, view)
    return made


def fill_explanation(made: Page, answer: Explanation, inventory: Inventory | None, view: View | None) -> None:
    """Fill the page with the claim sets and their explanations, followed by devices, owners and groups."""
    document = answer.document
    names = [claim_set_name(one) for one in document.claim_sets]
    verdicts = articles.by_owner(document)
    made.headline = (
        articles.title(list(verdicts.values())) if verdicts else headline(document.claim_sets, _nodes(answer))
    )
    whole = parse("text", Telling(verbose=True, details=True))(document, None)
    made.blocks = told.blocks(whole.rstrip("\n").split("\n"))
    made.articles = [
        told.explained(one, f"pick-{number}", name)
        for number, (one, name) in enumerate(zip(document.claim_sets, names, strict=True))
    ]
    explained = []
    for one, each in zip(made.articles, document.claim_sets, strict=True):
        line, verdict = brief(one, each), articles.of_set(verdicts, each)
        if verdict is not None:
            articles.judge(one, verdict, each)
            line = one.sentence.removesuffix(".")
        explained.append((one.name, one.tone, one.word, line))
    pick_sets(made, answer.plan.claim_sets, explained, inventory, view)
    for pick, each in zip(made.picks, document.claim_sets, strict=True):
        verdict = articles.of_set(verdicts, each)
        if verdict is not None and made.scenes:
            _tell_nodes(pick.marks[0], verdict, made.scenes[0])
    _fill_others(made, document, verdicts)
    for number, story in enumerate(document.devices):
        made.articles.append(_plain_article(f"device-{number}", str(story.device), "device", device_lines(story)))
    for number, group in enumerate(document.pod_groups or ()):
        name = f"podgroup/{group.namespace}/{group.name}"
        made.articles.append(_plain_article(f"group-{number}", name, group.state, group_lines(group)))
    said = list(autoscaler_lines(document))
    if said:
        about = told.Article("autoscaler", "the pods that wait", picks.OTHER, "Cluster Autoscaler", "", always=True)
        about.summary = told.lines(said)
        made.articles.append(about)
    if document.moves:
        fill_moves(made, document.moves, view)


def _tell_nodes(marks: dict[int, Mark], verdict: OwnerVerdict, drawn: Scene) -> None:
    """Give the marks of nodes that reject a pod all reasons of its verdict; devices are only one of them."""
    for group in verdict.nodes:
        devices = any(one.kind == "Devices" for one in group.about)
        for place in (drawn.by_node.get(name) for name in group.nodes):
            mark = marks.get(place.number) if place is not None else None
            if place is None or mark is None or (devices and mark.tone == picks.GOOD):
                continue
            mark.detail = of_node(group, place.node.labels if place.node is not None else {})
            if devices:
                mark.message = in_short(group)
                if mark.gets:
                    mark.tone, mark.label = picks.outcome("Excluded")
                    mark.gets = {}
            elif mark.gets:
                mark.tone, mark.label = picks.ONLY_DEVICES
            else:
                mark.tone, mark.label = picks.outcome("Excluded")
                mark.message = in_short(group)


def _nodes(answer: Explanation) -> int:
    return max((len(plan.nodes) for plan in answer.plan.claim_sets), default=0)


def _fill_others(made: Page, document: ExplanationDocument, verdicts: articles.Verdicts) -> None:
    """Add owners without claims to plan."""
    told_of = [articles.of_set(verdicts, each) for each in document.claim_sets]
    rest = {key: verdict for key, verdict in verdicts.items() if verdict not in told_of}
    for number, owner in enumerate(document.unplanned or ()):
        name = named(owner.owner)
        verdict = rest.pop((owner.owner.kind, owner.owner.namespace, owner.owner.name), None)
        if verdict is None or verdict.verdict in UNTOLD:
            made.articles.append(_plain_article(f"owner-{number}", name, owner.state, unplanned_lines(owner)))
        else:
            made.articles.append(articles.article(f"owner-{number}", verdict, owner))
    for number, verdict in enumerate(rest.values()):
        made.articles.append(articles.article(f"verdict-{number}", verdict, None))


def _plain_article(key: str, name: str, word: str, said: Iterable[str]) -> told.Article:
    first, *rest = said
    return told.Article(key, name, "other", word, words.capital(first.removeprefix(f"{name}: ")), told.lines(rest))


SCENES = ("Now", "After the moves")


_TONES = {"Fits": picks.GOOD, "Moves": picks.GOOD, "Preemption": picks.OTHER, "Undecided": picks.OTHER}


_WORDS = {
    "Fits": "no pod has to move",
    "Moves": "moves make room",
    "Preemption": "pods have to go",
    "Impossible": "no room",
    "Undecided": "undecided",
}


def fill_moves(made: Page, rooms: list[RoomForPod], view: View | None) -> None:
    """Add an entry for each pending pod to the page. If there are pictures, they are those in `SCENES`."""
    made.harm_word = "has to move"
    made.opens_on = len(made.picks) if rooms else None
    if len(rooms) == 1:
        made.headline = f"{made.headline}; {_WORDS[rooms[0].outcome]}"
    drawn = made.scenes if len(made.scenes) == len(SCENES) and view is not None else []
    for room in rooms:
        sentence, *rest = told.lines(room_lines(room))
        name = f"Room for {room.pods[0].namespace}/{room.pods[0].name}"
        tone, word = _TONES.get(room.outcome, picks.BAD), _WORDS[room.outcome]
        pick = Pick(f"pick-{len(made.picks)}", name, tone, word, _short(room), [{} for _ in made.scenes])
        if drawn and view is not None:
            _draw(made, pick, room, Beginning(drawn[1], view), Beginning(drawn[0], view))
        made.picks.append(pick)
        made.articles.append(told.Article(pick.key, name, tone, word, sentence.text, rest))


def _short(room: RoomForPod) -> str:
    return words.listed([f"{step.namespace}/{step.name}" for step in room.steps if step.action != "Start"], 4)


def _draw(made: Page, pick: Pick, room: RoomForPod, after: Beginning, now: Beginning) -> None:
    """Draw before: the pods that leave; and after: the devices in that state, and the started pods."""
    leaving = list(_leaving(room))
    pick.marks = [moves.of_moves(leaving, now.scene, Moments(now)), pods.of_all(_starting(room), after.scene)]
    pick.ways = moves.ways(leaving)
    changed: dict[str, ResourceClaim | None] = {}
    for step in room.steps:
        if step.from_node:
            changed.update(dict.fromkeys(after.held_by(step.namespace, step.name)))
        changed.update({claim.key: claim for claim in _claims(step)})
    pick.moment = len(made.moments)
    made.moments.append(Moments(after).change(changed))


def _leaving(room: RoomForPod) -> Iterator[DrawnMove]:
    goes = {f"{step.namespace}/{step.name}": step.node for step in room.steps if step.action == "Place"}
    for step in room.steps:
        name = f"{step.namespace}/{step.name}"
        if step.from_node:
            yield DrawnMove(name, step.from_node, goes.get(name, step.node or ""), lost=("finds no other node"))


def _starting(room: RoomForPod) -> Iterator[DrawnPod]:
    for step in room.steps:
        if step.node:
            yield DrawnPod(f"{step.namespace}/{step.name}", step.node, tuple(_claims(step)))


def _claims(step: MoveStep) -> Iterator[ResourceClaim]:
    """Yield the claims that a pod gets, in their final state."""
    users = [ResourceClaimConsumerReference(resource="pods", name=step.name)]
    for claim in step.claims:
        allocation = AllocationResult(devices=claim.allocation.devices, node_selector=claim.allocation.node_selector)
        yield ResourceClaim(
            metadata=ObjectMeta(name=claim.name, namespace=claim.namespace),
            status=ResourceClaimStatus(allocation=allocation, reserved_for=users),
        )
