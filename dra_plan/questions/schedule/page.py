"""The page of `schedule`: the pods in order, each with its devices or the reasons for its last failed attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.scheduling import ExplainedAttempt, ScheduledPod
from dra_plan.page import picks, pods, told
from dra_plan.page.content import MOST_ARTICLES, Page
from dra_plan.page.on_nodes import MOST_ASKED
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Beginning, Mark, Moments, Pick
from dra_plan.page.pods import DrawnPod, PodKey, claims_by_pod, claims_of_pods, pod_article, pod_pick
from dra_plan.page.scene import Scene
from dra_plan.questions.schedule.answer import SchedulePlan
from dra_plan.questions.schedule.text import FORMATS
from dra_plan.scheduler.attempts import FailedAttempt
from dra_plan.text import words


def page(answer: SchedulePlan, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `schedule`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "schedule", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_schedule(made, answer, view)
    return made


def fill_schedule(made: Page, answer: SchedulePlan, view: View | None) -> None:
    """Fill the page with the pods, in order, each with its devices or the reasons why it has none."""
    document = answer.document
    made.gets_word, made.picks_title = "gets", "Pods, in the scheduler's order"
    told_pods = [pod for pod in document.pods if _is_scheduled(pod)]
    waiting = [pod for pod in told_pods if pod.outcome != "Bound"]
    by_taint = {f"pod/{one.namespace}/{one.name}": one.by for one in document.taint_evictions or ()}
    made.headline = _headline(told_pods, waiting, len(document.evictions), len(by_taint))
    if made.scenes and document.pods:
        made.slider, made.before, made.steps = "Pods, one after the other", "before all pods", len(told_pods)
        made.tiles_when = "Before the first pod is tried."
    evicted = _evicted(answer)
    why = {(pod.namespace, pod.name): each for each in document.explanations or () for pod in each.pods}
    told_before: dict[bytes, str] = {}
    claims_of = claims_of_pods(document.claims)
    for number, pod in enumerate(_in_order(document.pods)):
        pick = pod_pick(pod, number, len(evicted.get(f"{pod.namespace}/{pod.name}", ())))
        pick.step = None if _is_scheduled(pod) else len(told_pods)
        made.picks.append(pick)
        explained = why.get((pod.namespace, pod.name))
        alike = _told_before(explained, pod, pick, told_before) if len(document.pods) > MOST_ARTICLES else ""
        article = pod_article(pick, pod, claims_of, document.evictions, None if alike else explained)
        article.summary += [told.TextLine(alike)] if alike else []
        if explained is not None:
            pick.line = pods.reason_line(explained) or pick.line
        if pick.name in by_taint:
            article.tone = pick.tone = picks.OTHER
            article.word = pick.word = f"{pick.word}, then evicted"
            article.summary.insert(0, told.TextLine(f"Then a {by_taint[pick.name]} evicts it."))
        made.articles.append(article)
    if made.scenes and view is not None:
        _draw(made, answer, view, why)


def _is_scheduled(pod: ScheduledPod) -> bool:
    """Return whether the pod is not one that ran before."""
    return bool(pod.attempts) or pod.outcome not in ("Bound", "Skipped")


def _in_order(all_pods: Sequence[ScheduledPod]) -> list[ScheduledPod]:
    """Return the pods in the scheduler's order, then those that ran before."""
    return sorted(all_pods, key=lambda pod: not _is_scheduled(pod))


def _told_before(of: ExplainedAttempt | None, pod: ScheduledPod, pick: Pick, before: dict[bytes, str]) -> str:
    """Return the article with equal content except for the name of the pod; "" if there is none."""
    if of is None:
        return ""
    said = msgspec.json.encode((of.absent, of.stories, of.devices_fit)).replace(pod.name.encode(), b"*")
    first = before.setdefault(said, pick.name)
    return "" if first == pick.name else f"Why not, node by node: the same as of {first}."


def _headline(pods: list[ScheduledPod], waiting: list[ScheduledPod], evicted: int, by_taint: int) -> str:
    """Return the pods that get a node, those that do not, and the pods that are evicted for others or by taints."""
    if len(pods) == 1:
        [pod] = pods
        said = f"pod/{pod.namespace}/{pod.name} gets {f'node {pod.node_name}' if pod.node_name else 'no node'}"
    elif waiting:
        said = f"{len(waiting):,} of {words.counted(len(pods), 'pod')} get{'s' if len(waiting) == 1 else ''} no node"
    else:
        said = f"All {len(pods):,} pods are scheduled" if pods else "No pod is pending"
    said += f"; {words.counted(evicted, 'running pod')} would be evicted" if evicted else ""
    return f"{said}; taints evict {words.counted(by_taint, 'pod')}" if by_taint else said


# -- on the picture ------------------------------------------------------------------------------------------------


def _draw(made: Page, answer: SchedulePlan, view: View, why: Mapping[PodKey, ExplainedAttempt]) -> None:
    """Mark the devices of each pod, and the rejections with reasons; later allocations, and those at its attempt."""
    drawn = made.scenes[0]
    beginning = Beginning(drawn, view)
    going_on = Moments(beginning)
    claims = claims_by_pod(answer.outcome.claims)
    in_the_end = {claim.key: claim for claim in answer.outcome.claims}
    evicted = _evicted(answer)
    for pick, pod in zip(made.picks, _in_order(answer.document.pods), strict=True):
        name = f"{pod.namespace}/{pod.name}"
        own = claims.get((pod.namespace, pod.name), {})
        pick.marks = [_marks(pod, own, drawn)]
        if pod.attempts:
            gone = evicted.get(name, [])
            theirs = {key: in_the_end.get(key) for victim in gone for key in beginning.held_by(*victim)}
            pick.change = going_on.change({**theirs, **own}, gone)
    failed = {(one.pod.metadata.namespace, one.pod.metadata.name): one for one in answer.outcome.failed_attempts}
    _draw_failed(made, beginning, failed, why)


def _evicted(answer: SchedulePlan) -> dict[str, list[PodKey]]:
    """Return the pods that are evicted for each pod."""
    found: dict[str, list[PodKey]] = {}
    for each in answer.document.evictions:
        namespace, _, name = each.pod.partition("/")
        found.setdefault(each.preemptor, []).append((namespace, name))
    return found


def _marks(pod: ScheduledPod, claims: Mapping[str, ResourceClaim], drawn: Scene) -> dict[int, Mark]:
    bound = DrawnPod(f"{pod.namespace}/{pod.name}", pod.node_name or "", tuple(claims.values()))
    made = pods.of_one(bound, drawn, "bound here" if pod.attempts else "runs here")
    for name, message in pod.errors.items():
        if name in drawn.by_node:
            made[drawn.by_node[name].number] = Mark(picks.BAD, "error", message)
    return made


def _draw_failed(
    made: Page, beginning: Beginning, failed: Mapping[PodKey, FailedAttempt], why: Mapping[PodKey, ExplainedAttempt]
) -> None:
    """Draw each pod that was rejected devices: the picture at its last attempt, with the reasons on the devices."""
    left = MOST_ASKED
    marks: dict[int, dict[int, Mark]] = {}
    moments: dict[frozenset[int], int] = {}
    by_name = {pick.name: pick for pick in made.picks}
    for key, explained in why.items():
        attempt = failed.get(key)
        if attempt is None:
            continue
        pick = by_name[f"pod/{'/'.join(key)}"]
        if id(explained) not in marks:
            marks[id(explained)] = pods.of_failed(attempt, explained, beginning.scene, left)
            left = max(0, left - sum(len(one.nodes) for one in explained.stories))
        pick.marks = [{**pick.marks[0], **marks[id(explained)]} if pick.marks[0] else marks[id(explained)]]
        seen = frozenset(id(claim.allocation) for claim in attempt.all_claims if claim.allocation is not None)
        if seen not in moments:
            moments[seen] = len(made.moments)
            made.moments.append(Moments(beginning).change(beginning.differing(attempt.all_claims)))
        pick.moment = moments[seen]
