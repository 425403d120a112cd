"""The page of `diff`: the states before and after, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.scheduling import ExplainedAttempt
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.on_nodes import AnswerOnNode, on_nodes
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Mark, Pick
from dra_plan.page.pods import PodKey, holding, of_failed, reason_line, tell_why
from dra_plan.page.scene import Scene
from dra_plan.planner.question import Question
from dra_plan.questions.allocate.answer import plan_claim_sets
from dra_plan.questions.diff import text as diff
from dra_plan.questions.diff.answer import ClusterDiff, State
from dra_plan.questions.diff.document import (
    ChangedClaimSet,
    ChangedPod,
    ComparedPod,
    DiffDocument,
    HeldDevice,
    new_edits,
)
from dra_plan.questions.diff.gate import never_recreated, new_holds
from dra_plan.questions.diff.text import FORMATS
from dra_plan.questions.schedule.answer import schedule_pods
from dra_plan.text import naming, words
from dra_plan.text.naming import claim_set_name, device_name

_TONES = {
    "Lost": picks.BAD,
    "FewerNodes": picks.BAD,
    "Gone": picks.BAD,
    "Gained": picks.GOOD,
    "MoreNodes": picks.GOOD,
    "OtherMessage": picks.PLAIN,
}
"""The colours of changes; other changes are neither good nor bad."""


Answers = Mapping[str, Mapping[str, AnswerOnNode]]
"""What each claim set gets on each node."""


def page(answer: ClusterDiff, _inventory: Inventory | None, _view: View | None) -> Page:
    """Return the page for a result of `diff`, with pictures of both states if both can be drawn."""
    made = begin(answer.document, "diff", FORMATS)
    before, after = answer.before, placed(answer)
    pictures = drawn(before.inventory, before.view, "Before"), drawn(after.inventory, after.view, "After")
    if all(pictures):
        pictures[1][0].says = AFTER
    fill_diff(made, answer, [scene for scenes in pictures for scene in scenes] if all(pictures) else [])
    return made


AFTER = "the cluster after the change, with every pod that differs on its new node"


def placed(answer: ClusterDiff) -> State:
    """Return the second state, with the changed pods on their new nodes.

    Pods that are the same in both states are left out of both pictures.
    """
    pods = answer.document.pods
    to = {device for pod in pods if pod.after is not None for device in pod.after.devices}
    left = to | {device for pod in pods if pod.before is not None for device in pod.before.devices}
    ended = {claim.key: claim for claim in answer.end.claims}
    there = (one for one in answer.after.inventory.claims if one.key in ended or left.isdisjoint(_devices(one)))
    claims = {claim.key: claim for claim in there}
    claims |= {key: claim for key, claim in ended.items() if not to.isdisjoint(_devices(claim))}
    inventory = replace(answer.after.inventory, claims=list(claims.values()))
    return answer.after._replace(inventory=inventory, view=answer.after.view.with_claims(tuple(claims.values())))


def _devices(claim: ResourceClaim) -> list[str]:
    """Return DRIVER/POOL/DEVICE of all that a claim has."""
    allocation = claim.allocation
    return [device_name(each) for each in allocation.devices.results] if allocation is not None else []


def fill_diff(made: Page, answer: ClusterDiff, scenes: list[Scene]) -> None:
    """Fill the page with an entry for each difference. `scenes` are pictures of both states, or empty."""
    document = answer.document
    endless = list(diff.unsettled(document))
    after = structs.replace(document.after, unsettled="")
    document = structs.replace(document, before=structs.replace(document.before, unsettled=""), after=after)
    made.picks_title, made.answers_title, made.scenes = "What differs", "The difference", scenes
    made.headline = "; ".join([_headline(document), *_waiting(document)])
    counts = sum(map(bool, (document.claim_sets, document.pods, document.held_devices)))
    made.target = " ".join(list(diff.ends(document))[counts:])
    answers = [_answers(side) for side in (answer.before, answer.after)] if scenes and document.claim_sets else []
    for one in document.claim_sets:
        marks = [picks.marks(side.get(claim_set_name(one), {}), at) for side, at in zip(answers, scenes, strict=True)]
        _only_what_is_free(marks, scenes)
        if one.change == "Undecided":
            marks = [{} for _ in marks]  # the picture would show the result of a longer search
        alone = structs.replace(document, claim_sets=[one], pods=[], pools=[], held_devices=[], selectors=[])
        _add(made, claim_set_name(one), one, alone, marks)
    _add_pods(made, answer, document, scenes)
    others = (at for at, pick in enumerate(made.picks) if pick.word != diff.change("OtherMessage"))
    if made.opens_on is None and not any(pick.tone == picks.BAD for pick in made.picks):
        made.opens_on = next(others, None)
    made.harm_word = "has it" if document.held_devices else ""
    made.gets_word = "its device" if document.pods else made.gets_word
    for held in _by_claim(document.held_devices):
        said = {f"{one.driver}/{one.pool}/{one.device}": diff.HELD[one.change] for one in held}
        marks = [holding(said, drawn, _TONES[held[0].change]) for drawn in scenes]
        alone = structs.replace(document, claim_sets=[], pods=[], pools=[], selectors=[], held_devices=held)
        _add(made, f"resourceclaim/{held[0].holder.namespace}/{held[0].holder.name}", held[0], alone, marks)
    if endless:
        about = told.Article("endless", "the whole cluster", picks.OTHER, "never settles", "", always=True)
        about.summary = told.lines(endless)
        made.articles.append(about)


def _add_pods(made: Page, answer: ClusterDiff, document: DiffDocument, scenes: list[Scene]) -> None:
    """Add the pods that differ: where they go, for which budget a drain waits, and why some stay pending."""
    waits, refused = dict(_waits(document)), _refused(answer, scenes)
    named = {pick.name for pick in made.picks}
    for pod in document.pods:
        sides = zip((pod.before, pod.after), scenes, strict=False)
        marks = [dict(_of_pod(state, at)) if state is not None else {} for state, at in sides]
        alone = structs.replace(document, claim_sets=[], pods=[pod], pools=[], held_devices=[], selectors=[])
        name = f"pod/{pod.namespace}/{pod.name}"
        _add(made, f"{name} (scheduled)" if name in named else name, pod, alone, marks)
        pick, article = made.picks[-1], made.articles[-1]
        pick.line = _way(pod)
        if (pod.namespace, pod.name) in waits:
            waiting = f"kubectl drain waits for {waits[pod.namespace, pod.name]}"
            pick.line = "; ".join(part for part in (pick.line, waiting) if part)
            article.summary.append(told.TextLine(f"For this pod {waiting}."))
        if pod.change == "Gone" and pick.word == NOT_RECREATED:
            article.summary.append(told.TextLine("No controller recreates this pod."))
        if pod.change == "Lost" and (found := refused.get(_name_after(pod))) is not None:
            why, on_after = found
            tell_why(article, why)
            pick.line = reason_line(why) or pick.line
            marks[1:] = [on_after] if marks else []


def _only_what_is_free(marks: list[dict[int, Mark]], scenes: list[Scene]) -> None:
    """Drop marked devices that are in use, because claim sets are checked before any pod moves; say so instead."""
    for on_scene, picture in zip(marks, scenes, strict=False):
        for number, mark in on_scene.items():
            devices = {device.at: device.state for device in picture.places[number].devices}
            if any(devices[at] == "used" for at in mark.gets):
                mark.gets, mark.message = {}, "as long as no pod that moves takes its devices"


def _by_claim(devices: Iterable[HeldDevice]) -> list[list[HeldDevice]]:
    """Return the gained and lost devices of each claim."""
    found: dict[tuple[str, str, str], list[HeldDevice]] = {}
    for one in devices:
        found.setdefault((one.holder.namespace, one.holder.name, one.change), []).append(one)
    return list(found.values())


def _way(pod: ChangedPod) -> str:
    """Return from where to where the pod goes, in short."""
    before, after = (state.node_name if state is not None else None for state in (pod.before, pod.after))
    if after is None:
        return f"from {before}" if before else ""
    return f"on {after}" if before in (None, after) else f"from {before} to {after}"


def _headline(document: DiffDocument) -> str:
    """Return the headline, worst changes first; it says that nothing is lost only if nothing is gone either."""
    sets, pods = (Counter(one.change for one in each) for each in (document.claim_sets, document.pods))
    held = Counter(each[0].change for each in _by_claim(document.held_devices))
    changes = sets + pods + held
    if not changes:
        return words.capital(f"{_after(document)}no workload and no pod differs")
    ended = sum(_word(pod, document) == NOT_RECREATED for pod in document.pods)
    undecided, fewer, messages = (changes[each] for each in ("Undecided", "FewerNodes", "OtherMessage"))
    said = [
        *_said(pods["Lost"], "pod stays pending", "pods stay pending"),
        *_said(sets["Lost"], "workload no longer fits", "workloads no longer fit"),
        *_said(held["Lost"], "claim loses devices", "claims lose devices"),
        *_said(ended, "pod is not recreated", "pods are not recreated"),
        *_said(pods["Gone"] - ended, "pod is gone", "pods are gone"),
        *_said(sets["Gone"], "workload is gone", "workloads are gone"),
    ]
    worse = changes["Lost"] + changes["Gone"]
    said += [] if worse or undecided else ["nothing is lost"]
    said += [f"{fewer:,} on fewer nodes"] if fewer else []
    said += [f"{undecided:,} undecided"] if undecided else []
    others = changes.total() - worse - fewer - undecided - messages
    said += [words.counted(others, "other change")] if others else []
    said += [f"{words.counted(messages, 'pod')} waiting for another reason"] if messages == changes.total() else []
    return words.capital(f"{_after(document)}{', '.join(said)}")


def _said(number: int, one: str, many: str) -> list[str]:
    return [words.counted(number, one, many)] if number else []


def _after(document: DiffDocument) -> str:
    """Return `After draining NODE: ` if that is the only difference between the states, otherwise ""."""
    edits = new_edits(document.before.what_if, document.after.what_if)
    is_drain = bool(edits) and all(edit.edit == "Drain" for edit in edits)
    return f"after draining {words.listed([edit.node for edit in edits], 4)}: " if is_drain else ""


NOT_RECREATED = "not recreated"


def _word(of: ChangedClaimSet | ChangedPod | HeldDevice, document: DiffDocument) -> str:
    """Return the wording of a change: of pods what becomes of them."""
    if isinstance(of, ChangedPod):
        ended = of.after is not None and of.after.ended is not None
        if of.change == "Gone" and (ended or of in never_recreated(document)):
            return NOT_RECREATED
        if of.change == "Lost":
            return "stays pending"
    return diff.change(of.change)


def _name_after(pod: ChangedPod) -> str:
    """Return NAMESPACE/NAME of the pod after the change, or of the one that replaces it."""
    ended = pod.after.ended if pod.after is not None else None
    made = ended.recreated_as if ended is not None else ""
    return f"{pod.namespace}/{made.rpartition('/')[2] or pod.name}"


def _refused(answer: ClusterDiff, scenes: list[Scene]) -> dict[str, tuple[ExplainedAttempt, dict[int, Mark]]]:
    """Return why pods that stay pending get no node in the end, and their marks on the second picture."""
    if not any(pod.change == "Lost" for pod in answer.pods):
        return {}
    plan = schedule_pods(answer.end, answer.after.view.target, Question(), explain=True)
    failed = {one.pod.key: one for one in plan.outcome.failed_attempts}
    found = {}
    for why in plan.document.explanations or ():
        for key in (f"{pod.namespace}/{pod.name}" for pod in why.pods):
            marks = of_failed(failed[key], why, scenes[1]) if len(scenes) > 1 and key in failed else {}
            found[key] = why, marks
    return found


def _waits(document: DiffDocument) -> Iterator[tuple[PodKey, str]]:
    """Yield the pods for whose budgets draining would wait."""
    for hold in new_holds(document):
        if not hold.allowed:
            yield from (((hold.namespace, pod), naming.held(hold)) for pod in hold.pods)


def _waiting(document: DiffDocument) -> Iterator[str]:
    """Yield the budget for which draining would wait, if it would."""
    holds = [hold for hold in new_holds(document) if not hold.allowed]
    if holds:
        names = list(dict.fromkeys(f"{hold.namespace}/{name}" for hold in holds for name in hold.budgets))
        yield f"kubectl drain would wait for {'budget' if len(names) == 1 else 'budgets'} {words.listed(names)}"


def _add(
    made: Page,
    name: str,
    of: ChangedClaimSet | ChangedPod | HeldDevice,
    alone: DiffDocument,
    marks: list[dict[int, Mark]],
) -> None:
    tone, word, key = _TONES.get(of.change, picks.OTHER), _word(of, alone), f"pick-{len(made.picks)}"
    said = list(diff.ends(alone))
    parts = [part for part in diff.wide(alone, None) if part not in said]
    made.picks.append(Pick(key, name, tone, word, "", marks, each_alone=isinstance(of, ChangedClaimSet)))
    made.articles.append(
        told.Article(
            key,
            name,
            tone,
            word,
            "",
            blocks=told.blocks(told.without(parts, "WORKLOAD", "POD", "CLAIM", "CHANGE")),
        )
    )


def _answers(of: State) -> Answers:
    """Return the answers of one side for each claim set on its nodes."""
    plan = plan_claim_sets(of.inventory, of.view, Question(infer_nodes=True))
    names = [claim_set_name(one) for one in plan.document.claim_sets]
    return dict(zip(names, on_nodes(plan.claim_sets, of.inventory, of.view), strict=True))


def _of_pod(state: ComparedPod, drawn: Scene) -> Iterator[tuple[int, Mark]]:
    """Yield the node of the pod, with its devices."""
    made: dict[int, Mark] = {}
    place = drawn.by_node.get(state.node_name or "")
    if place is not None:
        made[place.number] = Mark(picks.GOOD, "bound here")
    for device in (found for name in state.devices for found in drawn.by_device.get(name, ())[:1]):
        where = drawn.home[id(device)]
        made.setdefault(where.number, Mark(picks.GOOD, "used")).gets[device.at] = ""
    yield from made.items()
