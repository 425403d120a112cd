"""Articles about pods, and marks for the nodes and devices that pods get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.scheduling import EvictedPod, ExplainedAttempt, ScheduledClaim, ScheduledPod
from dra_plan.page import picks, told
from dra_plan.page.on_nodes import MOST_ASKED, at_attempt
from dra_plan.page.picks import Mark, Pick
from dra_plan.page.scene import Scene, ScenePlace
from dra_plan.scheduler.attempts import FailedAttempt
from dra_plan.text import words
from dra_plan.text.naming import device_name
from dra_plan.text.refusing_nodes import group_lines

HOLDS_NONE = "holds none of the pods"

MOST_NAMED = 8
"""The maximum number of pods named on a node. The others are counted."""


@dataclass(frozen=True, slots=True)
class DrawnPod:
    """A pod (NAMESPACE/NAME) in a picture, with its node and its allocated claims."""

    pod: str
    node: str
    claims: tuple[ResourceClaim, ...] = ()


def of_one(bound: DrawnPod, drawn: Scene, label: str = "bound here") -> dict[int, Mark]:
    """Return the marks for the pod's node and devices."""
    made: dict[int, Mark] = {}
    place = drawn.by_node.get(bound.node)
    if place is not None:
        made[place.number] = Mark(picks.GOOD, label)
    for where, at, request in _devices(bound, drawn):
        made.setdefault(where.number, Mark(picks.GOOD, "used")).gets[at] = f"request {request}"
    return made


def of_all(pods: Iterable[DrawnPod], drawn: Scene) -> dict[int, Mark]:
    """Return the marks for the nodes and devices of all these pods."""
    made: dict[int, Mark] = {}
    held: dict[int, list[str]] = {}
    users: dict[tuple[int, int], list[str]] = {}
    for bound in pods:
        place = drawn.by_node.get(bound.node)
        if place is not None:
            held.setdefault(place.number, []).append(bound.pod)
            made.setdefault(place.number, Mark(picks.GOOD, ""))
        for where, at, _ in _devices(bound, drawn):
            made.setdefault(where.number, Mark(picks.GOOD, "used"))
            users.setdefault((where.number, at), []).append(bound.pod)
    for (number, at), given in users.items():
        names = list(dict.fromkeys(given))
        made[number].gets[at] = f"for {'pod' if len(names) == 1 else 'pods'} {words.listed(names, MOST_NAMED)}"
    for number, named in held.items():
        made[number].label = f"holds {words.counted(len(named), 'pod')}"
        made[number].message = words.listed(named, MOST_NAMED)
    return made


def holding(devices: Mapping[str, str], drawn: Scene, tone: str) -> dict[int, Mark]:
    """Return marks for a claim's devices, given as DRIVER/POOL/DEVICE, each with a text.

    Devices that are not in the picture are left out.
    """
    made: dict[int, Mark] = {}
    for name, said in devices.items():
        for device in drawn.by_device.get(name, ())[:1]:
            mark = made.setdefault(drawn.home[id(device)].number, Mark(tone, "has a device of the claim"))
            mark.harms[device.at] = said
    return made


def of_failed(attempt: FailedAttempt, why: ExplainedAttempt, drawn: Scene, most: int = MOST_ASKED) -> dict[int, Mark]:
    """Return marks that show why each node rejected the pod in its last attempt.

    Devices are marked only on the first `most` nodes.
    """
    tone, label = picks.outcome("Excluded")
    there = ((drawn.by_node.get(node.metadata.name), status) for node, status in attempt.others)
    others = {one.number: Mark(tone, f"{label}: {status.message}") for one, status in there if one is not None}
    said = {name: (one.outcome.value, one.message) for one in why.stories for name in one.nodes}
    return {**others, **picks.marks(at_attempt(attempt, said, most), drawn)}


def reason_line(why: ExplainedAttempt) -> str:
    """Return why most nodes reject the pod, as a short text, or "" if this is not known."""
    leading = why.leading[:1]
    return "".join(f"{words.cell(one)} on {words.counted(one.nodes, 'node')}" for one in leading)


def _devices(bound: DrawnPod, drawn: Scene) -> Iterator[tuple[ScenePlace, int, str]]:
    """Yield a pod's devices, by place and position, with the requests."""
    for claim in bound.claims:
        for result in claim.allocation.devices.results if claim.allocation is not None else ():
            for device in drawn.by_device.get(device_name(result), ())[:1]:
                yield drawn.home[id(device)], device.at, result.request


_TONES = {
    "Bound": picks.GOOD,
    "Waiting": picks.OTHER,
    "Gated": picks.OTHER,
    "Skipped": picks.OTHER,
    "Undecided": picks.OTHER,
    "Unknown": picks.OTHER,
}


PodKey = tuple[str, str]
"""The namespace and name of a pod."""


def pod_pick(pod: ScheduledPod, number: int, evicts: int = 0) -> Pick:
    """Return the entry for a pod in a schedule. A pod that evicts others does not count as good."""
    line = pod.message or pod.waiting or ""
    if pod.node_name:
        line = f"on {pod.node_name}"
    name = f"pod/{pod.namespace}/{pod.name}"
    tone, word = _TONES.get(pod.outcome, picks.BAD), str(pod.outcome)
    runs = bool(pod.node_name and not pod.attempts)
    if runs:
        tone, word = picks.PLAIN, "Runs already"
    if evicts:
        tone = picks.OTHER if tone == picks.GOOD else tone
        word = f"{word}, evicts {words.counted(evicts, 'pod')}"
    return Pick(f"pick-{number}", name, tone, word, line, [], has_devices=runs)


def pod_article(
    pick: Pick,
    pod: ScheduledPod,
    claims: Mapping[PodKey, Sequence[ScheduledClaim]],
    evictions: Sequence[EvictedPod],
    why: ExplainedAttempt | None = None,
) -> told.Article:
    """Return the article about a pod in a schedule. `why` explains why the pod has no node."""
    devices = [
        f"{claim.name}, request {result.request}: {device_name(result)}"
        for claim in claims.get((pod.namespace, pod.name), ())
        if claim.allocation is not None
        for result in claim.allocation.devices.results
    ]
    sentence = f"{pick.word} {pick.line}." if pod.node_name else "Gets no node."
    article = told.Article(pick.key, pick.name, pick.tone, pick.word, sentence)
    if not pod.node_name and pick.line:
        article.summary.append(told.TextLine(words.scheduler_says(pick.line)))
    article.summary += [told.TextLine(f"Claim {one}") for one in devices]
    if pod.best_nodes:
        article.summary.append(told.TextLine(f"Nodes with the highest score: {words.listed(pod.best_nodes, 8)}."))
    if pod.nominated_node_name:
        article.summary.append(told.TextLine(f"Nominated: {pod.nominated_node_name}."))
    gone = [one.pod for one in evictions if one.preemptor == f"{pod.namespace}/{pod.name}"]
    if gone:
        article.summary.append(told.TextLine(f"Has to go for it: {words.listed(gone, 8)}."))
    if why is not None:
        tell_why(article, why)
    return article


def tell_why(article: told.Article, why: ExplainedAttempt) -> None:
    """Add to a pod's article why the pod has no node."""
    article.summary += [told.TextLine(line) for line in group_lines(why.devices_fit)]
    article.summary += [told.TextLine(words.absent(found)) for found in why.absent]
    article.stories = [told.story(story) for story in why.stories]


def claims_of_pods(claims: Iterable[ScheduledClaim]) -> dict[PodKey, list[ScheduledClaim]]:
    """Return the claims that are reserved for each pod."""
    found: dict[PodKey, list[ScheduledClaim]] = {}
    for claim in claims:
        for user in claim.reserved_for:
            found.setdefault((claim.namespace, user.name), []).append(claim)
    return found


def claims_by_pod(claims: list[ResourceClaim]) -> dict[PodKey, dict[str, ResourceClaim]]:
    """Return the allocated claims that are reserved for each pod, by the claim's NAMESPACE/NAME."""
    found: dict[PodKey, dict[str, ResourceClaim]] = {}
    for claim in claims:
        for user in claim.status.reserved_for if claim.status is not None and claim.allocation is not None else ():
            found.setdefault((claim.metadata.namespace, user.name), {})[claim.key] = claim
    return found
