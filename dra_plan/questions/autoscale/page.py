"""The page of `autoscale`: groups that grow, new nodes, the pods, and nodes that could be removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import UNSET, structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Mark, Pick
from dra_plan.page.pods import HOLDS_NONE, DrawnPod, claims_by_pod, of_all, of_one
from dra_plan.page.scene import Scene
from dra_plan.questions.autoscale import text as autoscale
from dra_plan.questions.autoscale.answer import AutoscalePlan, KarpenterPlan
from dra_plan.questions.autoscale.document import FILTERED_OUT, AutoscaleDocument, KnownGroup, ScaleUpDocument
from dra_plan.questions.autoscale.karpenter_text import NO_CLAIM, WHY
from dra_plan.questions.autoscale.text import FORMATS, OTHER_GROUP
from dra_plan.text import words

Bound = Mapping[str, DrawnPod]
"""The pods that kube-scheduler binds once the new nodes exist, by NAMESPACE/NAME."""


def page(answer: AutoscalePlan | KarpenterPlan, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `autoscale`. It has a picture if the cluster can be drawn."""
    document = answer.document
    made = begin(document, "autoscale", FORMATS)
    made.picks_title, made.gets_word, made.opens_on = "What is done, groups and pods", "given", 0
    if isinstance(answer, KarpenterPlan):
        made.scenes = drawn(inventory, view)
        _fill_karpenter(made, document, answer)
        return made
    grown = answer.then.grown
    if inventory is not None and grown is not None:
        made.scenes = drawn(grown, View.of(grown, answer.target), new=answer.then.added.keys())
        made.tiles_when = "With the new nodes, before pods that wait are bound."
    else:
        made.scenes = drawn(inventory, view)
    made.headline = _headline(document)
    bound = _bound(answer)
    _add_plan(made, document, answer, bound)
    for group in document.groups:
        _add_group(made, document, group, answer)
    for pod in _pods(document.scale_up):
        _add_pod(made, document.scale_up, pod, bound)
    if document.utilization or document.scale_down.unremovable or document.scale_down.removable:
        _add_down(made, document)
    return made


def _headline(document: AutoscaleDocument) -> str:
    up = document.scale_up
    grows = [f"group {one.group} grows from {one.from_} to {one.to}" for one in up.plan]
    if up.error:
        return "The loop of the autoscaler did not go on"
    if not grows:
        first = next((part for part in autoscale.table(document, None) if isinstance(part, str)), "No group grows")
        return first.partition(":")[0].rstrip(".")
    left = len(up.not_triggered)
    more = f"; {words.counted(left, 'pod')} {'gets' if left == 1 else 'get'} no node from any group" if left else ""
    return f"{words.capital(words.listed(grows))}{more}"


def _bound(answer: AutoscalePlan) -> dict[str, DrawnPod]:
    result = answer.then.result
    if result is None:
        return {}
    claims = claims_by_pod(result.claims)
    return {
        record.pod.key: DrawnPod(
            record.pod.key,
            record.node or "",
            tuple(claims.get((record.pod.metadata.namespace, record.pod.metadata.name), {}).values()),
        )
        for record in result.pods
        if record.outcome == "Bound" and record.node
    }


def _pods(up: ScaleUpDocument) -> list[str]:
    """Return the pods, those without help first, as everywhere."""
    return [*up.not_triggered, *up.awaiting, *up.triggered, *up.fit_existing]


def _add(made: Page, name: str, tone: str, word: str, line: str, marks: dict[int, Mark]) -> told.Article:
    pick = Pick(f"pick-{len(made.picks)}", name, tone, word, line, [marks] if made.scenes else [])
    made.picks.append(pick)
    made.articles.append(told.Article(pick.key, name, tone, word, f"{words.capital(line or word)}."))
    return made.articles[-1]


def _scene(made: Page) -> Scene:
    return made.scenes[0] if made.scenes else Scene([])


# -- what is done ------------------------------------------------------------------------------------------------------


def _add_plan(made: Page, document: AutoscaleDocument, answer: AutoscalePlan, bound: Bound) -> None:
    """Add the new nodes with their pods."""
    up, scene = document.scale_up, _scene(made)
    new = answer.then.added
    marks = of_all([one for one in bound.values() if one.node in new or one.pod in up.triggered], scene)
    for name, group in new.items():
        place = scene.by_node.get(name)
        if place is not None:
            mark = marks.setdefault(place.number, Mark(picks.OTHER, HOLDS_NONE))
            mark.label = f"new in {group}: {mark.label}"
    left = len(up.not_triggered)
    tone = picks.GOOD if not (up.error or left or up.awaiting) else picks.OTHER if up.plan else picks.BAD
    word = words.counted(len(new), "new node") if up.plan else "no new nodes"
    line = f"{words.counted(len(up.triggered), 'pod')} would be scheduled, {left} would not" if up.plan or left else ""
    article = _add(made, "this loop", tone, word, line, marks)
    sentences = [part for part in autoscale.wide(document, None)[:-1] if isinstance(part, str)]
    article.summary = [told.TextLine(each) for each in sentences]


def _add_group(made: Page, document: AutoscaleDocument, group: KnownGroup, answer: AutoscalePlan) -> None:
    """Add one group: its size, its nodes, the pods it would help."""
    up, scene = document.scale_up, _scene(made)
    marks: dict[int, Mark] = {}
    own = next((each.nodes for each in answer.groups if each.name == group.group), ())
    new = [name for name, of in answer.then.added.items() if of == group.group]
    for names, label in ((own, "of the group"), (new, "new")):
        for place in (scene.by_node[name] for name in names if name in scene.by_node):
            marks[place.number] = Mark(picks.GOOD if label == "new" else picks.OTHER, label)
    grows = next((one for one in up.plan if one.group == group.group), None)
    option = next((one for one in up.options if one.group == group.group), None)
    helps = f"would help {words.counted(len(option.pods), 'pod')}" if option is not None else "helps no pod"
    word = f"grows from {grows.from_} to {grows.to}" if grows is not None else helps
    tone = picks.GOOD if grows is not None else picks.OTHER
    known = [f"{name} {value}" for name, value in (("min", group.min), ("max", group.max)) if value is not None]
    line = ", ".join([f"{words.counted(group.current, 'node')} now", *known])
    article = _add(made, f"group/{group.group}", tone, word, line, marks)
    if option is not None:
        said = f"With {words.counted(option.nodes, 'new node')} it would help {words.listed(option.pods, 8)}."
        article.summary.append(told.TextLine(said))
    reasons: dict[str, list[str]] = {}
    for pod, by_group in up.fits.items():
        if group.group in by_group and by_group[group.group] != "fits":
            reasons.setdefault(by_group[group.group], []).append(pod)
    article.summary += [told.TextLine(f"Not for {words.listed(pods, 8)}: {why}.") for why, pods in reasons.items()]


def _add_pod(made: Page, up: ScaleUpDocument, pod: str, bound: Bound) -> None:
    """Add a pending pod: its result, and the reason of each group."""
    alone = structs.replace(
        up,
        triggered=[each for each in up.triggered if each == pod],
        awaiting=[each for each in up.awaiting if each == pod],
        not_triggered={each: why for each, why in up.not_triggered.items() if each == pod},
        fit_existing={each: node for each, node in up.fit_existing.items() if each == pod},
    )
    tone, word, line = next(_outcome(alone, pod, bound))
    there = bound.get(pod)
    marks = of_one(there, _scene(made)) if there is not None else {}
    article = _add(made, f"pod/{pod}", tone, word, line, marks)
    article.summary = [
        told.TextLine(f"{group}: {said}") for group, said in (up.not_triggered.get(pod) or up.fits.get(pod, {})).items()
    ]


def _outcome(up: ScaleUpDocument, pod: str, bound: Bound) -> Iterator[tuple[str, str, str]]:
    if up.not_triggered:
        yield picks.BAD, "no group helps", words.listed(list(dict.fromkeys(up.not_triggered[pod].values())), 3)
    if up.triggered:
        node = bound[pod].node if pod in bound else ""
        said = f"kube-scheduler then binds it to {node}" if node else "kube-scheduler then does not bind it"
        yield (picks.GOOD if node else picks.BAD), "gets a node", said
    if up.awaiting:
        yield picks.OTHER, "waits for another loop", OTHER_GROUP
    if up.fit_existing:
        where = up.fit_existing[pod]
        left_out = where == FILTERED_OUT
        yield (
            picks.OTHER,
            "left out" if left_out else "needs no new nodes",
            "is left out of this loop" if left_out else f"fits on {where}",
        )


def _add_down(made: Page, document: AutoscaleDocument) -> None:
    """Add the nodes that could be removed, and the reasons for the others."""
    down, scene = document.scale_down, _scene(made)
    marks: dict[int, Mark] = {}
    for name, place in scene.by_node.items():
        used = document.utilization.get(name)
        share = f"{used.utilization:.0%} of {used.resource} used" if used is not None else ""
        if name in down.removable:
            marks[place.number] = Mark(picks.GOOD, "could go", share)
        elif name in down.unremovable:
            marks[place.number] = Mark(picks.OTHER, f"kept: {down.unremovable[name]}", share)
    number = len(down.removable)
    line = words.listed(down.removable, 6) if number else "no node could go"
    article = _add(made, "scale down", picks.OTHER, f"{words.counted(number, 'node')} could go", line, marks)
    article.summary = [told.TextLine(f"{pod} would go to {node}.") for pod, node in down.moves.items()]
    tables = [part for part in autoscale.wide(document, None) if not isinstance(part, str)]
    article.blocks = told.blocks([part for part in tables if getattr(part, "headers", ("",))[0] == "NODE"])


# -- Karpenter ---------------------------------------------------------------------------------------------------------


def _fill_karpenter(made: Page, document: AutoscaleDocument, answer: KarpenterPlan) -> None:
    """Add the NodeClaims with their pods, and the pods without one."""
    found = document.karpenter
    if found is UNSET:
        return
    made.picks_title = "NodeClaims and pods"
    left = len(found.errors)
    made.headline = f"Karpenter creates {words.counted(len(answer.found.claims), 'NodeClaim')}"
    if left:
        made.headline += f"; {words.counted(left, 'pod')} {'gets' if left == 1 else 'get'} no node"
    for number, one in enumerate(found.node_claims, 1):
        types = " or ".join(one.instance_types)
        article = _add(made, f"NodeClaim {number}", picks.GOOD, one.node_pool, words.listed(one.pods, 4), {})
        article.summary = [told.TextLine(f"Instance types that take all its pods: {types}.")]
    for pod, why in found.errors.items():
        _add(made, f"pod/{pod}", picks.BAD, "no node", WHY[why], {})
    for pod, node in found.on_nodes.items():
        place = _scene(made).by_node.get(node)
        marks = {place.number: Mark(picks.GOOD, "fits here")} if place is not None else {}
        _add(made, f"pod/{pod}", picks.OTHER, "needs no new nodes", f"fits on {node}", marks)
    for pod in found.ignored:
        _add(made, f"pod/{pod}", picks.OTHER, "not seen", NO_CLAIM, {})
    for pod, why_not in found.unknown.items():
        _add(made, f"pod/{pod}", picks.OTHER, "not known", why_not, {})
    made.opens_on = 0 if made.picks else None
